"""The two units of the product as the person sees them: one state, and the verbs that change it."""

import asyncio
import logging
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from omarchy_mcp.policy.callers import JOB_SLICE, SERVER_UNIT, SOCKET_UNIT
from omarchy_mcp.session.bus import Bus, BusError, Signal
from omarchy_mcp.session.contract import ERROR
from omarchy_mcp.session.jobs import UNFINISHED
from omarchy_mcp.session.manager import MANAGER, SERVICE, UNIT, Manager, unit_path, unwant
from omarchy_mcp.session.pause import Pause

logger = logging.getLogger(__name__)

SOCKET_FILE = Path(__file__).resolve().parents[3] / "systemd" / SOCKET_UNIT
SOCKET = "org.freedesktop.systemd1.Socket"


class State(StrEnum):
    """What the bar shows (contract)."""

    STOPPED = "stopped"
    STARTING = "starting"
    SERVING = "serving"
    FROZEN = "frozen"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The two units at one moment."""

    socket: str
    socket_result: str
    service: str
    service_result: str
    pid: int
    since_usec: int
    restarts: int
    frozen: bool
    enabled: bool
    port: int

    @property
    def state(self) -> State:
        """The one word for it.

        A held port counts as serving whether or not the process is awake: the next connection is answered.
        """
        if "failed" in (self.socket, self.service) or (
            self.service == "activating" and self.service_result != "success"
        ):
            return State.FAILED
        if self.socket != "active" and self.service not in UNFINISHED:
            return State.STOPPED
        if self.frozen:
            return State.FROZEN
        return State.STARTING if self.service == "activating" else State.SERVING

    @property
    def problem(self) -> str:
        """Why the state is failed, in words, or ""."""
        if self.state is not State.FAILED:
            return ""
        if self.socket == "failed":
            if self.socket_result == "resources":
                return "the port cannot be held: another program listens on it (ss -ltnp shows which); then start again"
            return f"the socket failed ({self.socket_result}); start repairs it"
        return f"the server does not start ({self.service_result}); journalctl --user -u {SERVER_UNIT} says why"


def port_of(listen: list[Any]) -> int:
    """The port in a socket unit's Listen property, 0 when there is none."""
    ports = (address.rpartition(":")[2] for _, address in listen)
    return next((int(port) for port in ports if port.isdigit()), 0)


class Units:
    """The socket and the service, driven through the service manager."""

    def __init__(self, bus: Bus, manager: Manager, pause: Pause) -> None:
        self._bus = bus
        self._manager = manager
        self._pause = pause
        self._paths = {unit_path(unit) for unit in (SOCKET_UNIT, SERVER_UNIT)}
        self._freezer = ""
        self._looking = asyncio.Lock()
        self._last: Snapshot | None = None
        self.changed = asyncio.Event()
        """Set when one of them may have changed since they were looked at last."""
        self.changed.set()

    def watch(self) -> None:
        """Receive changes of the units from now on."""
        for unit in (SOCKET_UNIT, SERVER_UNIT, JOB_SLICE):
            self._manager.watch(unit)
        self._bus.match(f"type='signal',interface='{MANAGER}',member='UnitFilesChanged'")
        self._bus.listen(self._hear)

    def _hear(self, signal: Signal) -> None:
        ours = signal.path in self._paths or signal.member == "UnitFilesChanged" or self._freezes(signal)
        if signal.sender == self._manager.owner and ours:
            self.changed.set()

    def _freezes(self, signal: Signal) -> bool:
        """Whether the jobs' slice is frozen or thawed: the rest that is told of it, at every job, changes nothing."""
        changed = self._manager.changes(signal) if signal.path == unit_path(JOB_SLICE) else None
        before = self._freezer
        if changed is not None:
            self._freezer = changed[1].get("FreezerState", before)
        return self._freezer != before

    async def look(self) -> Snapshot:
        """How the units are: what was seen last, unless something has changed since.

        The bus delivers a change before it delivers any call that was made after it.
        """
        async with self._looking:
            if self.changed.is_set() or self._last is None:
                self.changed.clear()
                self._last = await self._ask()
            return self._last

    async def _ask(self) -> Snapshot:
        socket, socket_more, service, service_more, jobs, enabled = await asyncio.gather(
            self._manager.properties(SOCKET_UNIT, UNIT),
            self._manager.properties(SOCKET_UNIT, SOCKET),
            self._manager.properties(SERVER_UNIT, UNIT),
            self._manager.properties(SERVER_UNIT, SERVICE),
            self._manager.properties(JOB_SLICE, UNIT),
            self._manager.file_state(SOCKET_UNIT),
        )
        return Snapshot(
            socket=socket["ActiveState"],
            socket_result=socket_more["Result"],
            service=service["ActiveState"],
            service_result=service_more["Result"],
            pid=service_more["MainPID"],
            since_usec=service["ActiveEnterTimestampMonotonic"] if service["ActiveState"] == "active" else 0,
            restarts=service_more["NRestarts"],
            frozen=self._pause.active or jobs.get("FreezerState", "running") != "running",
            port=port_of(socket_more.get("Listen", [])),
            enabled=enabled in ("enabled", "enabled-runtime"),
        )

    async def start(self) -> None:
        """Enable and start the socket; a failed state of either unit is cleared first.

        A unit file that is no longer known (`systemctl disable` takes the link to it away) is linked again.
        """
        state = await self._manager.file_state(SOCKET_UNIT)
        file = SOCKET_UNIT if state else str(SOCKET_FILE)
        runtime = state.endswith("-runtime")
        await self._manager.call("EnableUnitFiles", "asbb", [[file], runtime, False])
        await self._manager.call("Reload")
        for unit in (SOCKET_UNIT, SERVER_UNIT):
            try:
                await self._manager.call("ResetFailedUnit", "s", [unit])
            except BusError:
                logger.debug("%s is not loaded, so not failed", unit)
        await self._run("StartUnit", SOCKET_UNIT)

    async def stop(self) -> None:
        """Let nothing want the socket any more, then stop it and the service: in this order nothing starts it again.

        Not DisableUnitFiles: it would take away the link to the unit file too, and Start would have nothing to start.
        """
        await asyncio.to_thread(unwant, SOCKET_UNIT)
        await self._manager.call("Reload")
        for unit in (SOCKET_UNIT, SERVER_UNIT):
            await self._run("StopUnit", unit)

    async def restart(self) -> None:
        """Restart the service; the socket keeps listening."""
        await self._run("RestartUnit", SERVER_UNIT)

    async def reload(self) -> None:
        """Have the server read its configuration again."""
        if (await self._manager.properties(SERVER_UNIT, UNIT))["ActiveState"] != "active":
            raise BusError(f"{ERROR}.NotRunning", "cannot reload: the server is not running; it reads at its start")
        await self._run("ReloadUnit", SERVER_UNIT)

    async def _run(self, member: str, unit: str) -> None:
        result = await self._manager.job(member, unit)
        if result not in ("done", "skipped"):
            snapshot = await self.look()
            why = snapshot.problem or f"the service manager says {result!r}"
            raise BusError(f"{ERROR}.Refused", f"cannot {member.removesuffix('Unit').lower()} {unit}: {why}")
