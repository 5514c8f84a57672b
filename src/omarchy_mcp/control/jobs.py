"""The commands agents have started, as the service manager has them: listed, stopped, frozen, thawed."""

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path

from omarchy_mcp.policy.callers import JOB_SLICE
from omarchy_mcp.session.bus import BusError
from omarchy_mcp.session.contract import ERROR
from omarchy_mcp.session.jobs import UNFINISHED, UNIT_NAME, UNITS, recall
from omarchy_mcp.session.manager import UNIT, Manager
from omarchy_mcp.session.pause import Pause

MOST = 256
"""Jobs that are listed; 32 may run at once, and a few more can have left something behind."""

DESCRIBED = "Omarchy MCP: "
"""Begins a unit's description; the route follows."""

ROUNDS = 5
"""How often jobs that began meanwhile are looked for while all are stopped in their tracks."""

GONE_S = 2.0
"""How long a job that was killed may take to be gone."""

GONE_LOOKS = 40

Row = Mapping[str, str | int]


class Jobs:
    """Every unit of a command that is not over."""

    def __init__(self, manager: Manager, folder: Path, pause: Pause) -> None:
        """`folder` is where the server remembers whose call each is."""
        self._manager = manager
        self._folder = folder
        self._pause = pause

    async def listed(self) -> list[Row]:
        """The jobs that are not over, the oldest first."""
        found = list((await self._units()).items())[:MOST]
        rows = await asyncio.gather(*(self._row(job, unit) for job, unit in found))
        return sorted((row for row in rows if row is not None), key=lambda row: (row["started_usec"], row["id"]))

    async def count(self) -> int:
        """How many jobs are not over."""
        return len(await self._units())

    async def _units(self) -> dict[str, str]:
        """The units of jobs that are not over, by the jobs' ids."""
        states = await self._manager.units(UNITS)
        named = ((UNIT_NAME.fullmatch(unit), state) for unit, state in states.items())
        return {name[1]: name[0] for name, state in named if name is not None and state in UNFINISHED}

    async def _row(self, job: str, unit: str) -> Row | None:
        try:
            seen = await self._manager.properties(unit, UNIT)
        except BusError:
            seen = {"ActiveState": "gone"}
        if seen["ActiveState"] not in UNFINISHED:
            return None  # it ended just now
        known = recall(self._folder / f"{job}.json")
        state = "frozen" if self._pause.active else "ending" if seen["ActiveState"] == "deactivating" else "running"
        return {
            "id": job,
            "unit": unit,
            "route": known.origin.route if known else str(seen["Description"]).removeprefix(DESCRIBED),
            "client": known.origin.client if known else "",
            "tool": known.origin.tool if known else "",
            "started_usec": seen["InactiveExitTimestamp"],
            "state": state,
        }

    async def stop(self, job: str) -> str:
        """End every process of a job; returns its unit once nothing is left.

        Raises:
            BusError: there is no such job, or the service manager would not.
        """
        unit = (await self._units()).get(job)
        if unit is None:
            raise BusError(f"{ERROR}.NotFound", "cannot stop the job: none of that id is running")
        if self._pause.active:  # what is frozen hears no other signal
            await self._signal({unit}, signal.SIGKILL)
        try:
            result = await self._manager.job("StopUnit", unit)
            fault = BusError(f"{ERROR}.Refused", f"cannot stop {unit}: the service manager says {result!r}")
        except BusError as error:
            result, fault = "failed", error
        # It may have ended by itself meanwhile; and of what is frozen the manager only ever sees the end.
        if result not in ("done", "skipped") and not await self._gone(job):
            raise fault
        return unit

    async def _gone(self, job: str) -> bool:
        """Whether nothing is left of a job, or will be in a moment."""
        for _ in range(GONE_LOOKS):
            if job not in await self._units():
                return True
            await asyncio.sleep(GONE_S / GONE_LOOKS)
        return False

    async def freeze(self) -> None:
        """Refuse new calls from now on, and freeze in place whatever runs.

        Where the kernel cannot freeze a control group, each process is stopped by a signal it cannot ignore.

        Raises:
            BusError: something goes on running; new calls are refused all the same.
        """
        self._pause.begin()
        try:
            await self._manager.call("FreezeUnit", "s", [JOB_SLICE])
        except BusError:  # nothing runs, or there is no freezer
            await self._stop_all()

    async def thaw(self) -> None:
        """Let everything go on, and take new calls."""
        try:
            await self._manager.call("ThawUnit", "s", [JOB_SLICE])
        except BusError:
            await self._signal(set((await self._units()).values()), signal.SIGCONT)
        self._pause.end()

    async def _stop_all(self) -> None:
        stopped: set[str] = set()
        for _ in range(ROUNDS):
            new = set((await self._units()).values()) - stopped
            if not new:
                return
            failed = await self._signal(new, signal.SIGSTOP)
            if failed:
                raise BusError(
                    f"{ERROR}.Refused", f"new calls are refused, but {', '.join(sorted(failed))} could not be frozen"
                )
            stopped |= new

    async def _signal(self, units: set[str], number: signal.Signals) -> set[str]:
        """Send a signal to every process of some units; returns those that could not be sent it and are still there."""
        failed = set()
        for unit in units:
            try:
                await self._manager.call("KillUnit", "ssi", [unit, "all", number])
            except BusError:
                failed.add(unit)
        return failed & set((await self._units()).values()) if failed else failed
