"""The MCP application: the SDK's server with our tools, and what happens around every message."""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent
from starlette.applications import Starlette

from omarchy_mcp import VERSION
from omarchy_mcp.policy.access import MCP_PATH, hosts
from omarchy_mcp.server import answers
from omarchy_mcp.server.clients import MOST_SESSIONS, SESSION_IDLE_S, Clients
from omarchy_mcp.server.forms import declared_by
from omarchy_mcp.server.gate import Refused
from omarchy_mcp.server.http import CLIENT
from omarchy_mcp.server.reading import Reading
from omarchy_mcp.server.recording import CURRENT, CallRecord, Recorder
from omarchy_mcp.server.resources import Resources
from omarchy_mcp.server.tools import INSTRUCTIONS, NAMES, Tools
from omarchy_mcp.server.toolset import Parameters, Toolset, slim
from omarchy_mcp.session.pause import REASON, Pause
from omarchy_mcp.session.records import Outcome, clean

MAX_BODY = 1 << 20
STATE_S = 660.0
"""How long a state we sealed can come back: longer than any question is open, which has its own deadline."""

NO_STATE = "invalid_request_state"
STALE = (
    "cannot use this answer: what came back with it is forged, too old, or of another call or client; nothing ran. "
    "Call it anew to have it asked"
)


class Recording:
    """Wraps every tool call: odd arguments are refused by name, and one record is written whatever happens."""

    def __init__(self, recorder: Recorder, parameters: Callable[[], Mapping[str, Parameters]], pause: Pause) -> None:
        """`parameters` are those of each tool that is on offer now."""
        self._recorder = recorder
        self._pause = pause
        self._parameters = parameters

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        params = dict(ctx.params or {})
        call = CallRecord(tool=clean(str(params.get("name", "")), 64), client=client_of(ctx))
        token = CURRENT.set(call)
        try:
            ctx, answer = self._tidy(ctx, params)
            if answer is not None:
                call.outcome, call.reason = Outcome.ERROR, "unknown argument"
            elif self._pause.active:
                answer = paused(call)
            result = answer if answer is not None else await call_next(ctx)
            if failed(result) and call.outcome is Outcome.OK:
                # The first line names the fault; what follows may quote arguments, which no message carries.
                call.outcome, call.reason = Outcome.ERROR, clean(text_of(result).partition("\n")[0], 200)
        except asyncio.CancelledError:
            call.outcome = Outcome.CANCELLED
            raise
        except Exception as error:
            call.outcome, call.reason = Outcome.ERROR, type(error).__name__
            raise
        finally:
            CURRENT.reset(token)
            if not call.held:
                self._recorder.call(call)
        return result

    def _tidy(
        self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]
    ) -> tuple[ServerRequestContext[Any, Any], CallToolResult | None]:
        """Leave out arguments that are null or, where one may be left out, empty: clients send that for "not given".

        Unknown ones are refused by name.
        """
        given = params.get("arguments")
        known = self._parameters().get(str(params.get("name")))
        if known is None or not isinstance(given, Mapping):
            return ctx, None
        unknown = sorted(clean(str(name), 64) for name in given if name not in known)
        if unknown:
            text = f"unknown argument {', '.join(map(repr, unknown))}; known: {', '.join(sorted(known))}"
            return ctx, CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
        params["arguments"] = {
            name: value for name, value in given.items() if value is not None and (value != "" or known[name])
        }
        return dataclasses.replace(ctx, params=params), None


class States:
    """Wraps the SDK's own look at what comes back with an answer: what it refuses is recorded, and said readably."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        try:
            return await call_next(ctx)
        except MCPError as error:
            reason = error.data.get("reason") if isinstance(error.data, Mapping) else None
            if ctx.method != "tools/call" or reason != NO_STATE:
                raise
        call = CallRecord(tool=clean(str((ctx.params or {}).get("name", "")), 64), client=client_of(ctx))
        call.outcome, call.reason, call.rule = Outcome.REFUSED, STALE, "stale-answer"
        self._recorder.call(call)
        return answers.refused(Refused(outcome=call.outcome, reason=STALE, verdict=None), call.duration_usec // 1000)


def principal(ctx: ServerRequestContext[Any, Any]) -> str:
    """Whose answer a state is sealed for: the client the door admitted, under the name it gives itself."""
    return f"{client_of(ctx)} {declared_by(ctx)}"


def paused(call: CallRecord) -> CallToolResult:
    """The answer to any call while agents are paused."""
    call.outcome, call.reason, call.rule = Outcome.REFUSED, REASON, "paused"
    return answers.refused(Refused(outcome=call.outcome, reason=REASON, verdict=None), call.duration_usec // 1000)


def client_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """The name under which the door admitted the request."""
    scope = getattr(ctx.request, "scope", None)
    return str(scope.get(CLIENT, "unknown")) if isinstance(scope, Mapping) else "unknown"


def failed(result: HandlerResult) -> bool:
    """Whether a tool's result says that it went wrong."""
    if isinstance(result, CallToolResult):
        return bool(result.is_error)
    return bool(result.get("isError")) if isinstance(result, dict) else False


def text_of(result: HandlerResult) -> str:
    """The first text of a tool's result."""
    content = result.content if isinstance(result, CallToolResult) else (result or {}).get("content", [])  # type: ignore[union-attr]  # a dict here
    for block in content:
        text = block.get("text") if isinstance(block, dict) else getattr(block, "text", None)
        if text:
            return str(text)
    return ""


async def build(
    tools: Tools, recorder: Recorder, port: int, clients: Clients, pause: Pause, seal: bytes
) -> tuple[Starlette, Toolset]:
    """Build the application for a port; returns it and the tools it offers.

    `seal` is the key of what clients keep for us while a person answers a form of theirs.
    """
    toolset: Toolset
    server = MCPServer(
        "omarchy-mcp",
        title="Omarchy desktop",
        version=VERSION,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
        subscriptions=clients.bus,
        middleware=[
            clients,
            slim,
            Recording(recorder, lambda: toolset.parameters, pause),
            Reading(recorder, pause, client_of),
        ],
        request_state_security=RequestStateSecurity(keys=[seal], ttl=STATE_S, bind_principal=principal),
    )
    server.middleware.insert(0, States(recorder))  # outside the SDK's, which refuses with a number and no record
    toolset = Toolset(server, tools.register)
    resources = Resources(
        server=server, gate=tools.acting.gate, settings=tools.acting.settings, offered=lambda: toolset.parameters
    )
    resources.register(NAMES)
    await toolset.offer(tools.acting.settings.current.disabled_tools)
    exact = sorted(host.decode() for host in hosts(port))
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=False,
        stateless_http=False,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=SESSION_IDLE_S,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=exact, allowed_origins=[f"http://{host}" for host in exact]
        ),
    )
    return app, toolset
