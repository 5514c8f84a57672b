"""The manual page: Markdown as it is checked in, turned into roff or into plain text.

The Markdown is what pandoc reads too: headings, paragraphs, definition lists, code blocks, bold and italic.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from omarchy_mcp.cli.options import Request
from omarchy_mcp.cli.terminal import Output, become

PAGE = Path(__file__).parents[3] / "docs" / "man" / "omarchy-mcpctl.1.md"


class Kind(Enum):
    """What a piece of the page is."""

    TITLE = auto()
    SECTION = auto()
    TERM = auto()
    MEANING = auto()
    PARAGRAPH = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of the page: its lines joined, but those of code."""

    kind: Kind
    text: str


def pieces(markdown: str) -> Iterator[Piece]:
    """The pieces of a page."""
    for block in re.split(r"\n{2,}", markdown.strip()):
        if block.startswith("# "):
            yield Piece(kind=Kind.TITLE, text=block[2:])
        elif block.startswith("## "):
            yield Piece(kind=Kind.SECTION, text=block[3:])
        elif block.startswith("    "):
            yield Piece(kind=Kind.CODE, text=re.sub(r"(?m)^ {4}", "", block))
        elif "\n:   " in block:
            yield from definitions(block)
        else:
            yield Piece(kind=Kind.PARAGRAPH, text=" ".join(block.split()))


def definitions(block: str) -> Iterator[Piece]:
    """The pieces of one definition: a term, and what it means."""
    term, _, meaning = block.partition("\n:   ")
    yield Piece(kind=Kind.TERM, text=term.strip())
    yield Piece(kind=Kind.MEANING, text=" ".join(meaning.split()))


def roff(markdown: str) -> str:
    """The page for man(1)."""
    lines: list[str] = []
    for piece in pieces(markdown):
        text = piece.text if piece.kind is Kind.TITLE else inline(piece.text)
        match piece.kind:
            case Kind.TITLE:
                name, section = text.rstrip(")").split("(")
                lines += [f'.TH "{name}" "{section}" "" "omarchy-mcp" ""', ".nh", ".ad l"]
            case Kind.SECTION:
                lines.append(f".SH {text}")
            case Kind.TERM:
                lines += [".TP", text]
            case Kind.MEANING:
                lines.append(text)
            case Kind.PARAGRAPH:
                lines += [".PP", text]
            case Kind.CODE:
                lines += [".PP", ".RS 4", ".EX", text, ".EE", ".RE"]
    return "\n".join(lines) + "\n"


def inline(text: str) -> str:
    """A text with its marks as roff has them; nothing in it can be taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = re.sub(r"\*\*(.+?)\*\*", r"\\fB\1\\fR", text)
    text = re.sub(r"\*(.+?)\*", r"\\fI\1\\fR", text)
    text = re.sub(r"`(.+?)`", r"\\fB\1\\fR", text)
    return re.sub(r"(?m)^\.", r"\\&.", text)


def plain(markdown: str, columns: int = 80) -> str:
    """The page for a terminal without man(1)."""
    import textwrap  # noqa: PLC0415 - start-up time

    lines: list[str] = []
    for piece in pieces(markdown):
        text = piece.text if piece.kind is Kind.CODE else re.sub(r"\*\*?|`", "", piece.text)
        indent = {Kind.TITLE: 0, Kind.SECTION: 0, Kind.MEANING: 14}.get(piece.kind, 7)
        if piece.kind is Kind.CODE:
            lines += [" " * 11 + line for line in text.splitlines()]
        else:
            room = " " * indent
            lines += textwrap.wrap(text, columns, initial_indent=room, subsequent_indent=room)
        if piece.kind is not Kind.TERM:
            lines.append("")
    return "\n".join(lines)


def show(request: Request) -> None:
    """Show the manual: on a terminal with man(1) or the pager, elsewhere as plain text."""
    output = Output(request)
    markdown = PAGE.read_text(encoding="utf-8")
    if output.pager and shutil.which("man"):
        become(["man", "-l", "-"], roff(markdown))
    output.page(plain(markdown).splitlines())
