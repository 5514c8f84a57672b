"""One record per tool call, written when the call ends however it ends, and told to the control service."""

import asyncio
import contextvars
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from omarchy_mcp.policy.verdict import Verdict
from omarchy_mcp.session.bus import Bus, variants
from omarchy_mcp.session.contract import NAME, PATH
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event, Outcome, arguments

PREVIEW = "preview"
"""The reason of a call that only asked what would happen."""

SEEN, STOPPED = "job seen", "job stopped"
"""The reasons of calls about a job that was there already."""

NOTES = {PREVIEW: "a preview: nothing ran", SEEN: "asked about its job", STOPPED: "ended its job"}
"""What a reason says at the end of a record's line."""

TELL_S = 0.05
"""Calls that end within this time are told together: the bar shows a pulse, not a count."""

TELL_MOST = 8
"""Of more calls than this in that time the newest are told; all of them are counted, and all are in the record."""


@dataclass(slots=True, kw_only=True)
class CallRecord:
    """What is known of a call so far; its tool fills it in."""

    tool: str
    client: str
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    started: float = field(default_factory=time.monotonic)
    outcome: Outcome = Outcome.OK
    args: tuple[str, ...] = ()
    route: str = ""
    target: str = ""
    tier: str = ""
    rule: str = ""
    reason: str = ""
    exit: int | None = None
    signal: int | None = None
    job: str = ""
    consent: str = ""
    held: bool = False
    """Answered with a form: its end is recorded when its client comes back, or does not."""

    def judged(self, verdict: Verdict) -> None:
        """Take over what policy said."""
        self.route, self.args, self.target = verdict.route, verdict.args, verdict.target
        self.tier, self.rule = str(verdict.tier), verdict.rule

    @property
    def duration_usec(self) -> int:
        """How long the call has taken so far."""
        return int((time.monotonic() - self.started) * 1_000_000)

    def message(self) -> str:
        """The record in one line, without arguments."""
        what = f"{self.tool} '{self.route}'" if self.route else self.tool
        target = f" ({self.target})" if self.target else ""
        text = f"{self.client}: {what}{target} -> {self.outcome}"
        if self.exit is not None and self.outcome is not Outcome.OK:
            text += f", exit status {self.exit}"
        if self.signal is not None:
            text += f", signal {self.signal}"
        if self.reason in NOTES:
            text += f", {NOTES[self.reason]}"
        if self.outcome in (Outcome.REFUSED, Outcome.ERROR, Outcome.NOT_INSTALLED) and self.reason:
            text += f": {self.reason}"
        return text


CURRENT: contextvars.ContextVar[CallRecord] = contextvars.ContextVar("call")
"""The record of the call that is being served."""


class Recorder:
    """Writes records and counts."""

    def __init__(self, audit: Writer, bus: Bus | None) -> None:
        self._audit = audit
        self._bus = bus
        self._untold: list[dict[str, object]] = []
        self.calls = 0
        self.failures = 0
        self.last_tool = ""

    def call(self, call: CallRecord) -> None:
        """A call has ended, or its client was told that it goes on."""
        self.calls += 1
        self.failures += call.outcome not in (Outcome.OK, Outcome.RUNNING)
        self.last_tool = call.tool
        duration = call.duration_usec
        self._audit.write(
            Event.CALL,
            call.message(),
            call_id=call.id,
            client=call.client,
            tool=call.tool,
            route=call.route or None,
            target=call.target or None,
            tier=call.tier or None,
            rule=call.rule or None,
            consent=call.consent or None,
            reason=call.reason or None,
            outcome=call.outcome,
            exit=call.exit,
            signal=call.signal,
            duration_usec=duration,
            job=call.job or None,
            **arguments(call.args),
        )
        self._tell(call, duration)

    def job_ended(
        self, job: str, origin: Sequence[str], outcome: Outcome, status: int | None, signal: int | None
    ) -> None:
        """A job whose number somebody was told, or whose call was never answered, is over."""
        client, tool, route = origin
        how = f"exit status {status}" if status is not None else f"signal {signal}"
        self._audit.write(
            Event.JOB,
            f"job {job} of {client} ended: '{route}' -> {outcome}, {how}",
            call_id=job, job=job, client=client, tool=tool, route=route, outcome=outcome, exit=status, signal=signal,
        )  # fmt: skip

    def job_adopted(self, job: str, origin: Sequence[str]) -> None:
        """A job was found running that an earlier run of the server had started."""
        client, tool, route = origin
        self._audit.write(
            Event.JOB,
            f"job {job} of {client} outlived the server: '{route}' is still running",
            call_id=job, job=job, client=client, tool=tool, route=route, outcome=Outcome.RUNNING,
        )  # fmt: skip

    def _tell(self, call: CallRecord, duration: int) -> None:
        if self._bus is None:
            return
        if not self._untold:
            asyncio.get_running_loop().call_later(TELL_S, self._flush)
        self._untold.append(
            {
                "tool": call.tool,
                "client": call.client,
                "route": call.route,
                "target": call.target,
                "outcome": str(call.outcome),
                "duration_usec": duration,
            }
        )

    def _flush(self) -> None:
        untold, self._untold = self._untold[-TELL_MOST:], []
        if self._bus is None:
            return
        counts = {"calls": self.calls, "failures": self.failures, "last_tool": self.last_tool}
        untold[-1] |= counts
        body = [[variants(told) for told in untold]]
        self._bus.post(NAME, PATH, NAME, "ReportCalls", "aa{sv}", body)

    def report(self, state: dict[str, object]) -> None:
        """Tell the control service how the server is doing."""
        if self._bus is not None:
            counts = {"calls": self.calls, "failures": self.failures, "last_tool": self.last_tool}
            self._bus.post(NAME, PATH, NAME, "Report", "a{sv}", [variants(state | counts)])
