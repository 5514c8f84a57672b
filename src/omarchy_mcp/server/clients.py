"""Clients that are attached, and telling each of them that the list of tools has changed.

The two eras of the protocol have a way each: a client of the 2026-07-28 revision listens to the subscription
bus, an earlier one reads a stream of its session.
"""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

SESSION_HEADER = "mcp-session-id"

MOST_SESSIONS = 1_024
"""Sessions that may be open; of those remembered here the one that was longest silent goes first."""

SESSION_IDLE_S = 1_800
"""A session that was silent for so long is over."""

TELL_S = 5.0
"""How long one session may take to be told."""


@dataclass(slots=True, kw_only=True)
class Known:
    """A session of the handshake's era, and when it was heard last."""

    session: ServerSession
    heard: float = field(default_factory=time.monotonic)


class Clients:
    """A middleware that gets to know sessions, and says at the handshake that changes are told."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        """Where streams of the modern era listen."""
        self._sessions: OrderedDict[str, Known] = OrderedDict()

    @property
    def sessions(self) -> int:
        """Sessions that are open: clients that would be sent away by an end of the server."""
        past = time.monotonic() - SESSION_IDLE_S
        while self._sessions and next(iter(self._sessions.values())).heard < past:
            self._sessions.popitem(last=False)
        return len(self._sessions)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            # The SDK has no public way to announce it for the handshake's era; without it clients may not listen.
            capabilities = result.get("capabilities", {})
            if "tools" in capabilities:
                tools = {**capabilities["tools"], "listChanged": True}
                result = {**result, "capabilities": {**capabilities, "tools": tools}}
        session_id = getattr(ctx.request, "headers", {}).get(SESSION_HEADER, "")
        if session_id and ctx.method == "notifications/initialized":
            self._sessions[session_id] = Known(session=ctx.session)
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        elif (known := self._sessions.get(session_id)) is not None:
            known.heard = time.monotonic()
            self._sessions.move_to_end(session_id)
        return result

    def forget(self, session_id: str) -> None:
        """A client has ended its session."""
        self._sessions.pop(session_id, None)

    async def tell(self) -> None:
        """Tell every client that the list of tools has changed."""
        await self.bus.publish(ToolsListChanged())
        known = list(self._sessions.items())
        told = (asyncio.wait_for(each.session.send_tool_list_changed(), TELL_S) for _, each in known)
        # one that cannot be told must not keep the others from being told
        for (session_id, _), result in zip(known, await asyncio.gather(*told, return_exceptions=True), strict=True):
            if isinstance(result, Exception):
                self.forget(session_id)
