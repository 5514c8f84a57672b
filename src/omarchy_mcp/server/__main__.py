"""The MCP server as a program; it is started with a listening socket, by omarchy-mcp.socket or by hand:

systemd-socket-activate -l 127.0.0.1:8765 omarchy-mcpd serve
"""

import asyncio
import logging
import sys

from omarchy_mcp.session import log
from omarchy_mcp.session.notify import take_passed

USAGE = 2


def main(_arguments: list[str]) -> int:
    """Run the server."""
    log.install()
    passed = take_passed()
    if not passed.sockets:
        logging.getLogger(__name__).error(
            "no listening socket was passed: start omarchy-mcp.socket, "
            "or run systemd-socket-activate -l 127.0.0.1:8765 omarchy-mcpd serve"
        )
        return USAGE
    from omarchy_mcp.server.life import Life  # noqa: PLC0415 - half a second of imports, not needed to say the above

    return asyncio.run(Life(passed).run())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
