"""Foreign text as a person can safely read it within a line of ours, and how wide that is on the screen.

Pure module. Work is bounded by what is shown, not by what was given; nothing raises.

    shown(text, limit) -> str               within a sentence
    quoted(text, room) -> tuple[str, bool]  between double quotes, within a width; whether that is all of it
    plain(char) -> bool                     whether a character may stand for itself
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

MAX_SHOWN = 120  # characters of a name somebody else wrote, in a text of ours
CUT = "…"  # ours alone: in foreign text it is spelled as an escape

# Widths in tenths of the type size, rounded up, of Liberation Sans, in which Omarchy draws notifications
_WIDTHS = {
    **dict.fromkeys(map(chr, range(0x20, 0x7F)), 6),
    **dict.fromkeys(" !\"'()*,-./:;I[\\]`fijlrt{|}", 4),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&w", 8),
    **dict.fromkeys("mMW%", 10),
    "@": 11,
}
_WIDEST = 11

# Latin without its click letters, which look like bars; Greek, Cyrillic, Armenian; kana, Han, Hangul
_LETTERS = re.compile(
    "[\u00c0-\u01bf\u01c4-\u024f\u0370-\u052f\u0531-\u0556\u0561-\u0587\u1e00-\u1fff"
    "\u3005\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
)


def plain(char: str) -> bool:
    """Whether a character stands for itself: visible, left to right, on its own, no variant of another, no quote.

    A short list of scripts, because too many letters elsewhere look like quotes, are blank, or trade places with
    their neighbours. What it cannot see is a letter of one script that looks like one of another.
    """
    if char.isascii():
        return char.isprintable()
    return (
        _LETTERS.fullmatch(char) is not None
        and unicodedata.category(char).startswith("L")
        and unicodedata.is_normalized("NFKC", char)
    )


def spelled(text: str) -> Iterator[str]:
    """Each character as it can be shown between quotes; a second space in a row would not be drawn."""
    before = ""
    for char in text:
        if char in '"\\':
            yield "\\" + char
        elif plain(char) and not (char == before == " "):
            yield char
        else:
            yield f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"
        before = char


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Foreign text as one visible line of at most ``limit`` characters, and a mark where it was cut."""
    kept = "".join(spelled(text[: limit + 1]))
    return kept if len(kept) <= limit else f"{kept[:limit]}{CUT}"


def escaped(text: str) -> str:
    """Text without markup of its own, for what draws markup; quotes stay: the card knows no numeric entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def width(cells: Iterable[str]) -> int:
    """How wide text is at most, in tenths of the type size."""
    return sum(_WIDTHS.get(char, _WIDEST) for cell in cells for char in cell)


def filled(text: str, room: int) -> tuple[list[str], bool]:
    """As many characters, spelled, as fit into a width; and whether that is all."""
    cells: list[str] = []
    for cell in spelled(text):
        room -= width(cell)
        if room < 0:
            return cells, False
        cells.append(cell)
    return cells, True


def quoted(text: str, room: int) -> tuple[str, bool]:
    """Text in quotes within a width; cut and so marked when it does not fit, which the second value says."""
    cells, whole = filled(text, room - width('""'))
    if whole:
        return f'"{"".join(cells)}"', True
    cells, _ = filled(text, room - width(f'""{CUT}'))
    return f'"{"".join(cells)}"{CUT}', False
