"""The control groups of a private session: made where the caller may, emptied and removed at the end.

journald reads the name of a user's unit off the path of its control group, so the path must pass a
`user@UID.service`.  Every session has a topmost slice of its own: two managers never share a unit's group.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from processes import SessionError, wait_until

NEEDED = ("cgroup2", "name=systemd")  # hierarchies that systemd tracks processes with
USEFUL = ("pids", "memory")  # of version 1, where limits are to work


def session_id(directory: str) -> str:
    """A name for the session in a folder, unique on this machine."""
    return "psession" + hashlib.sha256(directory.encode()).hexdigest()[:10]


def hierarchies() -> dict[str, str]:
    """Mount points of the hierarchies a manager should have a place in, by kind."""
    found: dict[str, str] = {}
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind, options, *_ = line.split()
        names = {"cgroup2"} if kind == "cgroup2" else set(options.split(",")) if kind == "cgroup" else set()
        for name in names & {*NEEDED, *USEFUL}:
            found.setdefault(name, point)
    return found


def own_group(kind: str) -> str:
    """The path of our own control group in a hierarchy."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if (kind == "cgroup2" and not names) or kind in names.split(","):
            return path
    return "/"


def enter_scope(uid: int) -> None:
    """Move into a scope of the user's own manager, if any: below it he may make control groups."""
    service = f"/user@{uid}.service"
    if service in own_group("cgroup2"):
        return
    call = ["busctl", "--user", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1"]
    unit = ["org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))"]
    pid = str(os.getpid())
    scope = [f"omarchy-mcp-session-{pid}.scope", "fail", "1", "PIDs", "au", "1", pid, "0"]
    with contextlib.suppress(OSError):
        asked = subprocess.run([*call, *unit, *scope], check=False, capture_output=True)
        if asked.returncode == 0:
            wait_until(lambda: service in own_group("cgroup2"), 5)


def place(kind: str, point: str, uid: int, top: str) -> tuple[Path, Path]:
    """The topmost folder to make in one hierarchy, and the manager's folder in it."""
    service = f"user@{uid}.service"
    if os.geteuid() == 0:
        return Path(point, top), Path(point, top, f"user-{uid}.slice", service)
    before, found, _ = own_group(kind).partition(f"/{service}")
    if found:
        base = Path(f"{point}{before}{found}")
        return base / top, base / top
    path = own_group(kind)
    if kind == "cgroup2" and not all(name.endswith(".slice") for name in path.split("/") if name):
        print(f"private_session: journald cannot tell units apart below '{path}'", file=sys.stderr)
    base = Path(f"{point}{path}")
    return base / top, base / top / f"user-{uid}.slice" / service


def make_groups(directory: str, uid: int, gid: int) -> tuple[list[str], list[str]]:
    """Make the manager's control groups, the user's to write: the groups, and the topmost folder of each.

    Raises: SessionError when a hierarchy that systemd needs cannot be written.
    """
    if os.geteuid() != 0:
        enter_scope(uid)
    groups, tops = [], []
    for kind, point in hierarchies().items():
        top, group = place(kind, point, uid, f"{session_id(directory)}.slice")
        try:
            group.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if kind in NEEDED:
                text = f"cannot make a control group in '{top.parent}': {error.strerror}"
                way = "a user manager needs one it may write" + ("" if os.geteuid() == 0 else "; as root it works")
                raise SessionError(f"{text}; {way}") from None
            continue
        groups.append(str(group))
        tops.append(str(top))
        for name in ("", "cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"):
            if os.geteuid() == 0 and (group / name).exists():
                os.chown(group / name, uid, gid)
    if not groups:
        raise SessionError("no control groups are mounted here; a user manager needs /sys/fs/cgroup")
    return groups, tops


def end_groups(tops: list[str]) -> None:
    """End whatever is left in our own control groups, then remove them."""

    def cleared() -> bool:
        left: set[int] = set()
        for top in tops:
            for file in Path(top).rglob("cgroup.procs"):
                with contextlib.suppress(OSError):
                    left.update(map(int, file.read_text(encoding="ascii").split()))
        for pid in left - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left - {os.getpid()}

    def removed() -> bool:
        for top in tops:
            for base, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(base).rmdir()
        return not any(Path(top).exists() for top in tops)

    wait_until(cleared, 5)
    wait_until(removed, 2)
