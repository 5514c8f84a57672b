"""The user's service manager over D-Bus: units, unit files, transient units, its environment."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from omarchy_mcp.session import environment
from omarchy_mcp.session.bus import DBUS, DBUS_PATH, PROPERTIES, Bus, BusError, Signal, plain

NAME = "org.freedesktop.systemd1"
PATH = "/org/freedesktop/systemd1"
MANAGER = f"{NAME}.Manager"
UNIT = f"{NAME}.Unit"
SERVICE = f"{NAME}.Service"

JOB_TIMEOUT_S = 20.0
"""How long a start or stop may take: above every TimeoutStopSec= of ours."""


class NoManagerError(Exception):
    """There is no user service manager to start anything with."""


def unit_path(unit: str) -> str:
    """Return a unit's object path: all but letters and digits escaped, a leading digit too; unit names are ASCII."""
    escaped = "".join(
        char if char.isalnum() and not (index == 0 and char.isdigit()) else f"_{ord(char):02x}"
        for index, char in enumerate(unit)
    )
    return f"{PATH}/unit/{escaped}"


def unwant(unit: str) -> None:
    """Remove the links by which targets of the user's want a unit; the unit file itself stays known."""
    for folder in environment.unit_folders():
        for link in folder.glob(f"*.wants/{unit}"):
            link.unlink(missing_ok=True)


class Manager:
    """The service manager, spoken to by its unique name once that is known to be our own parent."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.owner = ""
        self._jobs: dict[str, asyncio.Future[str]] = {}
        self._early: dict[str, str] = {}

    @classmethod
    async def connect(cls, bus: Bus) -> "Manager":
        """Find the manager and ask it for its signals.

        Raises:
            NoManagerError: none is on the bus, or what is there is not the manager that started us.
        """
        manager = cls(bus)
        await manager._find()
        bus.listen(manager._hear)
        return manager

    async def _find(self) -> None:
        owner = await self.bus.owner(NAME)
        if owner is None:
            raise NoManagerError("no user service manager on the session bus (org.freedesktop.systemd1)")
        # systemd lets others replace it on the bus; what started us is what we talk to.
        pid = (await self.bus.call(DBUS, DBUS_PATH, DBUS, "GetConnectionUnixProcessID", "s", [owner])).body[0]
        if environment.get("INVOCATION_ID") and pid != os.getppid():
            raise NoManagerError(f"process {pid} owns {NAME} on the bus, but process {os.getppid()} started us")
        self.owner = owner
        self.bus.match(f"type='signal',sender='{NAME}',interface='{MANAGER}',member='Reloading'")
        await self.call("Subscribe")

    async def call(
        self, member: str, signature: str = "", body: Sequence[object] = (), *, fds: Sequence[int] = ()
    ) -> list[Any]:
        """Call a method of the manager.

        Raises:
            BusError: as the bus or the manager says.
        """
        return (await self.bus.call(self.owner, PATH, MANAGER, member, signature, body, fds=fds)).body

    async def job(self, member: str, unit: str) -> str:
        """StartUnit, StopUnit, RestartUnit or ReloadUnit, waited for; returns the job's result, "done" when well."""
        rule = f"type='signal',path='{PATH}',interface='{MANAGER}',member='JobRemoved',arg2='{unit}'"
        self.bus.match(rule)
        try:
            (job,) = await self.call(member, "ss", [unit, "replace"])
            if job in self._early:
                return self._early.pop(job)
            waiting = self._jobs[job] = asyncio.get_running_loop().create_future()
            return await asyncio.wait_for(waiting, JOB_TIMEOUT_S)
        except TimeoutError as error:
            raise BusError(f"{DBUS}.Error.Timeout", f"{member} {unit} took over {JOB_TIMEOUT_S:g} s") from error
        finally:
            self.bus.unmatch(rule)
            self._early.clear()

    def _hear(self, signal: Signal) -> None:
        if signal.sender != self.owner or signal.member != "JobRemoved":
            return
        _, job, _, result = signal.body
        waiting = self._jobs.pop(job, None)
        if waiting is None:
            self._early[job] = result
        elif not waiting.done():
            waiting.set_result(result)

    async def properties(self, unit: str, interface: str) -> dict[str, Any]:
        """All properties of a unit on one interface (UNIT, SERVICE …), unwrapped."""
        reply = await self.bus.call(self.owner, unit_path(unit), PROPERTIES, "GetAll", "s", [interface])
        unwrapped: dict[str, Any] = plain(reply.body[0])
        return unwrapped

    async def environment(self) -> dict[str, str]:
        """The environment units get, as it is now; entries that are not NAME=VALUE are left out."""
        reply = await self.bus.call(self.owner, PATH, PROPERTIES, "Get", "ss", [MANAGER, "Environment"])
        return dict(entry.split("=", 1) for entry in plain(reply.body[0]) if "=" in entry)

    async def units(self, pattern: str) -> Mapping[str, str]:
        """Loaded units whose names match a glob, with their active state."""
        (rows,) = await self.call("ListUnitsByPatterns", "asas", [[], [pattern]])
        return {row[0]: row[3] for row in rows}

    async def file_state(self, unit: str) -> str:
        """A unit file's state: enabled, disabled, linked, masked …; "" when there is no such file."""
        try:
            (state,) = await self.call("GetUnitFileState", "s", [unit])
        except BusError:
            return ""
        return str(state)

    def watch(self, unit: str, interface: str = "") -> str:
        """Receive a unit's property changes from now on, of one interface or of all; returns the rule for unmatch."""
        rule = f"type='signal',path='{unit_path(unit)}',interface='{PROPERTIES}',member='PropertiesChanged'"
        if interface:
            rule += f",arg0='{interface}'"
        self.bus.match(rule)
        return rule

    def changes(self, signal: Signal) -> tuple[str, dict[str, Any]] | None:
        """Read a property change the manager sent: the interface and its new values; None for any other signal."""
        if signal.sender != self.owner or signal.member != "PropertiesChanged":
            return None
        interface, values, _ = signal.body
        return interface, plain(values)
