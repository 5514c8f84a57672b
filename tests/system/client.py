"""MCP as an agent's client speaks it, in both eras of the protocol, and the SDK's own client.

Handshake era: initialize, then a session id.  Modern era: each request carries its own meta data.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from system import wire

MODERN_VERSION = "2026-07-28"
HANDSHAKE_VERSION = "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "system-test", "version": "0"},
}
ACCEPT = "application/json, text/event-stream"

Value = TypeVar("Value")


class Era(StrEnum):
    HANDSHAKE = "handshake"
    MODERN = "modern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool answered."""

    failed: bool
    data: dict[str, Any]
    text: str
    seconds: float

    @property
    def outcome(self) -> str:
        return str(self.data.get("outcome", ""))


def headers(token: str, era: Era, method: str, name: str = "", session: str = "") -> dict[str, str]:
    """The headers a client of this era sends."""
    own = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": ACCEPT}
    if era is Era.MODERN:
        own |= {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": method}
        if name:
            own["Mcp-Name"] = name
    elif session:
        own |= {"MCP-Protocol-Version": HANDSHAKE_VERSION, "Mcp-Session-Id": session}
    return own


def message(method: str, params: dict[str, Any], era: Era, number: int | None = 1) -> str:
    """A JSON-RPC message; without a number it is a notification."""
    if era is Era.MODERN:
        params = {**params, "_meta": META}
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        body["id"] = number
    return json.dumps(body)


INITIALIZE = {
    "protocolVersion": HANDSHAKE_VERSION,
    "capabilities": {},
    "clientInfo": {"name": "system-test", "version": "0"},
}


class Rpc:
    """One client, a new connection for each request."""

    def __init__(self, port: int, token: str, era: Era = Era.MODERN) -> None:
        self.port = port
        self.token = token
        self.era = era
        self.session = ""
        self._numbers = itertools.count(1)

    def initialize(self) -> dict[str, Any]:
        """Shake hands (handshake era) or discover (modern era); returns the result."""
        if self.era is Era.MODERN:
            return self.ask("server/discover", {})
        reply = self.post("initialize", INITIALIZE)
        assert reply.status == 200, reply
        self.session = reply.header("mcp-session-id") or ""
        self.post("notifications/initialized", {}, numbered=False)
        result: dict[str, Any] = reply.json()["result"]
        return result

    def post(
        self,
        method: str,
        params: dict[str, Any],
        *,
        name: str = "",
        numbered: bool = True,
        seconds: float = 30,
    ) -> wire.Reply:
        """Send one message and return the HTTP answer, whatever it is."""
        number = next(self._numbers) if numbered else None
        return wire.request(
            self.port,
            "POST",
            "/mcp",
            headers=headers(self.token, self.era, method, name, self.session),
            body=message(method, params, self.era, number),
            seconds=seconds,
        )

    def ask(self, method: str, params: dict[str, Any], *, name: str = "", seconds: float = 30) -> dict[str, Any]:
        """Send one request and return its result; raises AssertionError on an error."""
        reply = self.post(method, params, name=name, seconds=seconds)
        assert reply.status == 200, (reply.status, reply.body[:500])
        answer = reply.json()
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, *, seconds: float = 30, **arguments: Any) -> Answer:
        """Call a tool."""
        reply = self.post("tools/call", {"name": tool, "arguments": arguments}, name=tool, seconds=seconds)
        assert reply.status == 200, (reply.status, reply.body[:500])
        answer = reply.json()
        assert "result" in answer, answer
        result = answer["result"]
        return Answer(
            failed=bool(result.get("isError")),
            data=result.get("structuredContent") or {},
            text="\n".join(part.get("text", "") for part in result.get("content", [])),
            seconds=reply.seconds,
        )

    def do(self, route: str, *args: str, seconds: float = 30, **options: Any) -> Answer:
        """Call omarchy_run."""
        return self.call("omarchy_run", seconds=seconds, route=route, args=list(args), **options)


@asynccontextmanager
async def sdk_client(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    """The SDK's own client, connected."""
    own = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=own, timeout=httpx2.Timeout(30, read=120)) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield client


def with_sdk(url: str, token: str, mode: str, act: Callable[[Client], Awaitable[Value]]) -> Value:
    """Connect the SDK's client, let it act, disconnect."""

    async def whole() -> Value:
        async with sdk_client(url, token, mode) as client:
            return await act(client)

    return asyncio.run(whole())
