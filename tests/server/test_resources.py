"""A resource that tells what a tool tells: the same, and no more than that."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.types import CallToolResult

from omarchy_mcp.server import answers
from omarchy_mcp.server.gate import Gate
from omarchy_mcp.server.reading import Reading
from omarchy_mcp.server.recording import Recorder
from omarchy_mcp.server.resources import STATE, STATE_TOOL, STATUS, STATUS_TOOL, Resources
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.pause import Pause

TOLD = {"monitors": [{"name": "DP-1"}], "windows": 2}


async def tells() -> CallToolResult:
    return answers.result(TOLD, "two windows", error=False)


async def cannot_tell() -> CallToolResult:
    return answers.result({"outcome": "error", "reason": "there is no desktop session"}, "no", error=True)


@pytest.fixture(name="server")
def server_fixture(tmp_path: Path) -> MCPServer:
    """A server with both tools, of which one cannot tell; what is offered is decided by the test."""
    server = MCPServer("tests", log_level="ERROR")
    server.add_tool(tells, name=STATE_TOOL)
    server.add_tool(cannot_tell, name=STATUS_TOOL)
    return server


def read(server: MCPServer, tmp_path: Path, uri: str, *, offered: frozenset[str], declared: frozenset[str]) -> Any:
    audit = Writer()
    settings = Settings(tmp_path / "config.toml", audit)
    gate = Gate(None, settings, "there is no desktop")
    Resources(server=server, gate=gate, settings=settings, offered=lambda: offered).register(declared)
    audit.close()
    found: Any = asyncio.run(server.read_resource(uri))
    (content,) = found
    return json.loads(content.content)


BOTH = frozenset({STATE_TOOL, STATUS_TOOL})


def test_what_the_tool_tells_is_read(server: MCPServer, tmp_path: Path) -> None:
    assert read(server, tmp_path, STATE, offered=BOTH, declared=BOTH) == TOLD


@pytest.mark.parametrize(
    ("uri", "offered", "declared", "said"),
    [
        (STATUS, BOTH, BOTH, "there is no desktop session"),
        (STATE, BOTH - {STATE_TOOL}, BOTH, "disabled omarchy_desktop_state"),
        (STATE, BOTH, BOTH - {STATE_TOOL}, "Unknown resource"),
        ("omarchy://commands", BOTH, BOTH, "disabled omarchy_search_commands"),
        ("omarchy://commands", BOTH | {"omarchy_search_commands"}, BOTH, "there is no desktop"),
        ("omarchy://shell/targets", BOTH, BOTH, "disabled omarchy_shell_targets"),
    ],
)
def test_what_it_does_not_tell_cannot_be_read(
    server: MCPServer, tmp_path: Path, uri: str, offered: frozenset[str], declared: frozenset[str], said: str
) -> None:
    with pytest.raises(ResourceError, match=said):
        read(server, tmp_path, uri, offered=offered, declared=declared)


async def tells_slowly(ctx: Context) -> CallToolResult:
    await ctx.report_progress(10, 50, "the person at the desk is being asked")
    return await tells()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_tool_that_takes_its_time_can_say_so_to_who_reads(tmp_path: Path, mode: str) -> None:
    audit = Writer()
    settings = Settings(tmp_path / "config.toml", audit)
    reading = Reading(Recorder(audit, None), Pause(tmp_path), lambda _: "tests")
    server = MCPServer("tests", log_level="ERROR", middleware=[reading])
    server.add_tool(tells_slowly, name=STATE_TOOL)
    gate = Gate(None, settings, "there is no desktop")
    Resources(server=server, gate=gate, settings=settings, offered=lambda: BOTH).register(BOTH)

    async def scenario() -> str:
        async with Client(server, mode=mode) as client:
            (content,) = (await client.read_resource(STATE)).contents
            return str(getattr(content, "text", ""))

    assert json.loads(asyncio.run(scenario())) == TOLD
    audit.close()
