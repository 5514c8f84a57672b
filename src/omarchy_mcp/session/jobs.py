"""Starting desktop commands: the only module that does.

Each command is a transient service of the user's manager, in a slice of its own: it is the manager's child,
not ours, so our sandbox does not bind it, it outlives us, and its end and exit status are the manager's to
tell.  Its output comes through pipes of ours, which the manager keeps for us when we are restarted.
"""

import asyncio
import contextlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from omarchy_mcp.policy.callers import JOB_SLICE
from omarchy_mcp.session.bus import BusError, Signal, Variant
from omarchy_mcp.session.manager import MANAGER, PATH, SERVICE, UNIT, Manager, unit_path
from omarchy_mcp.session.output import Output, given

logger = logging.getLogger(__name__)

UNITS = "app-omarchymcp-*.service"
UNIT_NAME = re.compile(r"app-omarchymcp-[a-z0-9_]+-([0-9a-f]{12})\.service")

MAX_RUNNING = 32
"""Commands that may run at once: more is a client gone wrong, not a person's work."""

STOP_GRACE_USEC = 2_000_000
"""From SIGTERM to SIGKILL, for every process of the job."""

NOTICE = 5
"""The manager's own "Started" and "Deactivated" lines about a job are not journaled: the record has them."""

EXEC_FAILED = 203
"""The manager's own exit status for a program it could not execute (systemd.exec(5))."""

UNFINISHED = ("active", "activating", "deactivating", "reloading")


class SpawnError(Exception):
    """A command was not started; the message says why, `missing` whether its program is not there."""

    def __init__(self, text: str, *, missing: bool = False) -> None:
        super().__init__(text)
        self.missing = missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a command's main process ended: an exit status or a signal's number."""

    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose call a job is: kept beside it, so that its end can be recorded by a later run of ours."""

    client: str
    tool: str
    route: str


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """A command that was started.

    `exited` is set when its main process is gone, `ended` when nothing of it is left.
    """

    id: str
    unit: str
    origin: Origin
    started: float
    stdout: Output | None = None
    stderr: Output | None = None
    exit: Exit | None = None
    overflowed: bool = False
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> bool:
        """Wait for the main process, at most so long; what the pipes hold at its end has then been read."""
        try:
            await asyncio.wait_for(self.exited.wait(), seconds)
        except TimeoutError:
            return False
        for output in self.outputs:
            output.drain()
        return True

    @property
    def outputs(self) -> list[Output]:
        """Its streams that are being read."""
        return [output for output in (self.stdout, self.stderr) if output is not None]


def unit_name(route: str, job: str) -> str:
    """Name a job's unit; the route is readable in it, the job's id makes it unique."""
    slug = re.sub(r"[^a-z0-9]+", "_", route.lower()).strip("_")[:60] or "command"
    return f"app-omarchymcp-{slug}-{job}.service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What is added to the manager's environment for one command, and what is taken from it."""

    add: Mapping[str, str]
    unset: Sequence[str]


def properties(argv: Sequence[str], origin: Origin, env: Environment, *, reads: bool = False) -> list[list[Any]]:
    """The transient unit of a command; its output streams are the first two descriptors of the message.

    With `reads` the third is its standard input, else it has none.

    ExecStartEx with no-env-expand is what hands over argv exactly: ExecStart and the systemd-run program expand
    `$` in it.  ExitType=cgroup lets live what a command leaves on purpose, such as the owner of the clipboard.
    """
    return [
        ["Description", Variant("s", f"Omarchy MCP: {origin.route}")],
        ["Type", Variant("s", "exec")],
        ["ExitType", Variant("s", "cgroup")],
        ["Slice", Variant("s", JOB_SLICE)],
        ["ExecStartEx", Variant("a(sasas)", [[argv[0], list(argv), ["no-env-expand"]]])],
        ["Environment", Variant("as", [f"{name}={value}" for name, value in env.add.items()])],
        ["UnsetEnvironment", Variant("as", list(env.unset))],
        ["WorkingDirectory", Variant("s", "~")],
        ["UMask", Variant("u", 0o022)],
        ["StandardInputFileDescriptor", Variant("h", 2)] if reads else ["StandardInput", Variant("s", "null")],
        ["StandardOutputFileDescriptor", Variant("h", 0)],
        ["StandardErrorFileDescriptor", Variant("h", 1)],
        ["TimeoutStopUSec", Variant("t", STOP_GRACE_USEC)],
        ["LogLevelMax", Variant("i", NOTICE)],
    ]


class Jobs:
    """The commands that were started and are not over."""

    def __init__(self, manager: Manager, folder: Path, keep: Callable[[str, int], None]) -> None:
        """`folder` remembers jobs across our restarts; `keep` has the service manager hold a named descriptor."""
        self._manager = manager
        self._folder = folder
        self._keep = keep
        self._jobs: dict[str, Job] = {}
        self._rules: dict[str, list[str]] = {}
        self._looking: set[asyncio.Task[None]] = set()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        manager.bus.listen(self._hear)

    @property
    def running(self) -> list[Job]:
        """Jobs whose main process runs."""
        return [job for job in self._jobs.values() if not job.exited.is_set()]

    async def start(
        self,
        job_id: str,
        argv: Sequence[str],
        origin: Origin,
        env: Environment,
        limit: int,
        stdin: bytes | None = None,
    ) -> Job:
        """Start a command with exactly this argv, this standard input, and at most `limit` bytes kept per stream.

        Raises:
            SpawnError: it was not started.
        """
        if not executable(argv[0]):
            raise SpawnError(f"{argv[0]} is not there or not executable", missing=True)
        if len(self.running) >= MAX_RUNNING:
            raise SpawnError(f"{MAX_RUNNING} commands are running already")
        job = Job(id=job_id, unit=unit_name(origin.route, job_id), origin=origin, started=time.monotonic())
        pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(2)]
        job.stdout, job.stderr = (Output(read, limit, partial(self._overflowed, job)) for read, _ in pipes)
        self._follow(job)
        self._remember(job)
        fds = [*(pipe[1] for pipe in pipes), *([given(stdin)] if stdin is not None else [])]
        unit = properties(argv, origin, env, reads=stdin is not None)
        starting = asyncio.ensure_future(self._submit(job, unit, fds))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:  # nobody would know its number: it is ended as soon as it is there
            starting.add_done_callback(partial(self._abandon, job))
            raise
        return job

    def _abandon(self, job: Job, started: "asyncio.Future[None]") -> None:
        if not started.cancelled() and started.exception() is None:
            self.end(job)

    async def _submit(self, job: Job, unit: list[list[Any]], fds: list[int]) -> None:
        """Hand a unit to the manager, with its descriptors; ours are to be closed once it has been sent."""
        try:
            await self._manager.call("StartTransientUnit", "ssa(sv)a(sa(sv))", [job.unit, "fail", unit, []], fds=fds)
        except BusError as error:
            self._over(job)
            raise SpawnError(f"the service manager did not start it: {error}") from error
        finally:
            for fd in fds:
                os.close(fd)

    async def stop(self, job: Job) -> None:
        """End every process of a job: SIGTERM, and SIGKILL after the grace; returns when that has begun."""
        try:
            await self._manager.call("StopUnit", "ss", [job.unit, "replace"])
        except BusError as error:
            logger.info("job %s could not be stopped: %s", job.id, error)

    def end(self, job: Job) -> None:
        """End every process of a job without waiting: its client has gone, and a later run of ours need not know.

        It must not: SIGTERM is a clean end to systemd, so the job would go on record once more, as one that went well.
        """
        self._forget(job)
        self._manager.bus.post(self._manager.owner, PATH, MANAGER, "StopUnit", "ss", [job.unit, "replace"])

    def done(self, job: Job) -> None:
        """What was wanted of a job has been had: a later run of ours need not know it, whatever it has left behind."""
        self._forget(job)

    def hand_over(self, job: Job) -> None:
        """Somebody was told this job's number: its output outlives a restart of ours."""
        for name, output in (("out", job.stdout), ("err", job.stderr)):
            if output is not None:
                self._keep(f"job-{job.id}-{name}", output.fd)

    async def adopt(self, kept: Mapping[str, int], limit: int) -> list[Job]:
        """Take over what an earlier run of ours started: jobs that run still, and jobs that ended meanwhile.

        A job that ended has `exited` set; its exit is known, because the manager holds on to a unit that failed
        and lets go of one that did not.
        """
        jobs = []
        for file in sorted(self._folder.glob("*.json")):
            job = recall(file)
            if job is None:
                file.unlink(missing_ok=True)
                continue
            self._follow(job)  # first, so that an end between the question and the answer is heard
            await self._look(job)
            for name, stream in (("out", "stdout"), ("err", "stderr")):
                fd = kept.get(f"job-{job.id}-{name}")
                if fd is not None:
                    setattr(job, stream, Output(fd, limit, partial(self._overflowed, job)))
            jobs.append(job)
        return jobs

    async def _look(self, job: Job) -> None:
        """Learn a unit's state by asking for it."""
        states = await self._manager.units(job.unit)
        if job.unit not in states:
            self._left(job, Exit(status=0))
            self._over(job)
            return
        for interface in (SERVICE, UNIT):
            self._changed(job, interface, await self._manager.properties(job.unit, interface))

    def _overflowed(self, job: Job) -> None:
        job.overflowed = True
        self._kill(job)

    def _kill(self, job: Job) -> None:
        self._manager.bus.post(self._manager.owner, PATH, MANAGER, "KillUnit", "ssi", [job.unit, "all", 9])

    def _follow(self, job: Job) -> None:
        """Hear of a job's end: its service's changes, and the manager letting go of a unit that did not fail.

        The unit's other changes are not asked for: unpacking them would cost more than all the rest of a run.
        """
        self._jobs[unit_path(job.unit)] = job
        removed = f"type='signal',path='{PATH}',interface='{MANAGER}',member='UnitRemoved',arg0='{job.unit}'"
        self._manager.bus.match(removed)
        self._rules[job.unit] = [self._manager.watch(job.unit, SERVICE), removed]

    def _hear(self, signal: Signal) -> None:
        if signal.sender != self._manager.owner:
            return
        if signal.member == "UnitRemoved":
            job = self._jobs.get(signal.body[1])
            if job is not None:
                self._over(job)
            return
        job = self._jobs.get(signal.path)
        change = self._manager.changes(signal) if job is not None else None
        if job is not None and change is not None:
            self._changed(job, *change)

    def _changed(self, job: Job, interface: str, values: Mapping[str, Any]) -> None:
        if interface == SERVICE and values.get("ExecMainCode"):
            self._left(job, read_exit(values["ExecMainCode"], values["ExecMainStatus"]))
        elif interface == UNIT and values.get("ActiveState") == "failed":
            self._over(job)
            self._manager.bus.post(self._manager.owner, PATH, MANAGER, "ResetFailedUnit", "s", [job.unit])

    def _expect_failure(self, job: Job) -> None:
        """The unit of a command that failed stays loaded when nothing of it is left; hear of that, and look once."""
        self._rules[job.unit].append(self._manager.watch(job.unit, UNIT))
        looking = asyncio.ensure_future(self._look_at_failure(job))
        self._looking.add(looking)
        looking.add_done_callback(self._looking.discard)

    async def _look_at_failure(self, job: Job) -> None:
        with contextlib.suppress(BusError):
            state = (await self._manager.units(job.unit)).get(job.unit)
            if state is not None and not job.ended.is_set():
                self._changed(job, UNIT, {"ActiveState": state})

    def _left(self, job: Job, how: Exit) -> None:
        """The main process is gone; the first to say so counts."""
        if job.exit is not None:
            return
        job.exit = how
        job.exited.set()
        if how.status != 0 and job.unit in self._rules:
            self._expect_failure(job)

    def _over(self, job: Job) -> None:
        """Nothing of a job is left, or it never began."""
        self._jobs.pop(unit_path(job.unit), None)
        for rule in self._rules.pop(job.unit, []):
            self._manager.bus.unmatch(rule)
        for output in job.outputs:
            output.drain()
            output.close()
        job.exit = job.exit or Exit(status=EXEC_FAILED)  # it went without ever having run
        job.exited.set()
        job.ended.set()
        self._forget(job)

    def _forget(self, job: Job) -> None:
        (self._folder / f"{job.id}.json").unlink(missing_ok=True)

    def _remember(self, job: Job) -> None:
        text = json.dumps({"unit": job.unit, **asdict(job.origin)})
        fd = os.open(self._folder / f"{job.id}.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)


def executable(program: str) -> bool:
    """Whether a program is a file we may execute."""
    return os.access(program, os.X_OK) and Path(program).is_file()


def recall(file: Path) -> Job | None:
    """Read what is remembered of a job; None when it is not one of ours."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        origin = Origin(client=kept["client"], tool=kept["tool"], route=kept["route"])
        named = UNIT_NAME.fullmatch(kept["unit"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if named is None or named[1] != file.stem:
        return None
    return Job(id=file.stem, unit=named[0], origin=origin, started=time.monotonic())


def read_exit(code: int, status: int) -> Exit:
    """Read the manager's account of a main process's end (waitid(2): CLD_EXITED is 1)."""
    return Exit(status=status) if code == os.CLD_EXITED else Exit(signal=status)
