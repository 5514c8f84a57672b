"""One record for each resource that is read, and none read while agents are paused."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from omarchy_mcp.server.recording import CURRENT, CallRecord, Recorder
from omarchy_mcp.session.pause import REASON, Pause
from omarchy_mcp.session.records import Outcome, clean

READ = "resources/read"
COMPLETE = "completion/complete"
MOST_URI = 256


REQUEST: contextvars.ContextVar[ServerRequestContext[Any, Any] | None] = contextvars.ContextVar("request", default=None)
"""The request by which a resource is read: resources are not told it, and a tool that is called for one needs it."""


class Reading:
    """A middleware around what clients read; a completion is recorded when the desktop was looked at for it."""

    def __init__(
        self, recorder: Recorder, pause: Pause, client_of: Callable[[ServerRequestContext[Any, Any]], str]
    ) -> None:
        """`client_of` names the client of a request."""
        self._client_of = client_of
        self._recorder = recorder
        self._pause = pause

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        if ctx.method not in (READ, COMPLETE):
            return await call_next(ctx)
        call = CallRecord(tool=ctx.method, client=self._client_of(ctx))
        if ctx.method == READ:
            call.route = clean(str((ctx.params or {}).get("uri", "")), MOST_URI)
        token, request = CURRENT.set(call), REQUEST.set(ctx)
        try:
            self._let_pass(call)
            return await call_next(ctx)
        except asyncio.CancelledError:
            call.outcome = Outcome.CANCELLED
            raise
        except MCPError as error:
            if call.outcome is Outcome.OK:
                call.outcome, call.reason = Outcome.ERROR, clean(error.error.message, 200)
            raise
        except Exception as error:
            call.outcome, call.reason = Outcome.ERROR, type(error).__name__
            raise
        finally:
            CURRENT.reset(token)
            REQUEST.reset(request)
            if call.route:
                self._recorder.call(call)

    def _let_pass(self, call: CallRecord) -> None:
        if self._pause.active:
            call.outcome, call.reason, call.rule = Outcome.REFUSED, REASON, "paused"
            raise MCPError(code=INTERNAL_ERROR, message=REASON)
