"""Running what the gate let through, and putting what came of it into an answer."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omarchy_mcp.server.gate import Authorized
from omarchy_mcp.server.progress import PROGRESS_S, Progress
from omarchy_mcp.server.recording import CallRecord, Recorder
from omarchy_mcp.server.told import Told
from omarchy_mcp.session.jobs import EXEC_FAILED, Environment, Exit, Job, Jobs, Origin, SpawnError
from omarchy_mcp.session.pause import REASON, Pause
from omarchy_mcp.session.records import Outcome

PROBE = "probe"
"""What stands for the route of a fixed command of ours."""

PROBE_BYTES = 1 << 20
MOST_SAID = 2_000
"""Characters of what a program says on standard error that are looked at."""

STOP_S = 4.0
"""How long the answer to a stop waits for the end: the grace before SIGKILL, and a little."""

LOST = "still running; what it printed before the server was restarted is lost"
STILL = "still running; it goes on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a command: `job` is set when it goes on."""

    outcome: Outcome
    reason: str = ""
    exit: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    job: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a program said that was run to look at something; `whole` when nothing of its output was left out."""

    outcome: Outcome
    reason: str = ""
    data: bytes = b""
    whole: bool = True
    said: str = ""


class Runner:
    """Starts authorized commands and waits for them."""

    def __init__(self, jobs: Jobs | None, recorder: Recorder, pause: Pause, no_jobs_reason: str = "") -> None:
        """Without `jobs` every run answers with the reason: there is no service manager to start anything."""
        self._jobs = jobs
        self._pause = pause
        self._recorder = recorder
        self._no_jobs_reason = no_jobs_reason
        self._watchers: set[asyncio.Task[None]] = set()
        self._told = Told()

    async def run(
        self,
        allowed: Authorized,
        call: CallRecord,
        wait_s: float,
        limit: int,
        progress: Progress | None = None,
    ) -> Ran:
        """Run a command and wait at most `wait_s` for it; one that takes longer goes on as a job.

        A client that goes away before it was told a job's number takes the job with it.
        """
        if self._jobs is None:
            return Ran(outcome=Outcome.ERROR, reason=f"cannot run anything: {self._no_jobs_reason}")
        if self._pause.active:  # since the call came in: it may have waited for a person
            return Ran(outcome=Outcome.REFUSED, reason=REASON)
        origin = Origin(client=call.client, tool=call.tool, route=call.route)
        try:
            job = await self._jobs.start(call.id, allowed.argv, origin, allowed.session.env, limit)
        except SpawnError as error:
            outcome = Outcome.NOT_INSTALLED if error.missing else Outcome.ERROR
            return Ran(outcome=outcome, reason=f"cannot run '{call.route}': {error}")
        try:
            done = await wait_for(job, wait_s, progress)
        except asyncio.CancelledError:
            self._jobs.end(job)
            raise
        if done:
            return finished(job)
        return self._left_running(job)

    async def probe(self, argv: Sequence[str], call: CallRecord, env: Environment, deadline_s: float) -> Ran:
        """Run a fixed command of ours, with nothing of a client's in it, and end it at the deadline."""
        if self._jobs is None:
            return Ran(outcome=Outcome.ERROR, reason=self._no_jobs_reason)
        origin = Origin(client=call.client, tool=call.tool, route=PROBE)
        try:
            job = await self._jobs.start(call.id, argv, origin, env, PROBE_BYTES)
        except SpawnError as error:
            return Ran(outcome=Outcome.NOT_INSTALLED if error.missing else Outcome.ERROR, reason=str(error))
        try:
            done = await job.wait(deadline_s)
        finally:
            if not job.exited.is_set():
                self._jobs.end(job)
        return finished(job) if done else Ran(outcome=Outcome.TIMED_OUT, reason=f"no answer within {deadline_s:g} s")

    async def look(
        self,
        allowed: Authorized,
        argv: Sequence[str],
        call: CallRecord,
        deadline_s: float,
        limit: int,
        stdin: bytes | None = None,
    ) -> Looked:
        """Run a program for an authorized look, and end it at the deadline; what it leaves on purpose may live on."""
        if self._jobs is None:
            return Looked(outcome=Outcome.ERROR, reason=self._no_jobs_reason)
        if self._pause.active:
            return Looked(outcome=Outcome.REFUSED, reason=REASON)
        origin = Origin(client=call.client, tool=call.tool, route=f"{PROBE} {Path(argv[0]).name}")
        try:
            job = await self._jobs.start(secrets.token_hex(6), argv, origin, allowed.session.env, limit, stdin)
        except SpawnError as error:
            return Looked(outcome=Outcome.NOT_INSTALLED if error.missing else Outcome.ERROR, reason=str(error))
        try:
            over = await job.wait(deadline_s)
        finally:
            if not job.exited.is_set():
                self._jobs.end(job)
        self._jobs.done(job)
        outcome = outcome_of(job) if over else Outcome.TIMED_OUT
        return Looked(
            outcome=outcome,
            data=job.stdout.data() if job.stdout else b"",
            whole=job.stdout is not None and not job.stdout.truncated and not job.overflowed,
            said=job.stderr.text()[:MOST_SAID] if job.stderr else "",
        )

    def _left_running(self, job: Job) -> Ran:
        assert self._jobs is not None  # noqa: S101 - a job exists, so did what started it
        self._jobs.hand_over(job)
        self._told.add(job)
        self.watch(job)
        return so_far(job)

    def adopt(self, job: Job) -> None:
        """Take over a job an earlier run of ours started: agents may ask about it as before."""
        if not job.origin.route.startswith(PROBE):
            self._told.add(job)
        self.watch(job)

    def told(self, number: str, client: str) -> Job | None:
        """A job this client was told the number of; None when there is none that is still known."""
        return self._told.find(number, client)

    async def see(self, job: Job, wait_s: float, progress: Progress | None = None) -> Ran:
        """How a job is doing, after at most so long a wait for its end."""
        return finished(job) if await wait_for(job, wait_s, progress) else so_far(job)

    async def stop(self, job: Job) -> Ran:
        """End every process of a job; `ok` once nothing of it is left."""
        assert self._jobs is not None  # noqa: S101 - a job exists, so did what started it
        if not job.ended.is_set():
            await self._jobs.stop(job)
        try:
            await asyncio.wait_for(job.ended.wait(), STOP_S)
        except TimeoutError:
            return so_far(job)
        return replace(finished(job), outcome=Outcome.OK, reason="it is over", job=job.id)

    def watch(self, job: Job) -> None:
        """Record a job's end when it comes."""
        watcher = asyncio.ensure_future(self._record_end(job))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)

    async def _record_end(self, job: Job) -> None:
        await job.exited.wait()
        how = job.exit or Exit()
        origin = (job.origin.client, job.origin.tool, job.origin.route)
        self._recorder.job_ended(job.id, origin, outcome_of(job), how.status, how.signal)

    def close(self) -> None:
        """Stop watching; the jobs go on."""
        for watcher in self._watchers:
            watcher.cancel()


async def wait_for(job: Job, wait_s: float, progress: Progress | None) -> bool:
    """Wait for a job's main process, saying so now and then; returns whether it is over."""
    waited = 0.0
    while True:
        step = min(PROGRESS_S, wait_s - waited)
        if await job.wait(max(step, 0.0)):
            return True
        waited += step
        if waited >= wait_s:
            return False
        if progress is not None:
            await progress(waited, wait_s, "the command still runs")


def outcome_of(job: Job) -> Outcome:
    """How a job that is over ended."""
    if job.overflowed or job.exit is None or job.exit.status != 0:
        silent = not any(output.total for output in job.outputs)
        never_ran = silent and job.exit is not None and job.exit.status == EXEC_FAILED
        return Outcome.NOT_INSTALLED if never_ran else Outcome.FAILED
    return Outcome.OK


def finished(job: Job) -> Ran:
    """A job's output and end as an answer."""
    outcome = outcome_of(job)
    reason = ""
    if job.overflowed:
        reason = "it printed more than anybody will read, and was ended"
    elif outcome is Outcome.NOT_INSTALLED:
        reason = "its program could not be executed"
    return Ran(
        outcome=outcome,
        reason=reason,
        exit=job.exit.status if job.exit else None,
        signal=job.exit.signal if job.exit else None,
        stdout=job.stdout.text() if job.stdout else "",
        stderr=job.stderr.text() if job.stderr else "",
        truncated=any(output.truncated for output in job.outputs),
    )


def so_far(job: Job) -> Ran:
    """A job that runs still, with what it has printed."""
    now = finished(job)
    reason = STILL if job.outputs else LOST
    return replace(now, outcome=Outcome.RUNNING, reason=reason, exit=None, signal=None, job=job.id)
