"""Nothing is started that the gate did not let through: shown on the source, and on every registered tool."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from omarchy_mcp.server import tools as tools_module
from omarchy_mcp.server.acting import Acting
from omarchy_mcp.server.gate import Gate
from omarchy_mcp.server.held import Held
from omarchy_mcp.server.recording import CURRENT, CallRecord, Recorder
from omarchy_mcp.server.running import Runner
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.server.tools import NAMES, Tools
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.pause import Pause
from omarchy_mcp.session.records import Outcome

SOURCE = Path(__file__).resolve().parents[2] / "src" / "omarchy_mcp"

STARTERS = {"server/running.py", "desktop/omarchy.py", "desktop/listings.py"}
"""Modules that may start a job: authorized calls, and fixed commands of ours with nothing of a client's in them."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    """What agents can reach; the command line is a person's, and becomes their pager."""
    for path in sorted(path for path in SOURCE.rglob("*.py") if "cli" not in path.parts):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_module_can_start_a_process_by_itself() -> None:
    banned = ("subprocess", "pty", "multiprocessing", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.system")
    for name, tree in modules():
        assert not [each for each in imported(tree) if each.startswith(banned)], name
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not [each for each in calls if each.startswith(banned[3:]) or "create_subprocess" in each], name


def test_jobs_are_started_in_two_modules_and_authorized_is_made_in_one() -> None:
    starting, making = set(), set()
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = ast.unparse(node.func)
                starting |= {name} if function.endswith("jobs.start") else set()
                making |= {name} if function.split(".")[-1] == "Authorized" else set()
    assert starting == STARTERS
    assert making == {"server/gate.py"}


OTHERWISE = {"job", "stop"}
"""Parameters that stand for something other than a call of a command; system tests are about them."""
TEXTS = {"path": "/a.png", "value": "50%", "level": "+5", "region": "1,2 3x4"}
"""Texts of a form of their own."""


def example(name: str, schema: dict[str, Any]) -> Any:
    """Something for one parameter: a choice's last, which does more than look."""
    if "enum" in schema:
        return schema["enum"][-1] if name != "target" else schema["enum"][0]
    examples = {"string": TEXTS.get(name, "omarchy theme set"), "array": ["x"], "integer": 1, "boolean": True}
    return examples[schema["type"]]


def arguments_for(tool: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Something for every parameter of a tool."""
    if tool == "omarchy_toggle":
        return {"feature": "nightlight", "state": "on"}
    if tool == "omarchy_launch":
        return {"what": "browser", "target": "https://example.org"}
    return {name: example(name, each) for name, each in schema["properties"].items() if name not in OTHERWISE}


@pytest.fixture(name="server")
def server_without_a_desktop(tmp_path: Path) -> Iterator[MCPServer]:
    """The real tools, gate and runner where there is no desktop: the gate lets nothing through and says GATE."""
    audit = Writer()
    settings = Settings(tmp_path / "config.toml", audit)
    recorder = Recorder(audit, None)
    runner = Runner(None, recorder, Pause(tmp_path), "RUNNER")
    server = MCPServer("tests", log_level="ERROR")
    acting = Acting(gate=Gate(None, settings, "GATE"), runner=runner, settings=settings, held=Held(recorder.call))
    Tools(acting=acting).register(server)
    yield server
    audit.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_goes_no_further_than_the_gate(server: MCPServer, name: str) -> None:
    async def scenario() -> None:
        (tool,) = [each for each in await server.list_tools() if each.name == name]
        call = CallRecord(tool=name, client="tests")
        token = CURRENT.set(call)
        result: Any = await server.call_tool(name, arguments_for(name, tool.input_schema))
        CURRENT.reset(token)
        assert result.is_error
        assert call.outcome is Outcome.ERROR
        assert call.reason == "cannot run anything: GATE"

    asyncio.run(scenario())


def test_every_registered_tool_is_in_the_list_of_names(server: MCPServer) -> None:
    assert tuple(tool.name for tool in asyncio.run(server.list_tools())) == tuple(NAMES)
    assert tools_module.INSTRUCTIONS.encode()[:1024].count(b"untrusted data") == 1
