"""The D-Bus object: what each method does, for whom."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from omarchy_mcp import VERSION
from omarchy_mcp.control.consent import Consent
from omarchy_mcp.control.jobs import Jobs
from omarchy_mcp.control.units import Snapshot, State, Units
from omarchy_mcp.policy.callers import SERVER_UNIT, Caller, Right, refusal
from omarchy_mcp.session import configuration, journal
from omarchy_mcp.session.bus import Bus, BusError, Call, Exported, Method, Variant, plain, variant, variants
from omarchy_mcp.session.callers import denied, describe, identify
from omarchy_mcp.session.contract import ERROR, NAME, PATH
from omarchy_mcp.session.records import Event

logger = logging.getLogger(__name__)

API_VERSION = 2
XML = Path(__file__).with_name("interface.xml")

REPORTED: Mapping[str, bool | int | str] = {
    "server_version": "",
    "tools": 0,
    "tools_declared": 0,
    "config_ok": True,
    "config_problem": "",
    "config_watch": "",
    "omarchy_path": "",
    "audit": "unknown",
    "audit_why": "",
    "clients": 0,
    "calls": 0,
    "failures": 0,
    "last_tool": "",
    "token_file": "",
    "token_problem": "",
}
"""What the server tells of itself, with what is shown while it has told nothing."""

CALLED = ("tool", "client", "route", "target", "outcome", "duration_usec")
"""What the signal Called carries; arguments are not among it."""

MAX_REPORT_TEXT = 1_000
MAX_JOB = 40


class Control:
    """The control service's object on the bus."""

    def __init__(self, bus: Bus, units: Units, jobs: Jobs, audit: journal.Writer) -> None:
        self._bus = bus
        self._units = units
        self._jobs = jobs
        self._audit = audit
        self._state = State.STOPPED
        self._reported: dict[str, bool | int | str] = dict(REPORTED)
        self._server_pid = 0
        self._consent = Consent(bus, audit, self._changed)

    async def publish(self) -> None:
        """Put the object on the bus and keep its properties true."""
        await self._consent.connect()
        await self._refresh()
        self._bus.serve(
            PATH,
            Exported(xml=load_xml(), interface=NAME, methods=self._methods(), properties=self._properties),
        )

    async def follow(self) -> None:
        """Announce changes of state as they happen; runs until cancelled."""
        while True:
            await self._units.changed.wait()
            await self._refresh()

    def close(self) -> None:
        """Leave nothing behind that only this process could end."""
        self._consent.end_all("the control service has ended")

    def _methods(self) -> dict[str, Method]:
        return {
            "Start": self._guarded("", Right.ACT, self._start),
            "Stop": self._guarded("", Right.ACT, self._stop),
            "Restart": self._guarded("", Right.ACT, self._restart),
            "Reload": self._guarded("", Right.ACT, self._reload),
            "Freeze": self._guarded("", Right.ACT, self._freeze),
            "Thaw": self._guarded("", Right.ACT, self._thaw),
            "Jobs": Method(takes="", gives="aa{sv}", answer=self._list_jobs),
            "StopJob": self._guarded("s", Right.ACT, self._stop_job),
            "Status": Method(takes="", gives="a{sv}", answer=self._status),
            "Recent": Method(takes="ua{sv}", gives="aa{sv}", answer=self._recent),
            **self._consent.methods(self._guarded),
            "Report": self._guarded("a{sv}", Right.SERVER, self._report),
            "ReportCalls": self._guarded("aa{sv}", Right.SERVER, self._report_calls),
            "Announce": self._guarded("ss", Right.SERVER, self._announce),
        }

    def _guarded(
        self, takes: str, right: Right, body: Callable[[Call, Caller], Awaitable[Sequence[object]]], gives: str = ""
    ) -> Method:
        """A method for those alone who have the right; reading needs none, the bus lets no other user in."""

        async def answer(call: Call) -> Sequence[object]:
            caller = await identify(self._bus, call.sender)
            why = refusal(right, caller, os.getuid(), self._server_pid)
            if why is not None and right is Right.SERVER:
                self._server_pid = (await self._units.look()).pid  # it may have started this instant
                why = refusal(right, caller, os.getuid(), self._server_pid)
            if why is not None:
                self._audit.write(
                    Event.LIFECYCLE, f"refused {call.member} to process {caller.pid}: {why}",
                    action=call.member.lower(), outcome="refused", caller=describe(caller),
                )  # fmt: skip
                raise denied(f"cannot call {call.member}: {why}")
            return await body(call, caller)

        return Method(takes=takes, gives=gives, answer=answer)

    def _properties(self) -> dict[str, Variant]:
        return {
            "State": variant(str(self._state)),
            "PendingQuestions": Variant("u", self._consent.pending),
            "PendingReview": Variant("u", len(self._consent.review.held)),
            "ApiVersion": Variant("u", API_VERSION),
            "Version": variant(VERSION),
        }

    async def _refresh(self) -> Snapshot:
        now = await self._units.look()
        self._server_pid = now.pid
        if now.pid == 0:
            self._reported = dict(REPORTED) | {key: self._reported[key] for key in ("omarchy_path", "token_file")}
        if now.state is not self._state:
            self._state = now.state
            self._changed("State")
        return now

    def _changed(self, name: str) -> None:
        if self._bus.alive and PATH in self._bus.served:
            self._bus.changed(PATH, [name])

    async def _start(self, call: Call, caller: Caller) -> Sequence[object]:
        await self._act(call, caller, self._units.start)
        return ()

    async def _stop(self, call: Call, caller: Caller) -> Sequence[object]:
        self._consent.end_all("the server is stopped")
        await self._act(call, caller, self._units.stop)
        return ()

    async def _restart(self, call: Call, caller: Caller) -> Sequence[object]:
        await self._act(call, caller, self._units.restart)
        return ()

    async def _reload(self, call: Call, caller: Caller) -> Sequence[object]:
        await self._act(call, caller, self._units.reload)
        return ()

    async def _freeze(self, call: Call, caller: Caller) -> Sequence[object]:
        try:
            await self._act(call, caller, self._jobs.freeze)
        finally:  # what is asked from now on meets the pause
            self._consent.end_all("everything agents do was paused")
        return ()

    async def _thaw(self, call: Call, caller: Caller) -> Sequence[object]:
        await self._act(call, caller, self._jobs.thaw)
        return ()

    async def _list_jobs(self, _call: Call) -> Sequence[object]:
        return ([variants(row) for row in await self._jobs.listed()],)

    async def _stop_job(self, call: Call, caller: Caller) -> Sequence[object]:
        job = str(call.arguments[0])[:MAX_JOB]
        try:
            unit = await self._jobs.stop(job)
        except BusError as error:
            self._audit.write(
                Event.LIFECYCLE, error.text, action="stopjob", outcome="failed", job=job, caller=describe(caller)
            )
            raise
        self._audit.write(
            Event.LIFECYCLE, f"job {job} stopped by the user: {unit}",
            action="stopjob", outcome="ok", job=job, caller=describe(caller),
        )  # fmt: skip
        return ()

    async def _act(self, call: Call, caller: Caller, act: Callable[[], Awaitable[None]]) -> None:
        verb = call.member.lower()
        try:
            await act()
        except BusError as error:
            message = f"could not {verb} the server: {error.text or error.name}"
            self._audit.write(Event.LIFECYCLE, message, action=verb, outcome="failed", caller=describe(caller))
            raise
        finally:
            self._units.changed.set()  # of the pause nobody tells
            await self._refresh()
        self._audit.write(Event.LIFECYCLE, f"{verb} by the user", action=verb, outcome="ok", caller=describe(caller))

    async def _status(self, _call: Call) -> Sequence[object]:
        now, jobs = await asyncio.gather(self._refresh(), self._jobs.count())
        uptime = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000 - now.since_usec if now.since_usec else 0
        status: dict[str, object] = {
            "state": str(now.state),
            "port": now.port,
            "version": VERSION,
            "enabled": now.enabled,
            "listening": now.socket == "active",
            "running": now.service == "active",
            "pid": now.pid,
            "result": now.service_result,
            "problem": now.problem,
            "restarts": now.restarts,
            "uptime_usec": max(uptime, 0),
            "pending": self._consent.pending,
            "jobs": jobs,
            "consent_problem": self._consent.problem,
            "review": len(self._consent.review.held),
            "review_problem": self._consent.review.problem,
            "frozen": now.frozen,
            "may_answer": sorted(configuration.current().may_answer),
            **self._reported,
        }
        return (variants(status),)

    async def _recent(self, call: Call) -> Sequence[object]:
        count, options = call.arguments
        if options:
            raise BusError("org.freedesktop.DBus.Error.InvalidArgs", f"unknown option {next(iter(options))!r}")
        try:
            records = await asyncio.to_thread(journal.recent, count)
        except journal.UnreadableError as error:
            raise BusError(f"{ERROR}.Unreadable", str(error)) from error
        return ([variants(record.shown()) for record in records],)

    async def _report(self, call: Call, _caller: Caller) -> Sequence[object]:
        self._learn(plain(call.arguments[0]))
        return ()

    async def _report_calls(self, call: Call, _caller: Caller) -> Sequence[object]:
        for told in plain(call.arguments[0]):
            self._learn(told)
            shown = {key: told[key] for key in CALLED if isinstance(told.get(key), str | int)}
            self._bus.emit(PATH, NAME, "Called", "a{sv}", [variants(shown)])
        return ()

    async def _announce(self, call: Call, _caller: Caller) -> Sequence[object]:
        summary, body = (str(argument)[:MAX_REPORT_TEXT] for argument in call.arguments)
        self.announce(summary, body)
        return ()

    def announce(self, summary: str, body: str) -> None:
        """Tell the person that the rules for agents have changed; `body` has a line for each change."""
        self._audit.write(Event.CONFIG, f"{summary}: {'; '.join(body.splitlines())}", action="announced")
        self._consent.tell(summary, body)

    def _learn(self, told: Mapping[str, object]) -> None:
        for key, value in told.items():
            if key in REPORTED and isinstance(value, bool | int | str) and type(value) is type(REPORTED[key]):
                self._reported[key] = value[:MAX_REPORT_TEXT] if isinstance(value, str) else value


def load_xml() -> str:
    """The introspection data, as it is checked in."""
    return XML.read_text(encoding="utf-8")


__all__ = ["API_VERSION", "NAME", "PATH", "SERVER_UNIT", "Control", "load_xml"]
