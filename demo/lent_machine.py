"""What a machine that systemd did not start lacks, lent while sessions use it (root only).

A machine id, the folder sd_booted(3) looks for, and journald where nothing answers on its socket.  The last
session to leave takes everything away again, whichever order they came and went in.
"""

from __future__ import annotations

import contextlib
import fcntl
import grp
import json
import os
import shutil
import signal
import socket
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

from control_groups import session_id
from processes import born, program, wait_until

SHARED = Path("/run/omarchy-mcp-sessions")
JOURNAL = "/run/systemd/journal/socket"
IDENTITY = Path("/etc/machine-id")
FOLDERS = ("/run/systemd", "/run/systemd/system", "/run/systemd/journal", "/run/log", "/run/log/journal")
OURS_WHOLE = ("/run/systemd/journal", "/run/log/journal")  # of what we made, removed with all that is in it


@contextlib.contextmanager
def shared(name: str = "lock") -> Iterator[Path]:
    """The folder that says what was lent and who uses it, one of its locks held.

    Whoever holds "claims" may take "lock" as well, never the other way round.
    """
    while True:
        SHARED.mkdir(mode=0o755, exist_ok=True)
        try:
            lock = (SHARED / name).open("w", encoding="ascii")
        except FileNotFoundError:
            continue
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink:  # else it is the one that the last session just removed
                yield SHARED
                return


def claims() -> contextlib.AbstractContextManager[object]:
    """Held while a session's folder is taken or a dead one's is taken away, by those who could meet there."""
    return shared("claims") if os.geteuid() == 0 else contextlib.nullcontext()


def journal_answers() -> bool:
    """Whether a journald is alive."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(JOURNAL)  # a dead journald leaves its socket behind: refused
        except OSError:
            return False
        return True


def start_journald(log: Path) -> tuple[int, str]:
    """Start journald as the machine's own would run; members of its group may read what it writes."""
    with contextlib.suppress(KeyError):
        group = grp.getgrnam("systemd-journal").gr_gid
        for path in (log, *log.iterdir()):
            os.chown(path, 0, group)
        log.chmod(0o2750)
    with (SHARED / "journald.log").open("ab") as out:
        journald = subprocess.Popen(
            [program("systemd-journald")],
            env={"PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
        )
    return journald.pid, born(journald.pid)


def lend_machine(directory: str) -> None:
    """Make what is missing, and note that the session in `directory` uses it."""
    with shared() as folder:
        file = folder / "machine.json"
        lent = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"made": [], "id": None}
        before = IDENTITY.read_text(encoding="ascii") if IDENTITY.exists() else ""
        if len(before.strip()) != 32:
            lent["id"] = before
            IDENTITY.write_text(f"{uuid.uuid4().hex}\n", encoding="ascii")
        log = Path("/run/log/journal", IDENTITY.read_text(encoding="ascii").strip())
        for path in (*map(Path, FOLDERS), log):
            if not path.exists():
                path.mkdir(mode=0o755)
                lent["made"].append(str(path))
        if not journal_answers():
            lent["journald"] = start_journald(log)
        file.write_text(json.dumps(lent), encoding="utf-8")
        (folder / "users").mkdir(exist_ok=True)
        (folder / "users" / session_id(directory)).write_text(directory, encoding="utf-8")
    wait_until(journal_answers, 10, "journald")


def return_machine(directory: str) -> None:
    """Note that the session left; the last one ends journald and removes what was made."""
    with shared() as folder:
        users = folder / "users"
        (users / session_id(directory)).unlink(missing_ok=True)
        for user in list(users.iterdir()) if users.exists() else []:
            if not Path(user.read_text(encoding="utf-8"), "state.json").exists():
                user.unlink()
        file = folder / "machine.json"
        if not file.exists() or any(users.iterdir()):
            return
        lent = json.loads(file.read_text(encoding="utf-8"))
        pid, started = lent.get("journald", (0, ""))
        if pid and born(pid) == started:
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: born(pid) != started, 5)
        for path in reversed(lent["made"]):
            if path.startswith(OURS_WHOLE):
                shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                Path(path).rmdir()
        if lent["id"] is not None:
            IDENTITY.write_text(lent["id"], encoding="ascii")
        shutil.rmtree(folder, ignore_errors=True)
