"""`client-config`: what to write where, so that a client finds this server and its token.

Pure, but for asking which port is held.  The token is in none of it: a client reads it from a file, runs a helper
that does, or takes it from its environment, whichever of these it can.
"""

import asyncio
import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.cli import control
from omarchy_mcp.cli.clients import default_token
from omarchy_mcp.cli.exits import CtlError, Exit
from omarchy_mcp.cli.options import PROGRAM, Json, Request
from omarchy_mcp.cli.render import number
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.session.bus import plain
from omarchy_mcp.session.clientfile import DEFAULT

HELPER = Path(__file__).parents[3] / "bin" / "omarchy-mcp-headers"
SERVER = "omarchy"
"""What the server is called in a client."""

USUAL_PORT = 8765
VARIABLE = "OMARCHY_MCP_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """What to write into `file`, or to type when that is empty; `first` is typed before the client is started."""

    file: str
    text: str
    first: str = ""


def run(request: Request, output: Output) -> int:
    """Show the snippet for a client.

    Raises:
        CtlError: its token is not in any file that could be named.
    """
    port = held_port(output)
    snippet = make(request.program, f"http://127.0.0.1:{port}/mcp", token_of(request), default=not request.token_file)
    if output.json is not Json.OFF:
        found = {"client": request.program, "name": request.client, "file": snippet.file, "snippet": snippet.text}
        output.data({**found, "first": snippet.first})
        return Exit.DONE
    output.remark(f"in {snippet.file}:" if snippet.file else "type this:")
    output.lines([snippet.text])
    if snippet.first:
        output.remark("and before it is started, in its shell:")
        output.lines([snippet.first])
    return Exit.DONE


def token_of(request: Request) -> Path:
    """The file a client's token is in.

    Raises:
        CtlError: it is in none that is known here.
    """
    if request.token_file:
        return Path(request.token_file).absolute()
    if request.client == DEFAULT:
        return default_token()
    text = f"cannot say where the token of {request.client!r} is: only its digest is kept"
    more = (f"--token-file=FILE names the file it is in, as in '{PROGRAM} client add {request.client}'",)
    raise CtlError(text, Exit.USAGE, more=more)


def held_port(output: Output) -> int:
    """The port the server has; the usual one when nobody can be asked."""
    try:
        return asyncio.run(ask_port())
    except CtlError as error:
        output.remark(f"{error.text}; taking the usual port")
        return USUAL_PORT


async def ask_port() -> int:
    """The port, as the control service has it.

    Raises:
        CtlError: it does not say.
    """
    async with control.connected() as bus:
        return number(plain((await control.ask(bus, "Status")).body[0]), "port") or USUAL_PORT


def make(program: str, url: str, token: Path, *, default: bool) -> Snippet:
    """What one client needs; `default` is whether the helper finds the token without being told where."""
    helper = str(HELPER) if default else f"{shlex.quote(str(HELPER))} {shlex.quote(str(token))}"
    exported = f'export {VARIABLE}="$(cat -- {shlex.quote(str(token))})"'
    match program:
        case "claude":
            entry = {"type": "http", "url": url, "headersHelper": helper}
            return Snippet(file="", text=f"claude mcp add-json -s user {SERVER} {shlex.quote(json.dumps(entry))}")
        case "codex":
            head = f"[mcp_servers.{SERVER}]\nurl = {json.dumps(url)}\n"
            return Snippet(file="~/.codex/config.toml", text=f"{head}http_headers_helper = {json.dumps(helper)}")
        case "gemini":
            held = {"httpUrl": url, "headers": {"Authorization": f"Bearer ${{{VARIABLE}}}"}}
            text = json.dumps({"mcpServers": {SERVER: held}}, indent=2)
            return Snippet(file="~/.gemini/settings.json", text=text, first=exported)
        case _:
            headers = {"Authorization": f"Bearer {{file:{token}}}"}
            remote = {"type": "remote", "url": url, "oauth": False, "headers": headers}
            text = json.dumps({"mcp": {SERVER: remote}}, indent=2)
            return Snippet(file="~/.config/opencode/opencode.json", text=text)
