#!/usr/bin/env python3
"""A private login session: its own systemd user manager and session bus, and a journal where there is none.

usage:
  private_session.py run  [--dir D] [--user NAME] [--setenv K=V]... [--] COMMAND [ARG...]
  private_session.py up    --dir D  [--user NAME] [--setenv K=V]...   start; print "export K='V'" lines
  private_session.py env   --dir D                                    print those lines again
  private_session.py down  --dir D                                    end what `up` started, remove D

Everything is real: `systemd --user` in control groups of its own, dbus.socket inside it, its own HOME and
XDG_RUNTIME_DIR below D, and, as root on a machine without them, journald and what sd_booted(3) looks for.
`--setenv` goes to the manager and to COMMAND alike; nothing else of the caller's environment does, but TERM.
The exit status is the command's; 125 says that the session itself failed, in one line.

It works as root with any writable control groups (version 2, hybrid or legacy), as an ordinary user inside a
login session of systemd, and as an ordinary user in control groups handed to him.  It ends processes by the
pid it started or by its own control groups, never by name.  Standard library only: it runs before any
environment exists.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import grp
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

JOURNAL = "/run/systemd/journal/socket"
SHARED = Path("/run/omarchy-mcp-sessions")  # what sessions of this machine share: journald, and who uses it
GRACE = 15.0  # seconds a manager may take to stop its units
EXIT_MANAGER = signal.SIGRTMIN + 24  # the user manager's signal for "stop everything, then exit"
NEEDED = ("cgroup2", "name=systemd")  # hierarchies that systemd tracks processes with


class SessionError(Exception):
    """The session cannot be had; the text is one line for a person."""


@dataclass(slots=True, kw_only=True)
class Session:
    """What one `up` made, as it lies in D/state.json."""

    directory: str
    user: str
    extra: dict[str, str] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)  # control groups the manager lives in
    tops: list[str] = field(default_factory=list)  # the topmost folder made in each hierarchy
    manager: int = 0
    born: str = ""  # start time of the manager's process: pids are used again

    @property
    def account(self) -> pwd.struct_passwd:
        return pwd.getpwnam(self.user)

    @property
    def environment(self) -> dict[str, str]:
        home, run = f"{self.directory}/home", f"{self.directory}/run"
        return {
            "HOME": home,
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": os.environ.get("TERM", "dumb"),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "XDG_RUNTIME_DIR": run,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={run}/bus",
            "SYSTEMD_PAGER": "",
            "NO_COLOR": "1",
            **self.extra,
        }

    def save(self) -> None:
        Path(self.directory, "state.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, directory: str) -> Session:
        try:
            return cls(**json.loads(Path(directory, "state.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise SessionError(f"no session in '{directory}'") from None


# ------------------------------------------------------------------ processes


def program(name: str) -> str:
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
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            if what:
                raise SessionError(f"{what} did not come up within {seconds:.0f} s")
            return False
        time.sleep(0.02)
    return True


def become(session: Session, *, groups: bool = False, tied: bool = False) -> Callable[[], None]:
    """What a child does before it is another program: its control groups, its user, its tie to our life."""
    account = session.account
    libc = ctypes.CDLL(None, use_errno=True)
    member = os.getgrouplist(session.user, account.pw_gid)
    with contextlib.suppress(KeyError):  # the journal we started for the user is his to read
        member.append(grp.getgrnam("systemd-journal").gr_gid)

    def child() -> None:
        for group in session.groups if groups else ():
            Path(group, "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        if os.geteuid() == 0 and account.pw_uid != 0:
            os.setgroups(member)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
        os.umask(0o022)
        if tied:  # kept across the exec, dropped by a change of user: hence last
            libc.prctl(1, int(EXIT_MANAGER if groups else signal.SIGTERM), 0, 0, 0)

    return child


def tool(session: Session, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, env=session.environment, preexec_fn=become(session), text=True, check=False, capture_output=True
    )


# ------------------------------------------------------------- control groups


def hierarchies() -> dict[str, str]:
    """Mount points of the hierarchies a manager should have a place in, by kind."""
    found: dict[str, str] = {}
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind, options, *_ = line.split()
        names = {"cgroup2"} if kind == "cgroup2" else set(options.split(",")) if kind == "cgroup" else set()
        for name in names & {*NEEDED, "pids", "memory"}:
            found.setdefault(name, point)
    return found


def own_group(kind: str) -> str:
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if (kind == "cgroup2" and not names) or kind in names.split(","):
            return path
    return "/"


def enter_scope(uid: int) -> None:
    """Move into a scope of the user's own manager, below which he may make control groups."""
    if f"/user@{uid}.service" in own_group("cgroup2") or not hierarchies().get("cgroup2"):
        return
    call = ["busctl", "--user", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1"]
    unit = ["org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))"]
    pid = str(os.getpid())
    scope = [f"omarchy-mcp-session-{pid}.scope", "fail", "1", "PIDs", "au", "1", pid, "0"]
    with contextlib.suppress(OSError):
        asked = subprocess.run([*call, *unit, *scope], check=False, capture_output=True)
        if asked.returncode == 0:
            wait_until(lambda: f"/user@{uid}.service" in own_group("cgroup2"), 5)


def make_groups(session: Session) -> None:
    """The manager's place.  journald reads a unit's name off the path, so it must pass user@UID.service."""
    uid = session.account.pw_uid
    service = f"user@{uid}.service"
    top = "psession-" + "".join(c for c in Path(session.directory).name if c.isalnum()) + ".slice"
    if os.geteuid() != 0:
        enter_scope(uid)
    for kind, point in hierarchies().items():
        base, inner = Path(point), f"{top}/user-{uid}.slice/{service}"
        if os.geteuid() != 0:
            path = own_group(kind)
            inside, found, _ = path.partition(f"/{service}")
            base = Path(f"{point}/{inside}{found}" if found else f"{point}/{path}")
            inner = top if found else inner
        try:
            (base / inner).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if kind not in NEEDED:
                continue
            hint = (
                "" if os.geteuid() == 0 else f"; as root: {sys.argv[0]} run --user {session.user} -- COMMAND"
            )
            raise SessionError(
                f"cannot make a control group in '{base}': {error.strerror}; "
                f"a private user manager needs one it may write{hint}"
            ) from None
        session.groups.append(str(base / inner))
        session.tops.append(str(base / top))
        for name in ("", "cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"):
            if os.geteuid() == 0 and (base / inner / name).exists():
                os.chown(base / inner / name, uid, session.account.pw_gid)
    if not session.groups:
        raise SessionError("no control groups are mounted here; a user manager needs /sys/fs/cgroup")


def end_groups(session: Session) -> None:
    """End whatever is left in our own control groups, then remove them."""

    def left() -> set[int]:
        pids: set[int] = set()
        for top in session.tops:
            for file in Path(top).rglob("cgroup.procs"):
                with contextlib.suppress(OSError):
                    pids.update(map(int, file.read_text(encoding="ascii").split()))
        return pids - {os.getpid()}

    def cleared() -> bool:
        remaining = left()
        for pid in remaining:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not remaining

    def removed() -> bool:
        for top in session.tops:
            for base, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(base).rmdir()
        return not any(Path(top).exists() for top in session.tops)

    wait_until(cleared, 5)
    wait_until(removed, 2)


# ------------------------------- what a machine without systemd lacks (root)


@contextlib.contextmanager
def shared() -> Iterator[Path]:
    SHARED.mkdir(mode=0o755, exist_ok=True)
    with Path(SHARED, "lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield SHARED


def journal_answers() -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(JOURNAL)  # a dead journald leaves its socket behind: refused
        except OSError:
            return False
        return True


def lend_machine(session: Session) -> None:
    """Make what sd_booted(3) looks for, a machine id and a journal, where missing; note who uses them."""
    with shared() as folder:
        file = folder / "machine.json"
        lent = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"made": [], "id": None}
        identity = Path("/etc/machine-id")
        before = identity.read_text(encoding="ascii") if identity.exists() else ""
        if len(before.strip()) != 32:
            lent["id"] = before
            identity.write_text(f"{uuid.uuid4().hex}\n", encoding="ascii")
        log = f"/run/log/journal/{identity.read_text(encoding='ascii').strip()}"
        for path in ("/run/systemd", "/run/systemd/system", "/run/systemd/journal", "/run/log/journal", log):
            if not Path(path).exists():
                Path(path).mkdir(parents=True)
                lent["made"].append(path)
        if not journal_answers():
            with contextlib.suppress(KeyError):  # members of this group may read what is written below
                os.chown(log, 0, grp.getgrnam("systemd-journal").gr_gid)
                Path(log).chmod(0o2750)
            with Path(folder, "journald.log").open("ab") as out:
                argv, env = [program("systemd-journald")], {"PATH": "/usr/bin:/bin"}
                journald = subprocess.Popen(
                    argv, env=env, stdout=out, stderr=out, start_new_session=True, cwd="/"
                )
            lent["journald"] = [journald.pid, born(journald.pid)]
        file.write_text(json.dumps(lent), encoding="utf-8")
        Path(folder, "users").mkdir(exist_ok=True)
        Path(folder, "users", Path(session.directory).name).write_text(session.directory, encoding="utf-8")
    wait_until(journal_answers, 10, "journald")


def return_machine(session: Session) -> None:
    with shared() as folder:
        file, users = folder / "machine.json", folder / "users"
        Path(users, Path(session.directory).name).unlink(missing_ok=True)
        for user in list(users.iterdir()) if users.exists() else []:
            if not Path(user.read_text(encoding="utf-8"), "state.json").exists():
                user.unlink()
        if not file.exists() or any(users.iterdir()):
            return
        lent = json.loads(file.read_text(encoding="utf-8"))
        pid, started = lent.get("journald", (0, ""))
        if pid and born(pid) == started:
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: born(pid) != started, 5)
        for path in reversed(lent["made"]):
            if path.startswith(("/run/log/journal", "/run/systemd/journal")):
                shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                Path(path).rmdir()
        if lent["id"] is not None:
            Path("/etc/machine-id").write_text(lent["id"], encoding="ascii")
        shutil.rmtree(folder, ignore_errors=True)


# ----------------------------------------------------------------- the session


def folders(session: Session) -> None:
    if len(session.directory) > 60:
        raise SessionError(f"'{session.directory}' is too long: a socket's path ends at 107 bytes")
    if Path(session.directory, "state.json").exists():
        raise SessionError(
            f"'{session.directory}' holds a session; end it with: {sys.argv[0]} down --dir ..."
        )
    deep = (
        "home/.config/systemd/user",
        "home/.local/share/dbus-1/services",
        "home/.local/state",
        "home/.cache",
    )
    for name in ("run", *deep):
        Path(session.directory, name).mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        for base, _, _ in os.walk(session.directory):
            os.chown(base, session.account.pw_uid, session.account.pw_gid)
    Path(session.directory).chmod(0o755)
    Path(session.directory, "run").chmod(0o700)


def up(session: Session, *, tied: bool) -> None:
    """Start everything; `tied`: the manager ends when this process does, however that dies."""
    folders(session)
    session.save()
    if os.geteuid() == 0:
        lend_machine(session)
    elif not Path("/run/systemd/system").is_dir():
        raise SessionError(
            "no /run/systemd/system: this machine was not started by systemd, and only root can help"
        )
    make_groups(session)
    session.save()
    log = Path(session.directory, "manager.log")
    with log.open("ab") as out:
        manager = subprocess.Popen(
            [program("systemd"), "--user", "--log-level=info", "--log-target=console", "--unit=basic.target"],
            env=session.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
            preexec_fn=become(session, groups=True, tied=tied),
        )
    session.manager, session.born = manager.pid, born(manager.pid)
    session.save()
    run = Path(session.directory, "run")

    def listening() -> bool:
        if manager.poll() is not None:
            tail = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise SessionError(f"the user manager ended at once: {''.join(tail)}")
        return (run / "systemd/private").exists()

    wait_until(listening, 20, "the user manager")
    if tool(session, "systemctl", "--user", "start", "dbus.socket").returncode:
        raise SessionError("no session bus: install dbus-user-session (Debian) or dbus (Arch)")
    # the bus starts at its first caller, and the manager takes its name on it
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    tool(session, "busctl", "--user", "--timeout=10", "call", *bus)
    asked = ("busctl", "--user", "--timeout=2", "status", "org.freedesktop.systemd1")
    wait_until(lambda: tool(session, *asked).returncode == 0, 15, "the manager's name on the bus")


def down(session: Session) -> None:
    """End the manager and so its units, what is left in our groups, what we lent the machine; remove D."""
    if session.manager and born(session.manager) == session.born:
        os.kill(session.manager, EXIT_MANAGER)

        def ended() -> bool:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(session.manager, os.WNOHANG)
            return born(session.manager) != session.born

        wait_until(ended, GRACE)
    end_groups(session)
    for _ in range(5):  # a file being written as we remove it makes one pass fail
        shutil.rmtree(session.directory, ignore_errors=True)
        if not Path(session.directory).exists():
            break
    if os.geteuid() == 0:
        return_machine(session)


def run(session: Session, command: list[str]) -> int:
    """Run a command in the session; its exit status as a shell would give it."""

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    child: subprocess.Popen[bytes] | None = None
    try:
        up(session, tied=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal the command has it too, and decides
        try:
            child = subprocess.Popen(command, env=session.environment, preexec_fn=_unignored(session))
        except OSError as error:
            raise SessionError(f"cannot run '{command[0]}': {error.strerror}") from None
        status = child.wait()
        return status if status >= 0 else 128 - status
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if child is not None and child.poll() is None:
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE)
            child.kill()
        down(session)


def _unignored(session: Session) -> Callable[[], None]:
    prepare = become(session, tied=True)

    def child() -> None:
        prepare()
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return child


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("usage:\n", 1)[1], add_help=True)
    parser.add_argument("verb", choices=("run", "up", "env", "down"))
    parser.add_argument("--dir")
    parser.add_argument("--user", default=pwd.getpwuid(os.geteuid()).pw_name)
    parser.add_argument("--setenv", action="append", default=[], metavar="K=V")
    cut = argv.index("--") if "--" in argv else len(argv)
    known = parser.parse_args(argv[:cut])
    known.command = argv[cut + 1 :]
    if known.verb == "run" and not known.command:
        parser.error("run needs a command, after --")
    if known.verb != "run" and not known.dir:
        parser.error(f"{known.verb} needs --dir")
    return known


def main() -> int:
    asked = arguments(sys.argv[1:])
    try:
        directory = (
            os.path.abspath(asked.dir) if asked.dir else tempfile.mkdtemp(prefix="psession-", dir="/tmp")
        )
        if asked.verb in ("run", "up"):
            extra = dict(pair.split("=", 1) for pair in asked.setenv)
            session = Session(directory=directory, user=asked.user, extra=extra)
            if asked.verb == "run":
                return run(session, asked.command)
            try:
                up(session, tied=False)
            except BaseException:
                down(session)
                raise
        else:
            session = Session.load(directory)
        if asked.verb == "down":
            down(session)
            return 0
        for key, value in session.environment.items():
            print(f"export {key}='{value.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'")
    except (SessionError, KeyError, ValueError) as error:
        print(f"private_session: {error.args[0]}", file=sys.stderr)
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
