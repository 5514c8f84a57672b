"""Looking at the desktop by programs: each look authorized, bounded in time, and one of a few at a time."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum

from omarchy_mcp.desktop import hyprland
from omarchy_mcp.desktop.finding import program_path
from omarchy_mcp.desktop.hyprland import Rows
from omarchy_mcp.desktop.shell import call_argv
from omarchy_mcp.server.gate import Authorized
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.server.running import Looked, Runner
from omarchy_mcp.server.senses import Sense
from omarchy_mcp.session.records import Outcome

AT_ONCE = {Sense.SCREEN: 2, Sense.WINDOWS: 4, Sense.STATUS: 2, Sense.CLIPBOARD_READ: 4, Sense.CLIPBOARD_WRITE: 4}
"""Looks of one kind at the same time: programs that hang must not use up what commands need."""

NO_DESKTOP = (
    "failed to connect to a wayland",
    "failed to create display",
    "hyprland_instance_signature",
    "is hyprland running",
    "couldn't connect",
    "wayland_display",
    "no running instance",
)
"""What programs say where there is no desktop, in small letters."""


class Why(StrEnum):
    """Why nothing was seen."""

    NOTHING_THERE = "nothing_there"
    COULD_NOT_LOOK = "could_not_look"
    NOT_INSTALLED = "not_installed"
    NO_DESKTOP = "no_desktop_session"
    LOCKED = "locked"
    TIMED_OUT = "timed_out"
    BUSY = "busy"
    WITHHELD = "withheld"


OUTCOMES = {
    Why.NOTHING_THERE: Outcome.OK,
    Why.COULD_NOT_LOOK: Outcome.FAILED,
    Why.NOT_INSTALLED: Outcome.NOT_INSTALLED,
    Why.NO_DESKTOP: Outcome.FAILED,
    Why.LOCKED: Outcome.REFUSED,
    Why.TIMED_OUT: Outcome.TIMED_OUT,
    Why.BUSY: Outcome.FAILED,
    Why.WITHHELD: Outcome.REFUSED,
}


class UnseenError(Exception):
    """Nothing was seen: why, and in words for the client.  The record gets `why` alone: words may quote a program."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyes:
    """One authorized call's looks, all of them within one deadline."""

    runner: Runner
    allowed: Authorized
    call: CallRecord
    until: float

    def left(self, at_most: float = 3_600.0) -> float:
        """Seconds until the deadline."""
        return max(min(self.until - time.monotonic(), at_most), 0.0)

    def program(self, name: str) -> str:
        """Where a program is."""
        return program_path(self.allowed.session.omarchy, name)

    async def run(
        self, *argv: str, limit: int, stdin: bytes | None = None, waits: str = "", at_most: float = 3_600.0
    ) -> Looked:
        """Run a program to its end; `waits` says whom it waits for.

        Raises:
            UnseenError: it is not there, could not be started or did not end in time.
        """
        name = argv[0].rpartition("/")[2]
        looked = await self.runner.look(self.allowed, argv, self.call, self.left(at_most), limit, stdin)
        match looked.outcome:
            case Outcome.NOT_INSTALLED:
                raise UnseenError(Why.NOT_INSTALLED, f"'{name}' is not installed")
            case Outcome.TIMED_OUT:
                raise UnseenError(Why.TIMED_OUT, waits or f"'{name}' gave no answer in time")
            case Outcome.ERROR | Outcome.REFUSED:
                raise UnseenError(Why.COULD_NOT_LOOK, looked.reason)
            case Outcome.FAILED if not looked.whole:
                raise UnseenError(Why.COULD_NOT_LOOK, f"'{name}' printed more than anybody will read, and was ended")
            case _:
                return looked

    def failed(self, looked: Looked, what: str) -> UnseenError:
        """What a program's failure means."""
        said = looked.said.strip() or looked.data[:300].decode("utf-8", "replace").strip()
        if any(sign in said.lower() for sign in NO_DESKTOP) or (not said and not self.allowed.session.graphical):
            return UnseenError(Why.NO_DESKTOP, "there is no desktop session to be seen")
        return UnseenError(Why.COULD_NOT_LOOK, f"{what}{': ' + said[:300] if said else ''}")

    async def rows(self, question: str, key: str) -> Rows:
        """Ask the compositor for a list.

        Raises:
            UnseenError: it did not answer, or nothing of its answer can be read.
        """
        looked = await self.run(self.program("hyprctl"), "-j", question, limit=hyprland.MOST_BYTES, at_most=3.0)
        if looked.outcome is not Outcome.OK:
            raise self.failed(looked, f"the compositor did not list its {question}")
        found = hyprland.rows(looked.data, key)
        if found is None:
            raise self.failed(
                Looked(outcome=looked.outcome, data=looked.data[:300] if b"{" not in looked.data else b""),
                "the compositor answered something unreadable",
            )
        return found

    async def focus(self) -> str:
        """The address of the window that has the focus, "" when none has, or nobody says."""
        with contextlib.suppress(UnseenError):
            looked = await self.run(self.program("hyprctl"), "-j", "activewindow", limit=1 << 16, at_most=3.0)
            return hyprland.focus(looked.data) if looked.outcome is Outcome.OK else ""
        return ""

    async def locked(self) -> bool | None:
        """Whether the session is locked; None when nobody can say.

        The compositor knows.  Where it cannot be asked the shell is, whose "yes" counts; its "no" may be hours old.
        """
        with contextlib.suppress(UnseenError):
            looked = await self.run(self.program("hyprctl"), "locked", limit=1 << 12, at_most=2.0)
            said = hyprland.locked(looked.data) if looked.outcome is Outcome.OK else None
            if said is not None:
                return said
        with contextlib.suppress(UnseenError):
            argv = call_argv(self.allowed.session.omarchy, "lock", "isLocked", ())
            looked = await self.run(*argv, limit=1 << 12, at_most=2.0)
            if looked.outcome is Outcome.OK and hyprland.locked(looked.data):
                return True
        return None

    async def see_unlocked(self) -> None:
        """Go on only where the session is not known to be locked.

        Raises:
            UnseenError: it is.
        """
        if await self.locked():
            raise UnseenError(Why.LOCKED, "the screen is locked; nothing is shown or read until the person unlocks it")


@dataclass(slots=True)
class Pools:
    """Places for looks, a few of each kind."""

    _places: dict[Sense, asyncio.Semaphore] = field(
        default_factory=lambda: {sense: asyncio.Semaphore(count) for sense, count in AT_ONCE.items()}
    )

    @contextlib.asynccontextmanager
    async def place(self, sense: Sense, eyes: Eyes) -> AsyncIterator[None]:
        """Have a place.

        Raises:
            UnseenError: none came free before the deadline.
        """
        places = self._places[sense]
        try:
            await asyncio.wait_for(places.acquire(), eyes.left())
        except TimeoutError as error:
            raise UnseenError(
                Why.BUSY, "too many looks of this kind are waiting for an answer; try it later"
            ) from error
        try:
            yield
        finally:
            places.release()
