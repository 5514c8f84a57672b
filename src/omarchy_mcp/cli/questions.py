"""Questions and grants for a person: blocks of lines made from plain mappings, with nothing left out.

Pure.  Security boundary: what is approved is what stands here, so every piece is shown whole, in letters that are only
ever seen, and no line but ours begins where ours begin.
"""

import unicodedata
from collections.abc import Iterator, Sequence

from omarchy_mcp.cli.options import PROGRAM
from omarchy_mcp.cli.render import Values, number
from omarchy_mcp.cli.text import Colour, columns, duration, escape, paint, printable, stamp
from omarchy_mcp.session.bus import MAX_STRING

LABEL = 14
"""Columns of a label, its indent included."""

NARROWEST = 20
"""Columns a value gets, however narrow the terminal is."""

BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0") | {chr(each) for each in range(0xFE00, 0xFE10)}
"""Letters and marks that show nothing, though their category says they do."""

LASTS = {"always": "it is revoked", "session": "this session ends"}
"""What ends a grant without a time of its own."""


def quoted(text: str) -> str:
    """A text as JSON writes it, whole: its ends are seen, and no two texts look the same."""
    plain = "".join(f"\\{char}" if char in '"\\' else escape(char) if hides(char) else whole(char) for char in text)
    return f'"{plain}"'


def hides(char: str) -> bool:
    """Whether a letter passes for a space, or for nothing."""
    return char in BLANK or (char != " " and unicodedata.category(char) == "Zs")


def whole(text: object) -> str:
    """A text made printable and not cut."""
    return printable(text, len(str(text)))


def texts(values: Values, key: str) -> list[str]:
    """A list of texts out of a mapping; empty when it is not there."""
    value = values.get(key, [])
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def question_lines(question: Values, width: int, *, colours: bool, legend: bool = True) -> list[str]:
    """One question; `width` is the terminal's, 0 when lines may be as long as they need."""
    name = number(question, "number")
    argv = texts(question, "argv")
    head = paint(f"#{name}", Colour.YELLOW, Colour.BOLD, on=colours)
    rows = [
        ("Client", whole(question.get("client", ""))),
        ("Target", whole(question.get("target", "")) or "none"),
        ("Route", whole(question.get("route", ""))),
        *arguments(argv),
        ("Executable", whole(question.get("executable", ""))),
        ("Capabilities", whole(", ".join(texts(question, "capabilities"))) or "none"),
        ("Reason", whole(question.get("reason", ""))),
        ("Time left", duration(number(question, "left_usec"))),
    ]
    if legend:
        rows.append(("Answer", f"'{PROGRAM} approve {name}' or '{PROGRAM} deny {name}'"))
    return [head, *(line for label, value in rows for line in row(label, value, width))]


def grant_lines(grant: Values, width: int, *, colours: bool, legend: bool = True) -> list[str]:
    """One grant, as `question_lines`."""
    name = whole(grant.get("id", ""))
    argv = [("Arguments", "any")] if grant.get("scope") == "route" else arguments(texts(grant, "args"))
    rows = [
        ("Client", whole(grant.get("client", ""))),
        ("Route", whole(grant.get("route", ""))),
        *argv,
        ("Granted", stamp(number(grant, "created_usec"))),
        ("Until", until(grant)),
    ]
    if legend:
        rows.append(("Take back", f"'{PROGRAM} revoke {name}'"))
    head = paint(name, Colour.BOLD, on=colours)
    return [head, *(line for label, value in rows for line in row(label, value, width))]


def until(grant: Values) -> str:
    """How long a grant holds."""
    expires, life = number(grant, "expires_usec"), str(grant.get("life", ""))
    return stamp(expires) if expires else LASTS.get(life) or whole(life)


def arguments(argv: Sequence[str]) -> list[tuple[str, str]]:
    """A row for each argument; what the bus may have cut is said to be."""
    if not argv:
        return [("Arguments", "none")]
    rows = [("Arguments", str(len(argv)))]
    for at, argument in enumerate(argv, 1):
        rows.append((f"{at}", quoted(argument)))
        if len(argument) >= MAX_STRING:
            rows.append(("", f"(argument {at} may be longer: the bus carries {MAX_STRING} characters of it)"))
    return rows


def row(label: str, value: str, width: int) -> Iterator[str]:
    """A label and its value, in as many lines as that takes; the later ones are marked."""
    first, *later = folded(value, max(width - LABEL - 2, NARROWEST) if width else 0)
    yield f"{label:>{LABEL}}{':' if label else ' '} {first}".rstrip()
    for part in later:
        yield f"{'':{LABEL}}│ {part}"


def folded(text: str, most: int) -> list[str]:
    """Part a printable text into pieces of so many columns; 0 is as many as it needs."""
    if not most:
        return [text]
    pieces, piece, used = [], "", 0
    for char in text:
        if used + columns(char) > most:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += columns(char)
    return [*pieces, piece]


def listed(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Blocks with an empty line between them."""
    return [line for at, block in enumerate(blocks) for line in ([""] if at else []) + list(block)]
