"""The product's units in a session's manager for as long as `make run` lasts, and not a moment longer.

Everything lies below XDG_RUNTIME_DIR: links to the unit files, drop-ins, the activation file, and the
folders the product would otherwise make in the user's home.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import SessionError

REPO = Path(__file__).resolve().parents[1]
NAME = "io.github.bruce_forte.OmarchyMcp1"
OBJECT = "/io/github/bruce_forte/OmarchyMcp1"
SOCKET = "omarchy-mcp.socket"
SERVER = "omarchy-mcp.service"
CONTROL = "omarchy-mcp-control.service"
SLICE = "app-omarchymcp.slice"
NOTIFIER = "omarchy-mcp-demo-notifications.service"
DROP_IN = "make-run.conf"


def ask(*argv: str, check: bool = True) -> str:
    """Run one of systemd's tools; its output.  Raises: SessionError with its words."""
    done = subprocess.run(argv, text=True, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise SessionError(f"{' '.join(argv[:4])}: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


def systemctl(*words: str, check: bool = True) -> str:
    return ask("systemctl", "--user", "--no-pager", *words, check=check)


def call_bus(method: str, *arguments: str) -> str:
    return ask("busctl", "--user", "--json=short", "call", NAME, OBJECT, NAME, method, *arguments)


def owned(name: str) -> bool:
    """Whether somebody has a name on the session bus."""
    return bool(ask("busctl", "--user", "status", name, check=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryUnits:
    """What to install, and where."""

    runtime: Path
    port: int
    environment: dict[str, str]  # of the two services
    folders: dict[str, str]  # XDG variables of the services

    @property
    def scratch(self) -> Path:
        return self.runtime / "omarchy-mcp-run"

    @property
    def token(self) -> Path:
        state = self.folders.get("XDG_STATE_HOME") or os.environ["XDG_STATE_HOME"]
        return Path(state, "io.github.bruce-forte.mcp-server/token")

    def refuse_if_installed(self) -> None:
        """Raises: SessionError where the session's manager has the product's units from somewhere else."""
        for unit in (SOCKET, SERVER, CONTROL):
            file = systemctl("show", "--property=FragmentPath", "--value", unit)
            if file and not file.startswith(f"{self.runtime}/"):
                state = systemctl("is-active", SOCKET, check=False)
                raise SessionError(
                    f"omarchy-mcp is installed in this session ({file}; {SOCKET} is {state}), and nothing here "
                    "touches it: see bin/omarchy-mcpctl status, or take `make run PRIVATE=1 PORT=8766`"
                )

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the session's one place for a run; what a run that was killed left is taken away first."""
        with (self.runtime / "omarchy-mcp-run.lock").open("w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SessionError("another `make run` is going on in this session") from None
            try:
                self.remove()
                yield
            finally:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave anything behind
                self.remove()
                Path(lock.name).unlink(missing_ok=True)

    def unit_files(self) -> list[Path]:
        folder = REPO / "systemd"
        return [path for path in sorted(folder.iterdir()) if path.name in {SOCKET, SERVER, CONTROL, SLICE}]

    def write_drop_in(self, unit: str, text: str) -> None:
        folder = self.runtime / "systemd/user" / f"{unit}.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DROP_IN).write_text(text, encoding="utf-8")

    def install(self) -> None:
        """Link the units and open the port; the server itself starts at its first client."""
        for folder in self.folders.values():
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        systemctl("link", "--runtime", *map(str, self.unit_files()))
        self.write_drop_in(SOCKET, f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{self.port}\n")
        variables = "".join(f'Environment="{k}={v}"\n' for k, v in {**self.environment, **self.folders}.items())
        for unit in (SERVER, CONTROL):
            self.write_drop_in(unit, f"[Service]\n{variables}")
        services = self.runtime / "dbus-1/services"
        services.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPO / "systemd" / f"{NAME}.service", services / f"{NAME}.service")
        systemctl("daemon-reload")
        self.reload_bus()
        systemctl("start", SOCKET)

    def reload_bus(self) -> None:
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
        ask("busctl", "--user", "call", *bus, check=False)

    def remove(self) -> None:
        """Stop what runs and take everything away; fine where there is nothing."""
        user = self.runtime / "systemd/user"
        ours = [unit for unit in (SOCKET, SERVER, CONTROL, SLICE) if (user / unit).is_symlink()]
        if ours:
            systemctl("stop", SOCKET, SERVER, check=False)
            systemctl("stop", CONTROL, SLICE, check=False)  # after the server, which may start it once more
        systemctl("stop", NOTIFIER, check=False)
        for unit in ours:
            (user / unit).unlink()
        for unit in (SOCKET, SERVER, CONTROL):
            (user / f"{unit}.d" / DROP_IN).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                (user / f"{unit}.d").rmdir()
        (self.runtime / "dbus-1/services" / f"{NAME}.service").unlink(missing_ok=True)
        for folder in ("dbus-1/services", "dbus-1", "systemd/user"):
            with contextlib.suppress(OSError):  # others may have something in it
                (self.runtime / folder).rmdir()
        shutil.rmtree(self.scratch, ignore_errors=True)
        if ours:
            shutil.rmtree(self.runtime / "omarchy-mcp", ignore_errors=True)
            systemctl("daemon-reload", check=False)
            systemctl("reset-failed", SOCKET, SERVER, CONTROL, check=False)
            self.reload_bus()
