"""The desktop's notification server: what is posted there, and what the person does with it.

Only signals of the name's present owner count: any process can emit ActionInvoked, and a signal sent to us alone
arrives whatever our match rules say.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from omarchy_mcp.session.bus import DBUS, Bus, BusError, Signal, Variant
from omarchy_mcp.session.replacements import Replacements

logger = logging.getLogger(__name__)

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"

APP_NAME = "omarchy-action"
"""Under this name Omarchy's shell shows a notification in spite of do-not-disturb, and keeps it out of its history."""

POST_S = 3.0
CRITICAL = 2

EARLY_KEPT = 64
"""Ends of notifications that are remembered while one is being posted."""

EXPIRED, DISMISSED = 1, 2
"""Reasons of NotificationClosed; 3 is our own closing."""

BUTTONLESS = ("omarchy", "quickshell")
"""Servers that say they have actions and draw no buttons for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """What whoever posted is told: an action of a notification, its end, another's in its place, another server."""

    action: Callable[[int, str], None]
    closed: Callable[[int, int], None]
    replaced: Callable[[int], None]
    owner: Callable[[bool], None]


class Notifications:
    """The notification server, whoever that is at the moment."""

    def __init__(self, bus: Bus, listener: Listener) -> None:
        self._bus = bus
        self._listener = listener
        self.owner: str | None = None
        """The server's unique name, None while there is none."""
        self.draws_buttons = False
        self._early: deque[int] = deque(maxlen=EARLY_KEPT)
        self._taken: deque[int] = deque(maxlen=EARLY_KEPT)
        self._replacements = Replacements(bus.unique_name, self._replaced)

    async def connect(self) -> None:
        """Find the server and follow its changes."""
        self._bus.match(f"type='signal',sender='{DBUS}',member='NameOwnerChanged',arg0='{NAME}'")
        self._bus.match(f"type='signal',sender='{NAME}',path='{PATH}',interface='{NAME}'")
        self._bus.listen(self._hear)
        self.owner = await self._bus.owner(NAME)

    async def post(self, summary: str, body: str, actions: Mapping[str, str], *, critical: bool) -> int:
        """Post a notification; it is shown until it is closed, if it is critical.

        Raises:
            BusError: there is no server, or it does not take it.
        """
        flat = [word for action in actions.items() for word in action]
        hints = {"urgency": Variant("y", CRITICAL if critical else 1), "transient": Variant("b", True)}  # noqa: FBT003
        owner = self._present()
        forever = 0
        arguments = [APP_NAME, 0, "", summary, body, flat, hints, forever if critical else -1]
        reply = await self._bus.call(
            owner, PATH, NAME, "Notify", "susssasa{sv}i", arguments, timeout=POST_S, activate=False
        )
        return int(reply.body[0])

    def closed_early(self, number: int) -> bool:
        """Whether a notification was closed before whoever posted it knew its number, as do-not-disturb does."""
        return number in self._early

    def replaced_early(self, number: int) -> bool:
        """Whether another program took a notification's place before whoever posted it knew its number."""
        return number in self._taken

    def _replaced(self, number: int) -> None:
        self._taken.append(number)
        self._listener.replaced(number)

    def _present(self) -> str:
        if self.owner is None:
            raise BusError(f"{DBUS}.Error.ServiceUnknown", "there is no notification server")
        return self.owner

    async def takes_answers(self) -> bool:
        """Whether actions can be chosen there; learns, too, whether it draws buttons for them.

        Raises:
            BusError: there is no server, or it does not answer.
        """
        owner = self._present()
        calls = [(await self._bus.call(owner, PATH, NAME, member, timeout=POST_S)).body for member in
                 ("GetCapabilities", "GetServerInformation")]  # fmt: skip
        capabilities, name = calls[0][0], str(calls[1][0]).lower()
        self.draws_buttons = "actions" in capabilities and not any(word in name for word in BUTTONLESS)
        return "actions" in capabilities

    async def guard(self) -> bool:
        """Hear from now on when another program takes a notification's place; false when that cannot be seen."""
        return await self._replacements.begin()

    def unguard(self) -> None:
        """Hear no more of that."""
        self._replacements.end()

    def close(self, number: int) -> None:
        """Take a notification from the screen."""
        if self.owner is not None:
            self._bus.post(self.owner, PATH, NAME, "CloseNotification", "u", [number])

    def _hear(self, signal: Signal) -> None:
        if signal.sender == DBUS and signal.member == "NameOwnerChanged" and signal.body[0] == NAME:
            self.owner = signal.body[2] or None
            self._early.clear()  # another server counts anew
            self._taken.clear()
            self._listener.owner(self.owner is not None)
        elif signal.interface == NAME and signal.path == PATH and self.owner is not None:
            if signal.sender != self.owner:
                logger.warning("ignored a %s that the notification server did not send", signal.member)
                return
            match (signal.member, signal.body):
                case ("ActionInvoked", [int(number), str(action)]):
                    self._listener.action(number, action)
                case ("NotificationClosed", [int(number), int(reason)]):
                    self._early.append(number)
                    self._listener.closed(number, reason)
