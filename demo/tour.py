"""The short session that `make run` shows: a real MCP client, and what the person at the desk sees of it."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from processes import SessionError, wait_until
from screen import Screen
from temporary_units import SERVER, TemporaryUnits, ask, call_bus, systemctl


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the client asks for on this desktop."""

    search: str
    safe: tuple[tuple[str, ...], ...]  # the first that this desktop has and policy lets run
    picture: Callable[[], str] | None
    guarded: tuple[str, ...]
    root: tuple[str, ...]


DEMO_SAFE = (
    ("omarchy theme set", "Tokyo Night"),
    ("omarchy theme bg next",),
    ("omarchy toggle nightlight",),
    ("omarchy theme current",),
)
REAL_SAFE = (("omarchy theme current",), ("omarchy version",), ("omarchy theme list",))
CALLS = 4  # the audit has at least a search and three commands


def wake(units: TemporaryUnits) -> dict[str, Any]:
    """The first connection to the port: the service manager starts the server for it."""
    with urllib.request.urlopen(f"http://127.0.0.1:{units.port}/health", timeout=60) as answer:
        health: dict[str, Any] = json.load(answer)
        return health


class Tour:
    """One client, connected, and what it prints."""

    def __init__(self, screen: Screen, client: Client) -> None:
        self.screen = screen
        self.client = client

    async def call(self, tool: str, arguments: dict[str, object]) -> tuple[bool, dict[str, Any], str]:
        """Call a tool: whether it failed, its structured answer, how long it took."""
        begun = time.monotonic()
        result = await self.client.call_tool(tool, arguments)
        taken = f"{(time.monotonic() - begun) * 1000:.0f} ms"
        answer: dict[str, Any] = result.structured_content or {}
        return bool(result.is_error), answer, taken

    async def search(self, query: str) -> None:
        self.screen.heading(f'An agent looks for something to do: omarchy_search_commands "{query}"')
        _, answer, taken = await self.call("omarchy_search_commands", {"query": query, "limit": 4})
        for number, command in enumerate(answer.get("commands", [])):
            name = f"{command['route']} {command.get('args', '')}".strip()
            self.screen.fact("·", f"{name:<40} {command['tier']}", "" if number else taken)

    async def first_runnable(self, commands: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        """The first of some commands that would run without a question; the last if none would."""
        for command in commands:
            _, answer, _ = await self.call("omarchy_search_commands", {"query": command[0], "limit": 20})
            if any(one["route"] == command[0] and one["runnable"] for one in answer.get("commands", [])):
                return command
        return commands[-1]

    async def run(self, title: str, command: tuple[str, ...]) -> str:
        """Run a command and show how it ended, or why it did not run and what the person can do about it."""
        route, *args = command
        shown = " ".join([route, *(json.dumps(argument) for argument in args)])
        self.screen.heading(f"{title}: omarchy_run {shown}")
        failed, answer, taken = await self.call("omarchy_run", {"route": route, "args": args})
        if not failed:
            self.screen.fact("✓", f"{answer.get('outcome')}, exit status {answer.get('exit')}", taken)
            self.screen.block(str(answer.get("stdout", "")).strip()[:400])
        else:
            self.screen.fact("✗", f"{answer.get('outcome')}: {answer.get('reason')}", taken)
        for way in answer.get("ways_out", []):
            self.screen.fact("→", str(way))
        return str(answer.get("outcome"))


async def show_client(screen: Screen, units: TemporaryUnits, plan: Plan) -> bool:
    """Search, then a safe, a guarded and a root command, as an agent would; whether each ended as it should."""
    token = units.token.read_text(encoding="utf-8").strip()
    headers = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{units.port}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=120)) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        screen.fact("✓", f"MCP {client.protocol_version}: {', '.join(tools)}")
        tour = Tour(screen, client)
        await tour.search(plan.search)
        outcomes = [await tour.run("It does something safe", await tour.first_runnable(plan.safe))]
        if plan.picture:
            screen.line()
            screen.line(plan.picture())
        outcomes.append(await tour.run("It asks for something that is the person's to decide", plan.guarded))
        outcomes.append(await tour.run("It asks for root", plan.root))
        return outcomes == ["ok", "refused", "refused"]


def plain(value: object) -> Any:
    """A value of busctl's JSON, without its types."""
    match value:
        case {"type": str(), "data": data}:
            return plain(data)
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list():
            return [plain(one) for one in value]
        case _:
            return value


def show_record(screen: Screen, *, private: bool) -> None:
    """What the person sees: the audit over the bus, and in the journal."""
    screen.heading("What the person at the desk sees: Recent on the session bus")
    server = systemctl("show", "--property=InvocationID", "--value", SERVER)
    calls: list[dict[str, Any]] = []
    taken = ""

    def written() -> bool:  # the audit is written and read back beside the calls, not before their answers
        nonlocal taken
        begun = time.monotonic()
        records = plain(json.loads(call_bus("Recent", "ua{sv}", "40", "0")))[0]
        taken = f"{(time.monotonic() - begun) * 1000:.0f} ms"
        calls[:] = [one for one in records if one.get("event") == "call" and one.get("instance") == server]
        return len(calls) >= CALLS

    try:
        wait_until(written, 5)
    except SessionError as error:  # a person may not be allowed to read the journal: the product says so
        screen.fact("✗", error.args[0].partition("Call failed: ")[2] or error.args[0])
    for number, record in enumerate(reversed(calls)):
        what = record.get("route") or record.get("tool", "")
        screen.fact("·", f"{what:<40} {record.get('outcome')}", "" if number else taken)
    user_journal = ["--user", f"--unit={SERVER}"]
    match = [f"_SYSTEMD_USER_UNIT={SERVER}"] if private else user_journal
    screen.heading(f"… and in the journal: journalctl {' '.join(match)}")
    screen.block(ask("journalctl", "--no-pager", "--quiet", "--lines=6", *match, check=False) or "(nothing to read)")


def show_attach(screen: Screen, units: TemporaryUnits) -> None:
    """How to connect an agent; the token is read where it is needed and never printed."""
    url, token = f"http://127.0.0.1:{units.port}/mcp", units.token
    screen.heading("Connect an agent to it, from another terminal")
    bearer = "Bearer ${OMARCHY_MCP_TOKEN}"  # the agent fills it in: no secret in a command line or a settings file
    entry = json.dumps({"type": "http", "url": url, "headers": {"Authorization": bearer}})
    lines = (
        f'export OMARCHY_MCP_TOKEN="$(cat {token})"',
        f"claude mcp add-json omarchy '{entry}'",
        f"codex mcp add omarchy --url {url} --bearer-token-env-var OMARCHY_MCP_TOKEN",
        f"gemini mcp add --transport http --header 'Authorization: {bearer}' omarchy {url}",
    )
    screen.block("\n".join(lines), "note")
