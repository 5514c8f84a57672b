"""How a stand-in goes wrong when a test wants it to: by files in the state folder, named for the program."""

import sys
import time

from .state import State


def fault(state: State, program: str) -> int | None:
    """Do what is planted for a program; return its exit status, or nothing when nothing is.

    ``PROGRAM-answers`` is printed instead of an answer, ``PROGRAM-fails`` holds an exit status and, on the lines after
    it, what is said on standard error; with ``PROGRAM-hangs`` it never ends.
    """
    answers, fails = state.inside(f"{program}-answers"), state.inside(f"{program}-fails")
    status: int | None = None
    if answers is not None and answers.is_file():
        sys.stdout.buffer.write(answers.read_bytes())
        sys.stdout.buffer.flush()
        status = 0
    if fails is not None and fails.is_file():
        first, _, said = fails.read_text(encoding="utf-8").partition("\n")
        print(said.rstrip("\n"), file=sys.stderr)
        status = int(first)
    hangs = state.inside(f"{program}-hangs")
    while hangs is not None and hangs.exists():
        time.sleep(0.2)
    return status
