"""Processes by pid and start time, waits with an end, the one error a private session is refused with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


class SessionError(Exception):
    """The session cannot be had; the text is one line for a person."""


def program(name: str) -> str:
    """Path of one of systemd's own programs."""
    for folder in ("/usr/lib/systemd", "/lib/systemd"):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    raise SessionError(f"'{name}' is missing: install systemd (bin/omarchy-mcp-setup packages)")


def born(pid: int) -> str:
    """The start time of a process, which with its pid names it; empty when it is gone or dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def wait_until(true: Callable[[], bool], seconds: float, what: str = "") -> bool:
    """Whether it became true in time; with `what`, not becoming true is an error."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            if what:
                raise SessionError(f"{what} did not come up within {seconds:.0f} s")
            return False
        time.sleep(0.02)
    return True
