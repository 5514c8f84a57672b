#!/usr/bin/env python3
"""A private login session: its own systemd user manager and session bus, and a journal where there is none.

usage:
  private_session.py run  [--dir D] [--user NAME] [--setenv K=V]... -- COMMAND [ARG...]
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
import grp
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is ever written into this folder

from control_groups import end_groups, make_groups  # noqa: E402 - after the line above
from lent_machine import SHARED, claims, lend_machine, return_machine  # noqa: E402
from processes import SessionError, program, wait_until  # noqa: E402
from session_record import Session  # noqa: E402

GRACE = 15.0  # seconds a manager, or the command, may take to stop
EXIT_MANAGER = signal.SIGTERM  # a user manager then stops every unit and exits (SIGRTMIN+24: at once)
PR_SET_PDEATHSIG = 1


def become(session: Session, *, tie: signal.Signals | int = 0, manager: bool = False) -> Callable[[], None]:
    """What a child does before it is another program: its control groups, its user, its tie to our life."""
    account = session.account
    libc = ctypes.CDLL(None)
    member = os.getgrouplist(session.user, account.pw_gid)
    with contextlib.suppress(KeyError):  # the journal we started for the user is his to read
        member.append(grp.getgrnam("systemd-journal").gr_gid)

    def child() -> None:
        for group in session.groups if manager else ():
            Path(group, "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        if os.geteuid() == 0 and account.pw_uid != 0:
            os.setgroups(member)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
        os.umask(0o022)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)  # what a shell's background job ignores, a login does not
        if tie:  # kept across exec, dropped by a change of user: hence last
            libc.prctl(PR_SET_PDEATHSIG, int(tie), 0, 0, 0)

    return child


def answer(session: Session, *argv: str) -> int:
    """Run one of systemd's own tools in the session; its exit status."""
    environment, prepare = session.environment, become(session)
    try:
        return subprocess.run(argv, env=environment, preexec_fn=prepare, check=False, capture_output=True).returncode
    except FileNotFoundError:
        raise SessionError(f"'{argv[0]}' is missing: install systemd (bin/omarchy-mcp-setup packages)") from None


def claim(session: Session) -> None:
    with claims():
        if os.geteuid() == 0:
            sweep()
        make_folders(session)


def make_folders(session: Session) -> None:
    """Make D and say whose it is.  D stays the caller's: nobody else can write what `down` believes."""
    if len(session.directory) > 60:
        raise SessionError(f"'{session.directory}' is too long: a socket's path ends at 107 bytes")
    if Path(session.directory, "state.json").exists():
        held = Session.load(session.directory)
        if held.alive:
            raise SessionError(f"'{session.directory}' holds a session; end it with: down --dir {session.directory}")
        down(held)
    deep = (
        "home/.config/systemd/user",
        "home/.local/share/dbus-1/services",
        "home/.local/state",
        "home/.cache",
    )
    for name in ("run", *deep):
        Path(session.directory, name).mkdir(parents=True, exist_ok=True)
    for top in ("run", "home") if os.geteuid() == 0 else ():
        for base, _, _ in os.walk(f"{session.directory}/{top}"):
            os.chown(base, session.account.pw_uid, session.account.pw_gid)
    Path(session.directory).chmod(0o755)
    Path(session.directory, "run").chmod(0o700)
    session.save(os.getpid())


def start_manager(session: Session, *, tied: bool) -> None:
    """Start `systemd --user` in its groups and wait until it listens."""
    log = Path(session.directory, "manager.log")
    with log.open("ab") as out:
        # basic.target: sockets and timers, but none of the person's own services (sound, portals)
        manager = subprocess.Popen(
            [program("systemd"), "--user", "--log-level=info", "--unit=basic.target"],
            env=session.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
            preexec_fn=become(session, tie=EXIT_MANAGER if tied else 0, manager=True),
        )
    session.save(manager.pid)

    def listening() -> bool:
        if manager.poll() is not None:
            tail = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise SessionError(f"the user manager ended at once: {''.join(tail)}")
        return Path(session.directory, "run/systemd/private").exists()

    wait_until(listening, 20, "the user manager")


def up(session: Session, *, tied: bool) -> None:
    """Start everything; `tied`: the manager ends when this process does, however that dies."""
    if os.geteuid() == 0:
        lend_machine(session.directory)
    elif not Path("/run/systemd/system").is_dir():
        raise SessionError("no /run/systemd/system here: systemd did not start this machine; as root it works")
    account = session.account
    session.groups, session.tops = make_groups(session.directory, account.pw_uid, account.pw_gid)
    session.save(os.getpid())
    start_manager(session, tied=tied)
    if answer(session, "systemctl", "--user", "start", "dbus.socket"):
        if session.alive:
            raise SessionError("no session bus: install dbus-user-session (Debian) or dbus (Arch)")
        raise SessionError("the user manager ended while it started")
    # the bus starts at its first caller, and then the manager takes its name on it
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    answer(session, "busctl", "--user", "--timeout=10", "call", *bus)
    asked = ("busctl", "--user", "--timeout=2", "status", "org.freedesktop.systemd1")
    wait_until(lambda: answer(session, *asked) == 0, 15, "the manager's name on the bus")


def remove(directory: str) -> None:
    """Remove D, the folders in it that the manager made inaccessible as well."""
    for _ in range(5):  # a file being written as we remove it makes one pass fail
        for base, names, _ in os.walk(directory):
            for name in names:
                with contextlib.suppress(OSError):
                    if not Path(base, name).is_symlink():
                        Path(base, name).chmod(0o700)
        shutil.rmtree(directory, ignore_errors=True)
        if not Path(directory).exists():
            break


def down(session: Session) -> None:
    """End the manager and so its units, what is left in our groups, what we lent the machine; remove D."""
    if session.alive and session.life != os.getpid():
        os.kill(session.life, EXIT_MANAGER)

        def ended() -> bool:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(session.life, os.WNOHANG)
            return not session.alive

        wait_until(ended, GRACE)
    end_groups(session.tops)
    remove(session.directory)
    if os.geteuid() == 0:
        return_machine(session.directory)


def sweep() -> None:
    """Take away sessions whose keeper was killed before it could."""
    for user in list((SHARED / "users").glob("*")):
        with contextlib.suppress(SessionError, OSError, ValueError):
            dead = Session.load(user.read_text(encoding="utf-8"))
            if not dead.alive:
                down(dead)


def run(session: Session, command: list[str]) -> int:
    """Run a command in the session; its exit status as a shell would give it."""
    child: subprocess.Popen[bytes] | None = None

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    def interrupt(_number: int, _frame: object) -> None:
        if child is None:
            raise SystemExit(130)
        if not sys.stdin.isatty():  # a terminal gives it to the command as well
            child.send_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    signal.signal(signal.SIGINT, interrupt)
    claim(session)
    try:
        up(session, tied=True)
        prepare = become(session, tie=signal.SIGTERM)
        try:
            child = subprocess.Popen(command, env=session.environment, preexec_fn=prepare)
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


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("usage:\n", 1)[1])
    parser.add_argument("verb", choices=("run", "up", "env", "down"))
    parser.add_argument("--dir")
    parser.add_argument("--user", default=pwd.getpwuid(os.geteuid()).pw_name)
    parser.add_argument("--setenv", action="append", default=[], metavar="K=V")
    cut = argv.index("--") if "--" in argv else len(argv)
    asked = parser.parse_args(argv[:cut])
    asked.command = argv[cut + 1 :]
    if asked.verb == "run" and not asked.command:
        parser.error("run needs a command, after --")
    if asked.verb != "run" and not asked.dir:
        parser.error(f"{asked.verb} needs --dir")
    return asked


def carry_out(asked: argparse.Namespace) -> int:
    directory = str(Path(asked.dir).absolute()) if asked.dir else tempfile.mkdtemp(prefix="session-", dir="/tmp")
    if asked.verb == "down":
        down(Session.load(directory))
        return 0
    if asked.verb == "env":
        session = Session.load(directory)
    else:
        extra = dict(pair.split("=", 1) for pair in asked.setenv)
        session = Session(directory=directory, user=asked.user, extra=extra)
        if asked.verb == "run":
            return run(session, asked.command)
        claim(session)
        try:
            up(session, tied=False)
        except BaseException:
            down(session)
            raise
    for key, value in session.environment.items():
        print(f"export {key}={shlex.quote(value)}")
    return 0


def main() -> int:
    asked = arguments(sys.argv[1:])
    try:
        return carry_out(asked)
    except (SessionError, KeyError, ValueError) as error:
        print(f"private_session: {error.args[0]}", file=sys.stderr)
        return 125


if __name__ == "__main__":
    sys.exit(main())
