"""The review of what is new: which commands are held until the person acknowledges them.

Security boundary.  The server tells what there is; what was there before is kept here, and only the person's
acknowledgement lets what is held go.  A book that is lost holds every guarded command.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from omarchy_mcp.control.grants import GrantStore, now_usec
from omarchy_mcp.policy.callers import Caller
from omarchy_mcp.policy.grants import LAST_USEC
from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.questions import Asked
from omarchy_mcp.policy.review import RULE, Book, New, Seen, acknowledged, compared, first
from omarchy_mcp.policy.verdict import SHELL_BINARY, SHELL_ROUTE
from omarchy_mcp.session import review
from omarchy_mcp.session.bus import DBUS, BusError, Call, Variant, variants
from omarchy_mcp.session.callers import describe
from omarchy_mcp.session.contract import ERROR
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event
from omarchy_mcp.session.review import LostError

MOST_LINES = 5
"""Commands a notification names."""

HOLDS_ALL = "every guarded command is held until it is acknowledged"


class Review:
    """What was acknowledged, and what is held."""

    def __init__(
        self, folder: Path, audit: Writer, store: GrantStore, tell: Callable[[str, str], None],
        changed: Callable[[], None],
    ) -> None:  # fmt: skip
        """`tell` shows the person a text; `changed` is called when another number of commands is held."""
        self._folder = folder
        self._audit = audit
        self._store = store
        self._tell = tell
        self._changed = changed
        self._working = asyncio.Lock()
        self._book: Book | None
        self._lost = "what was acknowledged before is not known"
        self._unwritten = ""
        try:
            self._book = review.read(folder)
        except LostError as error:
            self._book, self._lost = Book(lost=True), str(error)

    @property
    def problem(self) -> str:
        """Why what was acknowledged before is not known, or what is held now cannot be kept, or ""."""
        lost = f"{self._lost}; {HOLDS_ALL}" if self._book is not None and self._book.lost else ""
        return "; ".join(filter(None, (self._unwritten, lost)))

    @property
    def held(self) -> tuple[New, ...]:
        """What is held."""
        return self._book.held if self._book is not None else ()

    def since(self, call: Asked) -> int:
        """When the command of a call became what is held (µs since 1970), 0 when it is not held.

        What the server holds and this service knows nothing of became so after any grant.
        """
        route = SHELL_ROUTE if call.subject.binary == SHELL_BINARY else call.subject.route
        known = next((new.since_usec for new in self.held if new.now.route == route), None)
        if known is not None:
            return known
        return LAST_USEC + 1 if call.rule == RULE else 0

    async def compare(self, call: Call, _caller: Caller) -> Sequence[object]:
        """Take note of what there is; returns what is held, with what is new about it."""
        try:
            now = review.seen_of(call.arguments[0])
        except (ValueError, TypeError) as error:
            raise BusError(f"{DBUS}.Error.InvalidArgs", f"cannot read the commands: {error}") from error
        async with self._working:
            before = self.held
            book = await self._noted(now)
            if {new.now.route for new in before} != {new.now.route for new in book.held}:
                self._changed()
            said = {(new.now.route, new.since_usec) for new in before}
            fresh = [new for new in book.held if (new.now.route, new.since_usec) not in said]
            if fresh:
                self._announce(book, fresh)
        return (review.news(book),)

    async def _noted(self, now: Sequence[Seen]) -> Book:
        """The book with what there is now, on disk; what cannot be written holds for this run."""
        before = self._book
        newest = max((grant.created_usec for grant in await asyncio.to_thread(self._store.read)), default=0)
        moment = max(now_usec(), newest + 1)  # no grant that is there was given since, whatever the clock says
        book = first(now) if before is None else compared(before, now, moment)
        if book != before:
            await self._write(book)
            if before is None and self._unwritten:
                # the next start would take all that is there then for a first run
                book, self._lost = compared(Book(lost=True), now, moment), "there is no record of what was there before"
            elif before is None:
                message = f"first run: the {len(now)} commands that are there count as acknowledged"
                self._audit.write(Event.CONFIG, message, action="baseline")
        self._book = book
        return book

    async def _write(self, book: Book) -> None:
        """Write the book; `_unwritten` says why it could not be."""
        try:
            await asyncio.to_thread(review.write, self._folder, book)
            self._unwritten = ""
        except OSError as error:
            self._unwritten = f"cannot write {self._folder / review.FILE}: {error.strerror or error}"

    def _announce(self, book: Book, fresh: Sequence[New]) -> None:
        """Tell the person once what is held since now."""
        words = review.news(book)
        lines = [f"{shown(new.now.route)}: {words[new.now.route]}" for new in fresh]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES} more"]
        number = f"{len(fresh)} commands are" if len(fresh) > 1 else "1 command is"
        summary = f"{number} new or changed, and held"
        self._audit.write(Event.CONFIG, f"{summary} until acknowledged: {'; '.join(lines)}", action="held")
        self._tell(summary, "\n".join([*lines, "Agents may use them once you have seen them: omarchy-mcpctl review"]))

    async def listed(self, _call: Call, _caller: Caller) -> Sequence[object]:
        """What is held, as the person's side shows it."""
        book = self._book or Book()
        words = review.news(book)
        rows = [
            variants(
                {
                    "route": new.now.route, "tier": str(new.now.tier), "was": str(new.was.tier) if new.was else "",
                    "news": words[new.now.route], "capabilities": list(new.now.capabilities),
                    "more": list(review.more(new)), "since_usec": new.since_usec,
                }
            )
            for new in book.held
        ]  # fmt: skip
        told = variants({"digest": review.digest_of(book) if rows else "", "problem": self.problem})
        return (told | {"commands": Variant("aa{sv}", rows)},)

    async def acknowledge(self, digest: str, caller: Caller) -> None:
        """Let what is held go, if it is exactly what the person has seen; on disk when this returns.

        Raises:
            BusError: NotFound, DigestMismatch, or Refused when it cannot be stored.
        """
        async with self._working:
            book = self._book
            if book is None or not book.held:
                raise BusError(f"{ERROR}.NotFound", "cannot acknowledge: nothing is held")
            if not secrets.compare_digest(digest.encode(), review.digest_of(book).encode()):
                text = "cannot acknowledge: this is not what is held now; look at it again"
                raise BusError(f"{ERROR}.DigestMismatch", text)
            after = acknowledged(book)
            await self._write(after)
            if self._unwritten:
                raise BusError(f"{ERROR}.Refused", f"cannot acknowledge: {self._unwritten}")
            self._book = after
            routes = "; ".join(shown(new.now.route) for new in book.held)
            message = f"acknowledged by the user: {routes}"
            self._audit.write(Event.CONFIG, message, action="acknowledged", caller=describe(caller))
        self._changed()
