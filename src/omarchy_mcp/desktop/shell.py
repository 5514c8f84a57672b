"""The shell's own functions over `qs ipc`: what they are, and the programs that list and call them.

Running is the caller's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.desktop.finding import program_path

TARGET = re.compile(r"^target (?P<name>\S+)$")
FUNCTION = re.compile(r"^\s+function (?P<name>\w+)\((?P<args>.*)\): (?P<gives>\w+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the shell, as it lists itself."""

    target: str
    name: str
    args: tuple[str, ...]
    gives: str

    @property
    def signature(self) -> str:
        """As a person reads it."""
        return f"{self.name}({', '.join(self.args)}): {self.gives}"


def show_argv(omarchy: Path) -> list[str]:
    """The program that lists the shell's functions."""
    return [program_path(omarchy, "qs"), "ipc", "-n", "-p", str(omarchy / "shell"), "show"]


def call_argv(omarchy: Path, target: str, function: str, args: Sequence[str]) -> list[str]:
    """The program that calls one."""
    return [str(omarchy / "bin" / "omarchy-shell"), target, function, *args]


def parse_targets(text: str) -> list[Function]:
    """Read what `qs ipc show` prints; lines of another shape are passed over."""
    functions: list[Function] = []
    target = ""
    for line in text.splitlines():
        if found := TARGET.match(line):
            target = found["name"]
        elif target and (found := FUNCTION.match(line)):
            args = tuple(arg.strip() for arg in found["args"].split(",") if arg.strip())
            functions.append(Function(target=target, name=found["name"], args=args, gives=found["gives"]))
    return functions
