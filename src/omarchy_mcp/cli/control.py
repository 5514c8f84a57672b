"""The control service as its client sees it, and the service manager's own view where it does not answer.

Every wait has an end: a service that hangs is said to hang within ANSWER_S.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from omarchy_mcp.cli.exits import HANGING, CtlError, Exit, is_absent, status_for
from omarchy_mcp.policy.callers import CONTROL_UNIT, SERVER_UNIT, SOCKET_UNIT
from omarchy_mcp.session.bus import PROPERTIES, Bus, BusError, BusGoneError, Reply, plain
from omarchy_mcp.session.contract import ERROR, NAME, PATH
from omarchy_mcp.session.manager import MANAGER
from omarchy_mcp.session.manager import NAME as SYSTEMD
from omarchy_mcp.session.manager import PATH as SYSTEMD_PATH

PEER = "org.freedesktop.DBus.Peer"

OURS = (SOCKET_UNIT, SERVER_UNIT, CONTROL_UNIT)

ANSWER_S = 4.5
"""How long the control service may take to answer, its start by the bus included."""

MANAGER_S = 2.0
"""How long the service manager may take; it is asked when something is wrong already."""

ACT_S = 45.0
"""How long a verb may take once the service was seen to answer: it waits for two units, 20 s each at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitView:
    """One unit, as the service manager has it."""

    name: str
    load: str
    active: str

    @property
    def words(self) -> str:
        """How it is, in one word."""
        return self.active if self.load == "loaded" else self.load


async def connect() -> Bus:
    """Connect to the session bus.

    Raises:
        CtlError: there is none, or it does not answer.
    """
    try:
        return await asyncio.wait_for(Bus.connect(), ANSWER_S)
    except BusGoneError as error:
        why = error.__cause__.strerror if isinstance(error.__cause__, OSError) else None
        text = f"cannot connect to the session bus: {why.lower()}" if why else error.text
        raise CtlError(text, Exit.NOT_RUNNING, error.name) from error
    except TimeoutError as error:
        raise CtlError("cannot connect to the session bus: it does not answer", Exit.NOT_RUNNING) from error


@asynccontextmanager
async def connected() -> AsyncIterator[Bus]:
    """A connection to the session bus, for as long as it takes.

    Raises:
        CtlError: as `connect`.
    """
    bus = await connect()
    try:
        yield bus
    finally:
        await bus.close()


async def ask(
    bus: Bus, member: str, signature: str = "", body: Sequence[object] = (), *, seconds: float = ANSWER_S
) -> Reply:
    """Call a method of the control service, which the bus starts when it does not run.

    Raises:
        CtlError: it answered with an error, or not at all.
    """
    try:
        return await bus.call(NAME, PATH, NAME, member, signature, body, timeout=seconds)
    except BusError as error:
        raise await explain(bus, error) from error


async def act(bus: Bus, member: str) -> None:
    """Call a method that takes its time; first see that somebody is there who will do it.

    Raises:
        CtlError: nobody is, or it could not be done.
    """
    try:
        await bus.call(NAME, PATH, PEER, "Ping", timeout=ANSWER_S)
    except BusError as error:
        raise await explain(bus, error) from error
    await ask(bus, member, seconds=ACT_S)


async def properties(bus: Bus, *, activate: bool) -> Reply:
    """The properties of the control service, and who it is.

    Raises:
        BusError: as the bus says.
    """
    return await bus.call(NAME, PATH, PROPERTIES, "GetAll", "s", [NAME], timeout=ANSWER_S, activate=activate)


async def units(bus: Bus) -> Mapping[str, UnitView]:
    """Our units as the service manager has them; empty when it cannot be asked."""
    try:
        reply = await bus.call(
            SYSTEMD, SYSTEMD_PATH, MANAGER, "ListUnitsByNames", "as", [list(OURS)], timeout=MANAGER_S
        )
    except BusError:
        return {}
    rows = plain(reply.body[0])
    return {row[0]: UnitView(name=row[0], load=row[2], active=row[3]) for row in rows}


async def explain(bus: Bus, error: BusError) -> CtlError:
    """What an error means, with what the service manager says where the service itself cannot."""
    if isinstance(error, BusGoneError):
        return CtlError("the session bus went away", Exit.NOT_RUNNING, error.name)
    if not is_absent(error.name) and error.name not in HANGING:
        return CtlError(error.text or error.name, status_for(error.name), error.name)
    seen = await units(bus)
    more = (second_view(seen),) if seen else ()
    if error.name in HANGING:
        text = (
            f"the control service does not answer; 'systemctl --user kill -s KILL {CONTROL_UNIT}' ends it, "
            "and the bus starts it again"
        )
        return CtlError(text, Exit.FAILED, error.name, more)
    text, status = absence(seen.get(CONTROL_UNIT))
    return CtlError(text, status, error.name, more)


def absence(unit: UnitView | None) -> tuple[str, Exit]:
    """Why the control service could not be started, and the exit status for it."""
    what = "cannot start the control service"
    if unit is None:
        return f"{what}: no user service manager on the session bus", Exit.NOT_RUNNING
    match unit.load:
        case "masked":
            advice = f"'systemctl --user unmask {CONTROL_UNIT}' undoes that"
            return f"{what}: {CONTROL_UNIT} is masked; {advice}", Exit.NOT_RUNNING
        case "not-found":
            return f"{what}: {CONTROL_UNIT} is not installed; omarchy-mcp-setup installs it", Exit.NOT_INSTALLED
        case "loaded" if unit.active == "inactive":
            advice = "its bus activation file is missing; omarchy-mcp-setup installs it"
            return f"{what}: {advice}", Exit.NOT_INSTALLED
        case _:
            advice = f"'journalctl --user -u {CONTROL_UNIT}' says why"
            return f"{what}: {CONTROL_UNIT} is {unit.words}; {advice}", Exit.NOT_RUNNING


def second_view(seen: Mapping[str, UnitView]) -> str:
    """The units in one line."""
    return "the service manager says: " + ", ".join(f"{name} {seen[name].words}" for name in OURS if name in seen)


UNREADABLE = f"{ERROR}.Unreadable"
