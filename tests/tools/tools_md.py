"""Make TOOLS.md from the code: the tools and resources as a server declares them, the tiers of the stand-in desktop.

usage: tools_md.py      writes TOOLS.md; `make tools-md` calls it, and a contract test checks that it was called
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
DOCUMENT = REPO / "TOOLS.md"
DEMO = REPO / "demo"

if __name__ == "__main__":
    sys.path.insert(0, str(REPO / "src"))

from mcp.server.mcpserver import MCPServer  # noqa: E402 - the path comes first
from mcp.types import Resource, ResourceTemplate, Tool  # noqa: E402 - likewise

from omarchy_mcp.desktop.inventory import rows  # noqa: E402 - likewise
from omarchy_mcp.desktop.omarchy import scripts_of  # noqa: E402 - likewise
from omarchy_mcp.policy.registry import parse  # noqa: E402 - likewise
from omarchy_mcp.policy.tiers import Tier, rate  # noqa: E402 - likewise
from omarchy_mcp.server.acting import Acting  # noqa: E402 - likewise
from omarchy_mcp.server.gate import Gate  # noqa: E402 - likewise
from omarchy_mcp.server.held import Held  # noqa: E402 - likewise
from omarchy_mcp.server.recording import Recorder  # noqa: E402 - likewise
from omarchy_mcp.server.resources import Resources  # noqa: E402 - likewise
from omarchy_mcp.server.running import Runner  # noqa: E402 - likewise
from omarchy_mcp.server.settings import Settings  # noqa: E402 - likewise
from omarchy_mcp.server.tools import NAMES, Tools  # noqa: E402 - likewise
from omarchy_mcp.session.journal import Writer  # noqa: E402 - likewise
from omarchy_mcp.session.pause import Pause  # noqa: E402 - likewise

HEAD = """# Tools

Made from the code by `make tools-md`; do not edit.

What an agent is offered: tools to act with, resources to read. `tools.disabled` in `config.toml` takes a tool away, and
with it the resources that tell the same.
"""
TIERS = """## Tiers

What each command may do, at worst over any arguments; for some arguments a guarded command is safe, and rules of yours
come before. These are the commands of the stand-in desktop in `demo/`; `omarchy-mcpctl tiers` shows those of the
installed Omarchy, derived in the same way.
"""


def declared(folder: Path) -> MCPServer:
    """A server with everything that is declared, and nothing behind it."""
    audit = Writer()
    settings = Settings(folder / "config.toml", audit)
    gate = Gate(None, settings, "there is no desktop")
    recorder = Recorder(audit, None)
    runner = Runner(None, recorder, Pause(folder), "there is no desktop")
    server = MCPServer("tools-md", log_level="ERROR")
    acting = Acting(gate=gate, runner=runner, settings=settings, held=Held(recorder.call))
    Tools(acting=acting).register(server)
    Resources(server=server, gate=gate, settings=settings, offered=frozenset).register(NAMES)
    audit.close()
    return server


async def document() -> str:
    """TOOLS.md as it has to be."""
    with tempfile.TemporaryDirectory() as folder:
        server = declared(Path(folder))
    lines = [HEAD, "## Acting", ""]
    for tool in await server.list_tools():
        lines += [*tool_lines(tool), ""]
    lines += ["## Reading", "", "| address | title | what |", "| --- | --- | --- |"]
    lines += map(resource_line, await server.list_resources())
    lines += map(resource_line, await server.list_resource_templates())
    return "\n".join([*lines, "", TIERS, *tier_lines()]) + "\n"


def tool_lines(tool: Tool) -> Iterator[str]:
    """One tool: what it is for, and its arguments."""
    yield f"### `{tool.name}`"
    yield ""
    yield f"**{cell(tool.title or '')}**, {hints(tool)}. {cell(tool.description or '')}"
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    if properties:
        yield ""
        yield "| argument | type | if left out | what |"
        yield "| --- | --- | --- | --- |"
    required = tool.input_schema.get("required", ())
    for name, schema in properties.items():
        without = "(must be given)" if name in required else f"`{default(schema)}`"
        yield f"| `{name}` | {kind(schema)} | {without} | {cell(schema.get('description', ''))} |"


def hints(tool: Tool) -> str:
    """What a client may expect of a call."""
    noted = tool.annotations
    if noted is None:
        return "says nothing of what it changes"
    return "reads only" if noted.read_only_hint else "may destroy" if noted.destructive_hint else "changes things"


def default(schema: Mapping[str, Any]) -> str:
    """An argument's value where it is not given, as JSON has it."""
    value = schema.get("default")
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def kind(schema: Mapping[str, Any]) -> str:
    """An argument's type, with its bounds or choices."""
    of = f" of {schema['items'].get('type')}" if "items" in schema else ""
    bounds = [str(schema[each]) for each in ("minimum", "maximum") if each in schema]
    choices = ", ".join(f"`{each}`" for each in schema.get("enum", ()))
    return f"{schema.get('type')}{of}{' ' if bounds else ''}{' to '.join(bounds)}{f': {choices}' if choices else ''}"


def resource_line(resource: Resource | ResourceTemplate) -> str:
    """One resource, or one template."""
    uri = resource.uri if isinstance(resource, Resource) else resource.uri_template
    return f"| `{uri}` | {cell(resource.title or '')} | {cell(resource.description or '')} |"


def tier_lines() -> Sequence[str]:
    """The stand-in desktop's commands with their tiers."""
    listed = subprocess.run([DEMO / "bin" / "omarchy", "commands", "--json", "--all"], capture_output=True, check=True)
    registry = parse(listed.stdout)
    rated = rows(registry, rate(registry, scripts_of(DEMO)))
    counts = ", ".join(f"{sum(rating.tier is tier for _, rating in rated)} {tier}" for tier in Tier)
    table = [f"| `{command.route}` | {rating.tier} | {cell(rating.reason)} |" for command, rating in rated]
    return [f"{counts}.", "", "| command | tier | why |", "| --- | --- | --- |", *table]


def cell(text: str) -> str:
    """Text that stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    DOCUMENT.write_text(asyncio.run(document()), encoding="utf-8")
