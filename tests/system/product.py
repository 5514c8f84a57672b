"""The product, installed in a world: its units linked, its port moved, its words when a test fails.

One installation serves a whole test run.  `ready()` gives the next test a listening socket and no leftovers.
"""

import functools
import random
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from system import journal, wire
from system.bus import NAME, Control, busctl
from system.client import Era, Rpc
from system.desktop import Desktop
from system.world import REPO, UnmetError, World, open_world, python_environment, wait_until

ID = "io.github.bruce-forte.mcp-server"
SOCKET = "omarchy-mcp.socket"
SERVICE = "omarchy-mcp.service"
CONTROL = "omarchy-mcp-control.service"
SLICE = "app-omarchymcp.slice"
UNITS = REPO / "systemd"
ACTIVATION = UNITS / f"{NAME}.service"
# Below the range the kernel takes clients' own ports from: a client must not meet itself on a closed port.
PORTS = range(20_000, 32_000)
# Cold start of the server is about 0.6 s of processor time; a loaded machine takes its time.
START_SECONDS = 20.0


def free_port() -> int:
    """A port nobody holds now."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            if probe.connect_ex((wire.HOST, port)):
                return port


class Product:
    """The product in its world, seen from outside."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.desktop = Desktop(world)
        self.port = free_port()
        self.control = Control(world)
        self.venv = python_environment()

    # --- installation

    @property
    def manager_environment(self) -> dict[str, str]:
        """What the session's manager is told, at every login."""
        return {**self.desktop.environment, "OMARCHY_MCP_VENV": self.venv}

    @property
    def state(self) -> Path:
        return self.world.folder("XDG_STATE_HOME", ".local/state") / ID

    def install(self) -> None:
        """Link the units, write the activation file, move the port, listen."""
        self.desktop.write_config()
        self.tell_manager()
        self.link()
        services = self.world.folder("XDG_DATA_HOME", ".local/share") / "dbus-1" / "services"
        services.mkdir(parents=True, exist_ok=True)
        shutil.copy(ACTIVATION, services / ACTIVATION.name)
        busctl(
            self.world,
            "call",
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "ReloadConfig",
        )
        self.write_drop_in(SOCKET, "port", f"[Socket]\nListenStream=\nListenStream={wire.HOST}:{self.port}\n")
        self.world.systemctl("daemon-reload")
        self.ready()

    def link(self) -> None:
        """Make the units known, as the set-up does."""
        kinds = {".socket", ".service", ".slice"}
        units = [path for path in sorted(UNITS.iterdir()) if path.suffix in kinds and path != ACTIVATION]
        self.world.systemctl("link", *map(str, units))

    def uninstall(self) -> None:
        """Stop everything and unlink the units."""
        self.world.systemctl("stop", SOCKET, SERVICE, CONTROL, SLICE, check=False)
        self.world.systemctl("disable", SOCKET, SERVICE, CONTROL, SLICE, check=False)
        for unit in (SOCKET, SERVICE, CONTROL):
            shutil.rmtree(self._drop_ins(unit), ignore_errors=True)
        (self.world.folder("XDG_DATA_HOME", ".local/share") / "dbus-1" / "services" / ACTIVATION.name).unlink(
            missing_ok=True
        )
        self.world.systemctl("daemon-reload", check=False)

    def tell_manager(self) -> None:
        self.world.systemctl("set-environment", *(f"{key}={value}" for key, value in self.manager_environment.items()))

    def ready(self) -> None:
        """A listening socket, whatever the test before did; the service is left as it is."""
        self.world.systemctl("reset-failed", check=False)
        self.world.systemctl("stop", SLICE)
        if self.show(SOCKET, "LoadState") != "loaded":  # a test before may have left it so
            self.link()
        if self.show(SOCKET, "ActiveState") != "active":
            self.world.systemctl("start", SOCKET)
        self.desktop.forget()

    def _drop_ins(self, unit: str) -> Path:
        return self.world.runtime / "systemd" / "user" / f"{unit}.d"

    def write_drop_in(self, unit: str, name: str, text: str) -> Path:
        """Change a unit for this boot only; takes effect at the next daemon-reload."""
        folder = self._drop_ins(unit)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"test-{name}.conf"
        file.write_text(text, encoding="utf-8")
        return file

    @contextmanager
    def changed(self, unit: str, text: str) -> Iterator[None]:
        """A unit with other settings, for a while; the service is stopped before and after."""
        file = self.write_drop_in(unit, "while", text)
        self.world.systemctl("daemon-reload")
        self.sleep()
        try:
            yield
        finally:
            file.unlink()
            self.world.systemctl("daemon-reload")
            self.sleep()
            self.ready()

    # --- state

    def show(self, unit: str, name: str) -> str:
        return self.world.show(unit, name)

    def pid(self, unit: str = SERVICE) -> int:
        """The main process of a unit; 0 when it has none."""
        return int(self.show(unit, "MainPID") or 0)

    def sleep(self) -> None:
        """Stop the service; the socket goes on listening."""
        self.world.systemctl("reset-failed", check=False)
        self.world.systemctl("stop", SERVICE)
        self.world.systemctl("start", SOCKET)

    def wake(self) -> int:
        """See that the server serves; returns its process."""
        wait_until(self.healthy, "the server is healthy", START_SECONDS)
        return self.pid()

    def healthy(self) -> bool:
        try:
            return wire.request(self.port, "GET", "/health", seconds=START_SECONDS).status == 200
        except OSError:
            return False

    def restart(self) -> None:
        self.world.systemctl("restart", SERVICE)

    def job_unit(self, job: str) -> str:
        """The unit of a job that is there; empty when it is gone."""
        listed = self.world.systemctl(
            "list-units", "--all", "--plain", "--no-legend", f"app-omarchymcp-*-{job}.service"
        )
        return listed.split()[0] if listed.split() else ""

    # --- talking to it

    @property
    def url(self) -> str:
        return f"http://{wire.HOST}:{self.port}/mcp"

    def token(self) -> str:
        """The secret, which the server makes at its first start."""
        file = self.state / "token"
        if not file.exists():
            self.wake()
        return file.read_text(encoding="utf-8").strip()

    def rpc(self, era: Era = Era.MODERN) -> Rpc:
        """A client that has said hello."""
        client = Rpc(self.port, self.token(), era)
        client.initialize()
        return client

    def records(self, event: str = "call", *, since: float | None = None) -> list[journal.Entry]:
        return journal.records(self.world, event, since=since)

    def recorded(self, route: str, *args: str, **options: Any) -> journal.Entry:
        """Run a command and return the audit's record of that call."""
        client, since = self.rpc(), journal.moment()
        client.do(route, *args, **options)

        def written() -> list[journal.Entry]:
            return [entry for entry in self.records(since=since) if entry.get("OMARCHY_MCP_ROUTE") == route]

        return wait_until(written, f"a record of {route}")[-1]

    def words(self, since: float) -> str:
        """What the product said, for a person who looks at a failed test."""
        return journal.lines(self.world, SOCKET, SERVICE, CONTROL, since=since)


@functools.cache
def shared() -> Product:
    """The one installation of this test run."""
    product = Product(open_world())
    try:
        product.install()
    except BaseException:
        print(product.world.logs())
        print(product.words(journal.moment(60)))
        product.world.close()
        raise
    return product


def close_shared() -> None:
    """Take the installation away again, if there is one."""
    if shared.cache_info().currsize:
        product = shared()
        shared.cache_clear()
        try:
            product.uninstall()
        except (AssertionError, UnmetError) as error:
            print(f"the product could not be removed: {error}")
        product.world.close()
