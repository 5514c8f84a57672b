"""Reads and changes the drawn desktop's facts, through ``demo-desktop``, which checks and draws them."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class State:
    """The state folder of one drawn desktop."""

    def __init__(self) -> None:
        self.folder = Path(self._desktop("path").strip())

    def get(self, fact: str) -> str:
        """Return a fact, or nothing for one that is not there."""
        try:
            return (self.folder / fact).read_text(encoding="utf-8", errors="replace").strip("\n")
        except OSError:
            return ""

    def set(self, **facts: str) -> None:
        """Change facts and draw; an underscore in a name stands for a hyphen."""
        words: list[str] = []
        for name, value in facts.items():
            words += [name.replace("_", "-"), value.replace("\0", "")]
        self._desktop("set", *words)

    def log(self, text: str) -> None:
        """Write a line into the desktop's own log."""
        self._desktop("log", text)

    def inside(self, path: str) -> Path | None:
        """Return the path when it lies in the state folder; the demo touches nothing else."""
        if not path or "\0" in path:
            return None
        real = (self.folder / path).resolve()
        return real if real.is_relative_to(self.folder.resolve()) else None

    def windows(self) -> list[tuple[str, str, str, int]]:
        """Return (address, class, title, workspace) of every window, oldest first."""
        rows = (line.split("\t") for line in self.get("windows").splitlines())
        return [(r[0], r[1], r[2], int(r[3]) if r[3].isdecimal() else 1) for r in rows if len(r) == 4]

    def replace_windows(self, rows: list[tuple[str, str, str, int]]) -> None:
        """Write the list of windows anew, in one step, and draw."""
        scratch = self.folder / f".windows.{os.getpid()}"
        scratch.write_text("".join(f"{a}\t{c}\t{t}\t{w}\n" for a, c, t, w in rows), encoding="utf-8")
        scratch.replace(self.folder / "windows")
        self._desktop("draw")

    def run(self, *argv: str) -> None:
        """Run a program as the desktop would, its output thrown away."""
        subprocess.run(argv, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    @staticmethod
    def _desktop(*words: str) -> str:
        program = str(ROOT / "bin" / "demo-desktop")
        return subprocess.run([program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout
