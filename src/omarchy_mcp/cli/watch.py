"""The state and every change of it, one JSON object a line, for the shell's own display.

It outlives the control service: when that ends it says so, and when it is back it goes on.  It never starts it
but at the beginning, and not even then with --no-start.
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from typing import Any

from omarchy_mcp.cli import control
from omarchy_mcp.cli.exits import CtlError, Exit, is_absent
from omarchy_mcp.cli.options import Request
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.session.bus import DBUS, PROPERTIES, Bus, BusError, Signal, plain
from omarchy_mcp.session.contract import NAME, PATH

UNKNOWN: Mapping[str, object] = {
    "type": "state",
    "control": False,
    "state": "unknown",
    "pending_questions": 0,
    "pending_review": 0,
    "version": "",
    "api_version": 0,
}
"""What is written while there is no control service."""

KEYS: Mapping[str, str] = {
    "State": "state",
    "PendingQuestions": "pending_questions",
    "PendingReview": "pending_review",
    "Version": "version",
    "ApiVersion": "api_version",
}
"""Properties, and the names they are written under."""


class Watch:
    """What is known, and who said it."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._owner = ""
        self._state: dict[str, object] = {}
        self._written: object = None
        self.appeared = asyncio.Event()
        """Set when the service may be there anew."""

    def listen(self) -> None:
        """Receive signals from now on."""
        self._bus.listen(self.hear)
        self._bus.match(f"type='signal',sender='{NAME}',path='{PATH}'")
        self._bus.match(f"type='signal',sender='{DBUS}',interface='{DBUS}',member='NameOwnerChanged',arg0='{NAME}'")

    async def read(self, *, activate: bool) -> None:
        """Ask how things are and write it.

        Signals of the service are not heard until it has answered: what they say is in the answer.
        """
        self._owner = ""
        try:
            reply = await control.properties(self._bus, activate=activate)
        except BusError as error:
            problem = "" if is_absent(error.name) and not activate else error.text
            self.write_state({**UNKNOWN, "problem": problem} if problem else UNKNOWN)
            return
        self._owner = reply.sender
        self._state = {**UNKNOWN, "control": True, **named(plain(reply.body[0]))}
        self.write_state(self._state)

    def hear(self, said: Signal) -> None:
        """Write what a signal says, if it is one of ours."""
        if said.sender == DBUS and said.member == "NameOwnerChanged" and said.body[:1] == [NAME]:
            self._owner_changed(str(said.body[2]))
        elif said.sender != self._owner or said.path != PATH:
            return
        elif said.interface == PROPERTIES and said.member == "PropertiesChanged":
            if said.body[0] == NAME:
                self._state |= named(plain(said.body[1]))
                self.write_state(self._state)
        elif said.interface == NAME:
            event = event_of(said)
            if event is not None:
                write(event)

    def _owner_changed(self, owner: str) -> None:
        if not owner:
            self._owner = ""
            self.write_state(UNKNOWN)
        elif owner != self._owner:
            self.appeared.set()

    def write_state(self, state: Mapping[str, object]) -> None:
        """Write the state, unless it is what was written last."""
        if state != self._written:
            self._written = dict(state)
            write(state)


def named(properties: Mapping[str, object]) -> dict[str, object]:
    """Properties under the names they are written with."""
    return {KEYS[name]: value for name, value in properties.items() if name in KEYS}


def event_of(said: Signal) -> dict[str, object] | None:
    """A signal of the control service as an object; None for one not known here."""
    body = [plain(value) for value in said.body]
    match (said.member, body):
        case ("Called", [dict() as call]):
            return {"type": "called"} | {key: value for key, value in call.items() if key != "type"}
        case ("QuestionOpened", [id_]):
            return {"type": "question_opened", "id": id_}
        case ("QuestionClosed", [id_, outcome]):
            return {"type": "question_closed", "id": id_, "outcome": outcome}
        case _:
            return None


def write(value: Mapping[str, object]) -> None:
    """Write one object on one line."""
    print(json.dumps(value, separators=(",", ":")), flush=True)


async def keep_reading(watch: Watch) -> None:
    """Read anew whenever the service has come back; ends only with the process."""
    while True:
        await watch.appeared.wait()
        watch.appeared.clear()
        await watch.read(activate=False)


async def run(request: Request, output: Output) -> int:
    """Watch until interrupted, nobody reads, or the bus is gone.

    Raises:
        CtlError: there is no bus (any more).
    """
    bus = await control.connect()
    watch = Watch(bus)
    watch.listen()
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    fd = output.hangup()
    if fd is not None:
        loop.add_reader(fd, over.set)  # a pipe that is only written to is readable when its reader is gone
    await watch.read(activate=request.start)
    tasks: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(over.wait()),
        asyncio.ensure_future(keep_reading(watch)),
    ]
    await asyncio.wait([*tasks, bus.gone], return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    if over.is_set():
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        await bus.close()
        return Exit.DONE
    raise CtlError("the session bus went away", Exit.NOT_RUNNING)
