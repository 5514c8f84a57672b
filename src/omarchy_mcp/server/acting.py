"""From a decided call to its answer: shared by every tool that runs something, so that there is one way to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult

from omarchy_mcp.server import answers
from omarchy_mcp.server.filling import fill
from omarchy_mcp.server.forms import Form, Forms, forms_of
from omarchy_mcp.server.gate import Authorized, Gate, Refused
from omarchy_mcp.server.held import Held
from omarchy_mcp.server.progress import Progress, progress_of
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
    held: Held

    async def route(
        self, call: CallRecord, route: str, args: Sequence[str], wait_ms: int, ctx: Context
    ) -> CallToolResult | InputRequiredResult:
        """Run a command; a name it lacks is chosen by the person where their client shows forms."""
        call.route, call.args = route, tuple(args)
        forms = self._forms(ctx, call)
        filled = await fill(self.gate, self.held, route, args, call, forms)
        if isinstance(filled, Form):
            return filled.as_result()
        call.args = tuple(filled)
        if forms.state is not None:
            forms = replace(forms, state=replace(forms.state, args=call.args))
        progress = progress_of(ctx)
        decision = await self.gate.authorize(route, filled, call, progress, forms)
        return await self._carry_out(decision, call, wait_ms, progress)

    async def shell(
        self, call: CallRecord, target: str, function: str, args: Sequence[str], wait_ms: int, ctx: Context
    ) -> CallToolResult | InputRequiredResult:
        """Call a function of the shell."""
        call.route, call.args = f"omarchy shell {target} {function}", tuple(args)
        progress = progress_of(ctx)
        decision = await self.gate.authorize_shell(target, function, args, call, progress, self._forms(ctx, call))
        return await self._carry_out(decision, call, wait_ms, progress)

    def _forms(self, ctx: Context, call: CallRecord) -> Forms:
        """What the client can show; a call that comes back with a form goes on as the call it was."""
        forms = forms_of(ctx)
        if forms.state is not None:
            self.held.back(call, forms.state.call)
        return forms

    async def _carry_out(
        self, decision: Authorized | Refused | Form, call: CallRecord, wait_ms: int, progress: Progress
    ) -> CallToolResult | InputRequiredResult:
        if isinstance(decision, Form):
            return decision.as_result()
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
