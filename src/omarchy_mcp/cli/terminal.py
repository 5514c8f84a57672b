"""Where output goes: data to standard output, remarks to standard error, long text through a pager.

Knows what the terminal can do; what is said is decided elsewhere.
"""

import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence

from omarchy_mcp.cli.options import PROGRAM, Json, Request
from omarchy_mcp.cli.text import Colour, paint, printable
from omarchy_mcp.session import environment

LESS = ("-F", "-R", "-S", "-X", "-M", "-K")
"""As systemd starts it: short text does not stay in the pager, colours pass, long lines are not wrapped."""


def colours_wanted(*, terminal: bool, systemd: str | None, no_color: str | None, term: str | None) -> bool:
    """Whether to use colours: SYSTEMD_COLORS decides, else NO_COLOR and the terminal."""
    if systemd is not None:
        return systemd.lower() not in ("0", "no", "n", "false", "f", "off")
    return terminal and no_color is None and term not in (None, "dumb")


class Output:
    """The streams of this process."""

    def __init__(self, request: Request) -> None:
        self.terminal = sys.stdout.isatty()
        self.json = request.json
        if request.json is Json.AUTO:
            self.json = Json.PRETTY if self.terminal else Json.SHORT
        self.interactive = self.terminal and self.json is Json.OFF and sys.stdin is not None and sys.stdin.isatty()
        """Whether a person can be asked something."""
        self.quiet = request.quiet
        self.pager = request.pager and self.terminal
        settings = {"systemd": environment.get("SYSTEMD_COLORS"), "no_color": environment.get("NO_COLOR")}
        self.colours = colours_wanted(terminal=self.terminal, term=environment.get("TERM"), **settings)
        self._remark_colours = colours_wanted(terminal=sys.stderr.isatty(), term=environment.get("TERM"), **settings)
        for stream in (sys.stdout, sys.stderr):
            # a locale that lacks a letter is no reason to fail
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams, both

    @property
    def columns(self) -> int:
        """Columns a line may take; 0 is as many as it needs."""
        try:
            return os.get_terminal_size(sys.stdout.fileno()).columns if self.terminal else 0
        except OSError:
            return 0

    def lines(self, lines: Sequence[str]) -> None:
        """Write data for a person."""
        if lines:
            print("\n".join(lines), flush=True)

    def data(self, value: Mapping[str, object] | Sequence[Mapping[str, object]]) -> None:
        """Write data for a program: ASCII, so that nothing in it can act on a terminal either."""
        indent = 2 if self.json is Json.PRETTY else None
        separators = None if indent else (",", ":")
        print(json.dumps(value, indent=indent, separators=separators), flush=True)

    def remark(self, text: str) -> None:
        """Say something that is not the answer."""
        if not self.quiet:
            print(f"{PROGRAM}: {text}", file=sys.stderr)

    def error(self, text: str, *, name: str = "", more: Sequence[str] = ()) -> None:
        """Say why something cannot be done."""
        named = f" ({printable(name)})" if name else ""
        line = f"{PROGRAM}: {printable(text, 2_000)}{named}"
        print(paint(line, Colour.RED, on=self._remark_colours), file=sys.stderr)
        for helpful in more if not self.quiet else ():
            print(f"  {printable(helpful)}", file=sys.stderr)

    @staticmethod
    def confirm(text: str) -> bool:
        """Ask the person at the terminal; only a yes typed after the question was there is one."""
        import termios  # noqa: PLC0415 - start-up time

        print(f"{text} [y/N] ", end="", flush=True)
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def page(self, lines: Sequence[str]) -> None:
        """Write data for a person that may be longer than the screen.

        On a terminal this process becomes the pager, so nothing may follow.
        """
        if self.pager and lines:
            become_pager("\n".join(lines) + "\n")
        self.lines(lines)

    @staticmethod
    def hangup() -> int | None:
        """The descriptor on which it is seen that nobody reads any more, if there is such a thing."""
        mode = os.fstat(sys.stdout.fileno()).st_mode
        return sys.stdout.fileno() if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None


def become_pager(text: str) -> None:
    """Replace this process by the person's pager with `text` on its input; returns when there is none."""
    import shlex  # noqa: PLC0415 - start-up time

    wanted = next((value for value in map(environment.get, ("SYSTEMD_PAGER", "PAGER")) if value is not None), "less")
    words = shlex.split(wanted)
    if not words or words[0] == "cat":
        return
    if words[0].rpartition("/")[2] == "less":
        words[1:1] = LESS
    become(words, text)


def become(words: Sequence[str], text: str) -> None:
    """Replace this process by a program with `text` on its standard input; returns when there is none."""
    from shutil import which  # noqa: PLC0415 - start-up time

    if which(words[0]) is None:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    fd = os.memfd_create("text")
    with os.fdopen(fd, "wb", closefd=False) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    os.lseek(fd, 0, os.SEEK_SET)
    os.dup2(fd, 0)
    try:
        os.execvp(words[0], list(words))  # noqa: S606 - the person's own pager, no shell
    except OSError:
        return
