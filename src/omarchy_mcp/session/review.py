"""The book of commands that were acknowledged: its file, and what is held in words.

The control service alone writes it.  A book that was there once and cannot be read now is lost: it must not pass for
a first run, at which everything counts as acknowledged.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.registry import MAX_COMMANDS
from omarchy_mcp.policy.review import Book, New, Seen, change
from omarchy_mcp.scan.capabilities import REASONS
from omarchy_mcp.session.files import read_small, write_private

FILE = "review.json"
MADE = "review.made"
"""A file beside the book that says that there is one."""

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""As many commands as may be are 8 MB; each can be there twice, as it was and as it is."""


class LostError(Exception):
    """There was a book, and what it said is not known; the text says why."""


def read(folder: Path) -> Book | None:
    """The book in a folder, None when there never was one.

    Raises:
        LostError: there was one.
    """
    path = folder / FILE
    try:
        return parse(read_small(path, MAX_BYTES))
    except FileNotFoundError:
        if not (folder / MADE).exists():
            return None
        raise LostError(f"{path} is gone") from None
    except OSError as error:
        raise LostError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise LostError(f"cannot read {path}: it is not what was written there") from error


def write(folder: Path, book: Book) -> None:
    """Write the book, on disk before this returns.

    Raises:
        OSError: it is not written.
    """
    write_private(folder / FILE, dump(book))
    if not (folder / MADE).exists():
        write_private(folder / MADE, b"review.json was made; without it every guarded command is held\n")


def dump(book: Book) -> bytes:
    """A book as text."""
    whole = {
        "version": VERSION,
        "lost": book.lost,
        "known": [row_of(seen) for seen in book.known.values()],
        "held": [[row_of(new.now), new.was and row_of(new.was), new.since_usec] for new in book.held],
    }
    return json.dumps(whole, separators=(",", ":")).encode() + b"\n"


def parse(text: bytes) -> Book:
    """A book as `dump` wrote it.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: it did not.
    """
    whole = json.loads(text)
    if whole["version"] != VERSION or not isinstance(whole["lost"], bool):
        raise ValueError("another version")
    known = [_seen(*row) for row in whole["known"]]
    held = tuple(_new(*row) for row in whole["held"])
    return Book(known={seen.route: seen for seen in known}, held=held, lost=whole["lost"])


def seen_of(rows: Iterable[Any]) -> tuple[Seen, ...]:
    """Commands as they came over the bus: route, tier, capabilities, names, digest.

    Raises:
        ValueError, TypeError: they are no such rows, or too many.
    """
    found = tuple(_seen(*row) for row in rows)
    if len(found) > MAX_COMMANDS:
        raise ValueError(f"there are more than {MAX_COMMANDS}")
    return found


def row_of(seen: Seen) -> list[object]:
    """A command as it goes over the bus, and into the file."""
    return [seen.route, str(seen.tier), list(seen.capabilities), list(seen.names), seen.digest]


def _seen(*row: Any) -> Seen:
    route, tier, capabilities, names, digest = row
    texts = [route, digest, *capabilities, *names]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not a text")
    return Seen(route=route, tier=Tier(tier), capabilities=tuple(capabilities), names=tuple(names), digest=digest)


def _new(*row: Any) -> New:
    now, was, since = row
    if not isinstance(since, int) or since < 0:
        raise TypeError("not a time")
    return New(now=_seen(*now), was=None if was is None else _seen(*was), since_usec=since)


def more(new: New) -> tuple[str, ...]:
    """What a command can do that it could not when it was acknowledged."""
    return tuple(each for each in new.now.capabilities if new.was is None or each not in new.was.capabilities)


def news(book: Book) -> dict[str, str]:
    """What is new about each route that is held, and the weightiest thing it can do that it could not before."""
    texts = {}
    for new in book.held:
        changed = "what it could do before is not known any more" if book.lost else change(new.now, new.was)
        gained = more(new)
        worst = next((f" ({reason})" for each, reason in REASONS.items() if each in gained), "")
        texts[new.now.route] = changed + worst
    return texts


def digest_of(book: Book) -> str:
    """What an acknowledgement is bound to: a digest over every word of what is held."""
    held = [[row_of(new.now), new.was and row_of(new.was)] for new in book.held]
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()
