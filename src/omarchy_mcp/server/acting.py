"""From a decided call to its answer: shared by every tool that runs something, so that there is one way to."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp.types import CallToolResult

from omarchy_mcp.server import answers
from omarchy_mcp.server.gate import Authorized, Gate, Refused
from omarchy_mcp.server.progress import Progress
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.server.running import Ran, Runner
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.records import Outcome

DEFAULT_WAIT_MS = 10_000
SHELL_WAIT_MS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Has calls authorized, runs them, and puts what came of them into their records and answers."""

    gate: Gate
    runner: Runner
    settings: Settings

    async def route(
        self, call: CallRecord, route: str, args: Sequence[str], wait_ms: int, progress: Progress
    ) -> CallToolResult:
        """Run a command."""
        call.route, call.args = route, tuple(args)
        decision = await self.gate.authorize(route, args, call, progress)
        return await self._carry_out(decision, call, wait_ms, progress)

    async def shell(
        self, call: CallRecord, target: str, function: str, args: Sequence[str], wait_ms: int, progress: Progress
    ) -> CallToolResult:
        """Call a function of the shell."""
        call.route, call.args = f"omarchy shell {target} {function}", tuple(args)
        decision = await self.gate.authorize_shell(target, function, args, call, progress)
        return await self._carry_out(decision, call, wait_ms, progress)

    async def _carry_out(
        self, decision: Authorized | Refused, call: CallRecord, wait_ms: int, progress: Progress
    ) -> CallToolResult:
        if isinstance(decision, Refused):
            return refuse(call, decision)
        call.judged(decision.verdict)
        config = self.settings.current
        wait_s = min(wait_ms, config.timeout_ms) / 1000
        ran = await self.runner.run(decision, call, wait_s, config.max_output_b, progress)
        note(call, ran)
        return answers.ran(decision.verdict, ran, call.duration_usec // 1000)


def refuse(call: CallRecord, refusal: Refused) -> CallToolResult:
    """Put a refusal into the call's record and its answer."""
    if refusal.verdict is not None:
        call.judged(refusal.verdict)
    call.outcome, call.reason = refusal.outcome, refusal.reason
    return answers.refused(refusal, call.duration_usec // 1000)


def wrong(call: CallRecord, why: str) -> CallToolResult:
    """Refuse a call whose arguments do not go together; nothing was looked at."""
    return refuse(call, Refused(outcome=Outcome.REFUSED, reason=why, verdict=None))


def note(call: CallRecord, ran: Ran) -> None:
    """Put what came of a command into its call's record."""
    call.outcome, call.reason = ran.outcome, ran.reason
    call.exit, call.signal, call.job = ran.exit, ran.signal, ran.job
