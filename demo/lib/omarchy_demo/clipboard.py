"""Stand-ins for ``wl-copy`` and ``wl-paste`` over a file: the copying one stays behind and holds its output."""

import os
import signal
import sys
import time
from pathlib import Path

from .faults import fault
from .state import State

TEXT = ("text/plain;charset=utf-8", "text/plain", "UTF8_STRING", "STRING", "TEXT")
OWNS_S = 600


def _value(words: list[str], *options: str) -> str:
    """The value of the last of some options that is there."""
    return next((words[at + 1] for at in range(len(words) - 2, -1, -1) if words[at] in options), "")


def _types(state: State) -> list[str]:
    kind = state.get("clipboard-types") or "text/plain"
    return list(TEXT) if kind == "text/plain" else kind.split("\n")


def wl_copy() -> int:
    """Run ``wl-copy``."""
    words, state = sys.argv[1:], State()
    wrong = fault(state, "wl-copy")
    if wrong is not None:
        return wrong
    _disown(state)
    held = state.folder / "clipboard"
    if "--clear" in words or "-c" in words:
        held.unlink(missing_ok=True)
        return 0
    scratch = state.folder / f".clipboard.{os.getpid()}"
    scratch.write_bytes(sys.stdin.buffer.read())
    (state.folder / "clipboard-types").write_text(_value(words, "--type", "-t") or "text/plain", encoding="utf-8")
    scratch.replace(held)
    _own(state)
    return 0


def _own(state: State) -> None:
    """Leave a process behind that holds what was copied, and whatever it inherited."""
    child = os.fork()
    if child:
        (state.folder / "clipboard-owner").write_text(str(child), encoding="utf-8")
        return
    os.setsid()
    time.sleep(OWNS_S)
    os._exit(0)


def _disown(state: State) -> None:
    """End the process that held what was copied before."""
    owner = state.get("clipboard-owner")
    if not owner.isdecimal():
        return
    try:
        if b"wl_copy" in Path("/proc", owner, "cmdline").read_bytes():
            os.kill(int(owner), signal.SIGTERM)
    except OSError:
        pass


def wl_paste() -> int:
    """Run ``wl-paste``."""
    words, state = sys.argv[1:], State()
    wrong = fault(state, "wl-paste")
    if wrong is not None:
        return wrong
    held = state.folder / "clipboard"
    if not held.is_file():
        print("Nothing is copied", file=sys.stderr)
        return 1
    if "--list-types" in words or "-l" in words:
        print("\n".join(_types(state)))
        return 0
    kind = _value(words, "--type", "-t") or "text/plain"
    if kind not in _types(state):
        print(f'Clipboard content is not available as requested type "{kind}"', file=sys.stderr)
        return 1
    sys.stdout.buffer.write(held.read_bytes())
    if "--no-newline" not in words and "-n" not in words:
        sys.stdout.buffer.write(b"\n")
    return 0
