"""A bare 19-tool server of the MCP SDK: what the product is compared with.  No door, no policy, no audit."""

import logging

from mcp.server.mcpserver import MCPServer

from bench.inherited import serve

TOOLS = 19


def build() -> MCPServer:
    """A server whose first tool echoes; the others are there to be listed."""
    server = MCPServer("bare")

    async def echo(text: str) -> str:
        """Say it again."""
        return text

    server.add_tool(echo, name="echo")
    for number in range(1, TOOLS):

        async def other(route: str, args: list[str], timeout_ms: int = 0, *, detach: bool = False) -> str:
            """Stand for one of the product's tools: as many arguments, as much to say about them."""
            return f"{route} {args} {timeout_ms} {detach}"

        server.add_tool(other, name=f"other_{number}", title=f"Other {number}")
    return server


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    serve(build().streamable_http_app())
