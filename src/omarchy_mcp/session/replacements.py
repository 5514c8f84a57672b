"""Whether another program shows something else in the place of a notification of ours.

Any program may: a notification server replaces by number and asks nobody.  What is clicked then is the other's text,
and the answer comes as ours.  The server does not tell of it, so the bus is asked to show what is sent to it, while
there is a notification to be answered and no longer; nothing but the number is looked at.
"""

import asyncio
import logging
from collections.abc import Callable

from omarchy_mcp.session.bus import DBUS, DBUS_PATH, Bus, BusError, Call

logger = logging.getLogger(__name__)

RULE = "type='method_call',interface='org.freedesktop.Notifications',member='Notify'"


class Replacements:
    """Hears of notifications that take the place of one that is there."""

    def __init__(self, own: str, replaced: Callable[[int], None]) -> None:
        """`own` is the unique name whose notifications are ours; `replaced` is told the number."""
        self._own = own
        self._replaced = replaced
        self._beginning = asyncio.Lock()
        self._bus: Bus | None = None

    async def begin(self) -> bool:
        """Hear from now on; false when the bus shows us nothing."""
        async with self._beginning:
            if self._bus is not None and self._bus.alive:
                return True
            try:
                bus = await Bus.connect()
            except BusError as error:
                logger.warning("cannot see whether notifications are replaced: %s", error)
                return False
            bus.overhear(self._hear)
            try:
                await bus.call(DBUS, DBUS_PATH, f"{DBUS}.Monitoring", "BecomeMonitor", "asu", [[RULE], 0])
            except BaseException as error:
                bus.leave()
                if not isinstance(error, BusError):
                    raise
                logger.warning("cannot see whether notifications are replaced: %s", error)
                return False
            self._bus = bus
            return True

    def end(self) -> None:
        """Hear no more."""
        if self._bus is not None:
            self._bus.leave()
            self._bus = None

    def _hear(self, call: Call) -> None:
        if call.sender != self._own and call.member == "Notify":
            match call.arguments:
                case [_, int(number), *_] if number:
                    self._replaced(number)
