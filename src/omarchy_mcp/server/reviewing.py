"""What is held for review: the installed commands are told to the control service, which knows those of before.

A change of the commands is told when it happens.  Where the control service cannot say what is held, everything that
is guarded is.
"""

import logging
from collections.abc import Callable

from omarchy_mcp.desktop.inventory import seen
from omarchy_mcp.desktop.omarchy import Installed, NoOmarchyError, Omarchy
from omarchy_mcp.desktop.session import INSTALLED
from omarchy_mcp.policy.review import NOTHING_HELD, Held
from omarchy_mcp.session.bus import DBUS, Bus, BusError, Signal
from omarchy_mcp.session.contract import NAME, PATH
from omarchy_mcp.session.review import row_of
from omarchy_mcp.session.watching import Watch

logger = logging.getLogger(__name__)

SETTLE_S, SETTLE_MOST_S = 1.0, 5.0
"""An update is many changes: to look takes a second or two of work, which is worth it once they are over."""

LOOK_S = 2.0
"""How often the commands are looked at where the kernel does not tell of changes."""

AGAIN_S = 30.0
"""How soon they are looked at again when they could not be, or nobody could be told."""

UNKNOWN = Held(guarded="whether it is new is not known while the control service does not answer")


class Reviewing:
    """Knows what is held of the commands that are installed."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._known: tuple[Installed, Held] | None = None
        self._told: Installed | None = None
        self._watch: Watch | None = None
        self._folder = INSTALLED
        bus.match(f"type='signal',sender='{DBUS}',member='NameOwnerChanged',arg0='{NAME}'")
        bus.listen(self._hear)

    async def held(self, installed: Installed, *, anew: bool = False, activate: bool = True) -> Held:
        """What is held; with `anew` what is held is asked for again, for it may have been acknowledged since.

        With `activate` the control service is started to say it.
        """
        known = self._known
        before = known[1] if known is not None and known[0] is installed else None
        if before is not None and (before == NOTHING_HELD or not anew):
            return before
        rows = [row_of(each) for each in seen(installed.registry, installed.ratings)]
        try:
            reply = await self._bus.call(NAME, PATH, NAME, "Compare", "a(ssasass)", [rows], activate=activate)
        except BusError as error:
            logger.log(logging.WARNING if activate else logging.INFO, "cannot learn what is held for review: %s", error)
            return UNKNOWN
        self._told = installed
        now = Held(routes=dict(reply.body[0]))
        if now != before:  # of what is the same, what was made for it stays
            self._known = installed, now
            return now
        return before

    async def follow(self, omarchy: Omarchy, looked: Callable[[], None]) -> None:
        """Look at the commands now and whenever they may have changed; `looked` is called after each look."""
        omarchy.heard = self._loaded
        told = woken = True
        while True:
            watch = self._watch = await self._watch_for(omarchy)
            try:
                watch.arm()
                told = await self._look(omarchy, looked, insist=not told and not woken)
                woken = await watch.wait(LOOK_S if watch.problem else None if told else AGAIN_S)
            finally:
                watch.close()

    async def _watch_for(self, omarchy: Omarchy) -> Watch:
        try:
            self._folder = (await omarchy.session()).omarchy
        except BusError as error:
            logger.warning("cannot tell where Omarchy is: %s", error)
        return Watch(self._folder / "bin", folder=True, settle_s=SETTLE_S, most_s=SETTLE_MOST_S)

    async def _look(self, omarchy: Omarchy, looked: Callable[[], None], *, insist: bool) -> bool:
        """Have the control service told what there is now; returns whether it was.

        It is started for a change, and where it has not come by itself for a while; not because it was stopped.
        """
        try:
            installed = await omarchy.look()
        except (NoOmarchyError, BusError) as error:
            logger.warning("cannot look at the commands: %s", error)
            installed = None
        looked()
        if installed is None:
            return False
        changed = self._told is not None and self._told is not installed
        return await self.held(installed, activate=changed or insist) is not UNKNOWN

    def _loaded(self, installed: Installed) -> None:
        """Another Omarchy may have been found by a call: from now on that is the one to watch."""
        if installed.path != self._folder and self._watch is not None:
            self._watch.wake()

    def _hear(self, signal: Signal) -> None:
        """Another control service has to be told anew, and may know other things."""
        if signal.sender == DBUS and signal.member == "NameOwnerChanged" and signal.body[0] == NAME:
            self._known = None
            if signal.body[2] and self._watch is not None:
                self._watch.wake()
