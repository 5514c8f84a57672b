"""Text for a terminal: made printable, measured, cut, coloured; times and durations in words.

Pure, but for the local time zone.  Whatever comes from elsewhere passes `printable` before it is shown.
"""

import time
import unicodedata
from enum import StrEnum

LONGEST = 500
"""Characters of one foreign text that are shown."""

HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories that do something to a terminal, or to the order of a line, instead of being seen."""


SCALE = (
    (3_600, 60, "min", 1, "s"),
    (86_400, 3_600, "h", 60, "min"),
    (float("inf"), 86_400, "d", 3_600, "h"),
)
"""For durations below so many seconds: the larger unit and its name, the smaller and its name."""


class Colour(StrEnum):
    """The few colours there are, as the terminal is told them."""

    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    CYAN = "36"
    GREY = "90"
    BOLD = "1"
    LINE = "4"


def printable(text: object, limit: int = LONGEST) -> str:
    """Return one line that is only ever seen: what would act or hide is shown as an escape, the rest is bounded."""
    whole = str(text)
    cut = whole[:limit]
    shown = "".join(escape(char) if unicodedata.category(char) in HIDDEN else char for char in cut)
    return shown if len(whole) <= limit else f"{shown}… (+{len(whole) - limit} characters)"


def escape(char: str) -> str:
    """A character as Python and JSON write it."""
    number = ord(char)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def width(text: str) -> int:
    """Columns a printable text takes."""
    return len(text) if text.isascii() else sum(map(columns, text))


def columns(char: str) -> int:
    """Columns of one character: none for a combining mark, two for a wide letter."""
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def fit(text: str, most: int) -> str:
    """Cut a printable text to so many columns, with an ellipsis where something is missing."""
    if width(text) <= most:
        return text
    kept, used = [], 0
    for char in text:
        used += columns(char)
        if used > most - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def pad(text: str, most: int) -> str:
    """Fill a text with spaces to so many columns."""
    return text + " " * (most - width(text))


def paint(text: str, *colours: Colour, on: bool) -> str:
    """A text in colours, or as it is."""
    return f"\x1b[{';'.join(colours)}m{text}\x1b[0m" if on and colours else text


def duration(usec: int) -> str:
    """A duration in its two largest units."""
    if usec < 1_000:
        return f"{usec} µs"
    if usec < 1_000_000:
        return f"{usec // 1_000} ms"
    seconds = usec // 1_000_000
    if seconds < 60:
        return f"{usec / 1_000_000:.1f} s" if seconds < 10 else f"{seconds} s"
    size, name, unit, below = next(row[1:] for row in SCALE if seconds < row[0])
    rest = seconds % size // unit
    return f"{seconds // size} {name}" + (f" {rest} {below}" if rest else "")


def stamp(usec: int) -> str:
    """A point in time as journalctl writes it, in local time."""
    try:
        return time.strftime("%b %d %H:%M:%S", time.localtime(usec / 1_000_000))
    except (OverflowError, OSError, ValueError):
        return f"{usec} µs"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 call, 2 calls."""
    return f"{number} {one if number == 1 else many or one + 's'}"
