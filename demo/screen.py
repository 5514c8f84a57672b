"""What `make run` prints: headings, lines with how long a thing took, colours where a terminal shows them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

CODES = {"bold": "1", "dim": "2", "good": "32", "bad": "31", "note": "36"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A place to print on."""

    coloured: bool

    def paint(self, text: str, style: str) -> str:
        return f"\033[{CODES[style]}m{text}\033[0m" if self.coloured else text

    def line(self, text: str = "", style: str = "") -> None:
        print(self.paint(text, style) if style else text, flush=True)

    def heading(self, text: str) -> None:
        self.line()
        self.line(text, "bold")

    def fact(self, mark: str, text: str, note: str = "") -> None:
        style = {"✓": "good", "✗": "bad"}.get(mark, "note")
        self.line(f"  {self.paint(mark, style)} {text}" + (f"  {self.paint(note, 'dim')}" if note else ""))

    def block(self, text: str, style: str = "dim") -> None:
        for line in text.splitlines():
            self.line(f"    {line}", style)

    @contextlib.contextmanager
    def timed(self, text: str) -> Iterator[None]:
        """A step that says how long it took once it has worked."""
        begun = time.monotonic()
        yield
        self.fact("✓", text, f"{time.monotonic() - begun:.2f} s")
