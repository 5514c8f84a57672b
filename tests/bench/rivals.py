"""Whom the product is measured against: bare servers behind socket units of their own, in the same session."""

from dataclasses import dataclass
from pathlib import Path

from bench import bare_bus as bare_bus_names
from system import bus, client
from system.client import Era
from system.product import Product, free_port
from system.world import World

HERE = Path(__file__).parent
SOCKET = """[Socket]
ListenStream=127.0.0.1:{port}
NoDelay=yes
"""
SERVICE = """[Service]
Type=notify
NotifyAccess=main
Environment=PYTHONPATH={tests}
ExecStart={python} -X pycache_prefix={cache} -m bench.{name}
TimeoutStopSec=10
"""


BUS_SERVICE = """[Service]
Type=dbus
BusName={bus_name}
Environment=PYTHONPATH={tests}
ExecStart={python} -X pycache_prefix={cache} -m bench.bare_bus
"""
ACTIVATION = """[D-BUS Service]
Name={bus_name}
Exec=/bin/false
SystemdService=bench-bare-bus.service
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A server behind a socket unit, and how its cheapest tool is called."""

    name: str
    world: World
    unit: str
    port: int
    token: str
    tool: str
    arguments: dict[str, object]

    def sleep(self) -> None:
        """Stop the service; the socket goes on listening."""
        self.world.systemctl("stop", f"{self.unit}.service", check=False)
        self.world.systemctl("start", f"{self.unit}.socket")

    @property
    def pid(self) -> int:
        return int(self.world.show(f"{self.unit}.service", "MainPID"))

    def request(self, method: str, era: Era) -> bytes:
        """The bytes of one request on a kept connection."""
        name = ""
        if method == "tools/call":
            name, params = self.tool, {"name": self.tool, "arguments": self.arguments}
        else:
            params = client.INITIALIZE if method == "initialize" else {}
        body = client.message(method, params, era).encode()
        lines = [f"{key}: {value}" for key, value in client.headers(self.token, era, method, name).items()]
        lines += [f"Host: 127.0.0.1:{self.port}", f"Content-Length: {len(body)}"]
        head = "".join(f"{line}\r\n" for line in ["POST /mcp HTTP/1.1", *lines, ""])
        return head.encode() + body


def the_product(product: Product) -> Rival:
    """The product as one of them."""
    return Rival(
        name="product", world=product.world, unit="omarchy-mcp", port=product.port, token=product.token(),
        tool="omarchy_search_commands", arguments={"query": "theme", "limit": 1},
    )  # fmt: skip


def bare(product: Product, name: str) -> Rival:
    """Install one of the bare servers of this folder."""
    world, port, unit = product.world, free_port(), f"bench-{name.replace('_', '-')}"
    folder = world.runtime / "systemd" / "user"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{unit}.socket").write_text(SOCKET.format(port=port), encoding="utf-8")
    (folder / f"{unit}.service").write_text(
        SERVICE.format(
            python=f"{product.venv}/bin/python", cache=world.scratch / "pycache", tests=HERE.parent, name=name
        ),
        encoding="utf-8",
    )
    world.systemctl("daemon-reload")
    world.systemctl("start", f"{unit}.socket")
    return Rival(name=name, world=world, unit=unit, port=port, token="none", tool="echo", arguments={"text": "x"})


def bare_bus(product: Product) -> str:
    """Install the bare bus service; returns its unit."""
    world, unit = product.world, "bench-bare-bus.service"
    (world.runtime / "systemd" / "user" / unit).write_text(
        BUS_SERVICE.format(
            bus_name=bare_bus_names.NAME,
            tests=HERE.parent,
            python=f"{product.venv}/bin/python",
            cache=world.scratch / "pycache",
        ),
        encoding="utf-8",
    )
    services = world.folder("XDG_DATA_HOME", ".local/share") / "dbus-1" / "services"
    (services / f"{bare_bus_names.NAME}.service").write_text(
        ACTIVATION.format(bus_name=bare_bus_names.NAME), encoding="utf-8"
    )
    world.systemctl("daemon-reload")
    dbus = "org.freedesktop.DBus"
    bus.busctl(world, "call", dbus, "/org/freedesktop/DBus", dbus, "ReloadConfig")
    return unit
