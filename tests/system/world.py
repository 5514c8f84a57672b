"""The login session the tests run in: a private one this module starts, or the lab's own.

It knows nothing of the product.  With LAB=1 in the environment the user manager that is there is the
world; everywhere else a private manager, bus and (as root) journald are started and taken down again,
so that a person's own session is never touched.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

REPO = Path(__file__).resolve().parents[2]
SESSION_PROGRAM = REPO / "demo" / "private_session.py"
# Prints the session's environment, then lasts until its standard input is closed.
HOLDER = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"
# Ends a private session's manager and starts another; the session is this program's meanwhile, so nobody clears it.
RESTART = """
import os, sys
sys.path.insert(0, sys.argv[1])
import private_session as program
session = program.Session.load(sys.argv[2])
manager = program.Session.load(sys.argv[2])
session.save(os.getpid())
os.kill(manager.life, program.EXIT_MANAGER)
program.wait_until(lambda: not manager.alive, 20, "the end of the user manager")
program.start_manager(session, tied=False)
"""
POLL_SECONDS = 0.02
WAIT_SECONDS = 5.0
# A manager that ends waits for its units; a real one has 90 s for that.
MANAGER_SECONDS = 30.0
Value = TypeVar("Value")


class UnmetError(AssertionError):
    """A condition did not come true in its time."""


def wait_until(condition: Callable[[], Value], what: str, seconds: float = WAIT_SECONDS) -> Value:
    """Return the first true value of `condition`; raises UnmetError once `seconds` are over."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise UnmetError(f"not within {seconds} s: {what}; last value {value!r}")
        pause.wait(POLL_SECONDS)


def python_environment() -> str:
    """The Python environment the product is to run in: the one named, else the one the tests run in."""
    return os.environ.get("OMARCHY_MCP_VENV") or sys.prefix


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class World:
    """One session: its environment, and programs run in it."""

    def __init__(self, env: Mapping[str, str], scratch: Path, holder: "subprocess.Popen[str] | None") -> None:
        self.env = dict(env)
        self.scratch = scratch
        self._holder = holder

    @property
    def private(self) -> bool:
        """Whether the session is ours to end and restart."""
        return self._holder is not None

    @property
    def runtime(self) -> Path:
        return Path(self.env["XDG_RUNTIME_DIR"])

    def folder(self, variable: str, default: str) -> Path:
        """One of the XDG folders of the session."""
        return Path(self.env.get(variable) or Path(self.env["HOME"]) / default)

    def run(
        self, *argv: str, given: str | None = None, seconds: float = 30, check: bool = True, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program in the session; raises AssertionError with its words when `check` and it fails."""
        done = subprocess.run(
            argv,
            env={**self.env, **env},
            input=given,
            stdin=None if given is not None else subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(argv)[:300]} -> {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *argv: str, **env: str) -> "subprocess.Popen[str]":
        """Start a program in the session; the caller ends it."""
        return subprocess.Popen(
            argv,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )

    def systemctl(self, *words: str, seconds: float = 30, check: bool = True) -> str:
        return self.run("systemctl", "--user", "--no-pager", *words, seconds=seconds, check=check).stdout

    def show(self, unit: str, name: str) -> str:
        """One property of a unit, as systemd prints it."""
        return self.systemctl("show", "--property", name, "--value", "--", unit).strip()

    def pid_on_bus(self, name: str) -> int:
        """The process that owns a bus name; 0 when nobody does."""
        done = self.run(
            "busctl",
            "--user",
            "--json=short",
            "call",
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "GetConnectionUnixProcessID",
            "s",
            name,
            check=False,
        )
        return int(json.loads(done.stdout)["data"][0]) if done.returncode == 0 else 0

    def restart_manager(self) -> None:
        """End the private user manager and start another in its place: a logout and a login."""
        assert self._holder is not None, "only a private manager may be restarted"
        self.run(
            sys.executable,
            "-B",
            "-c",
            RESTART,
            str(SESSION_PROGRAM.parent),
            str(self.scratch / "s"),
            seconds=MANAGER_SECONDS,
        )
        wait_until(self._manager_answers, "the new user manager answers", MANAGER_SECONDS)

    def _manager_answers(self) -> bool:
        if self.run("systemctl", "--user", "start", "dbus.socket", check=False).returncode:
            return False
        return self.pid_on_bus("org.freedesktop.systemd1") > 0

    def logs(self) -> str:
        """What the managers wrote outside the journal."""
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in self.scratch.rglob("*.log")]
        return "\n".join(texts)[-4000:]

    def close(self) -> None:
        """End what was started; the lab's session is left as it is."""
        if self._holder is not None and self._holder.stdin is not None:
            self._holder.communicate(timeout=MANAGER_SECONDS)  # closes its input, and it ends
        shutil.rmtree(self.scratch, ignore_errors=True)


def open_world() -> World:
    """Take the lab's session, or start a private one."""
    scratch = Path(tempfile.mkdtemp(prefix="omt-"))
    scratch.chmod(0o755)
    if os.environ.get("LAB") == "1":
        return World(os.environ, scratch, None)
    with (scratch / "session.log").open("ab") as log:
        holder = subprocess.Popen(
            [
                sys.executable,
                str(SESSION_PROGRAM),
                "run",
                "--dir",
                str(scratch / "s"),
                "--",
                sys.executable,
                "-c",
                HOLDER,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        )
    assert holder.stdout is not None
    line = holder.stdout.readline()
    if not line.startswith("{"):
        holder.communicate()
        words = (scratch / "session.log").read_text(encoding="utf-8")
        shutil.rmtree(scratch, ignore_errors=True)
        raise AssertionError(f"no private session: {line}{words}")
    return World(json.loads(line), scratch, holder)
