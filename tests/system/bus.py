"""The session bus as a person and as a rude program use it: busctl, and messages built by hand."""

import asyncio
import contextlib
import json
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

from system.world import World

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from dbus_next.aio.message_bus import MessageBus
    from dbus_next.constants import MessageType
    from dbus_next.message import Message
    from dbus_next.signature import Variant

    from omarchy_mcp.session import bus as _compatible  # noqa: F401 - makes the import below work everywhere

NAME = "io.github.bruce_forte.OmarchyMcp1"
PATH = "/io/github/bruce_forte/OmarchyMcp1"
ERROR = f"{NAME}.Error."
REPLY_SECONDS = 10.0


def busctl(world: World, *words: str, check: bool = True) -> Any:
    """Run busctl with JSON output; returns its data, or None when there is none or it failed."""
    done = world.run("busctl", "--user", "--json=short", "--timeout=10", *words, check=check)
    return json.loads(done.stdout)["data"] if done.returncode == 0 and done.stdout.strip() else None


def plain(value: Any) -> Any:
    """busctl's {"type": …, "data": …} values without the types."""
    if isinstance(value, dict):
        if set(value) == {"type", "data"}:
            return plain(value["data"])
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@asynccontextmanager
async def connected(world: World) -> AsyncIterator[MessageBus]:
    """A connection to the session's bus."""
    bus = await MessageBus(bus_address=world.env["DBUS_SESSION_BUS_ADDRESS"]).connect()
    try:
        yield bus
    finally:
        bus.disconnect()
        # it shuts the connection down and leaves closing to the garbage collector, which warns
        asyncio.get_running_loop().remove_reader(bus._fd)
        bus._stream.close()
        bus._sock.close()


async def states(world: World, act: Callable[[], object]) -> list[str]:
    """The states that are signalled while something is done, until none comes for a second."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    def hear(message: Message) -> None:
        if message.member == "PropertiesChanged" and message.path == PATH and "State" in message.body[1]:
            heard.put_nowait(message.body[1]["State"].value)

    async with connected(world) as bus:
        bus.add_message_handler(hear)
        await bus.call(
            Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus",
                member="AddMatch",
                signature="s",
                body=[f"type='signal',path='{PATH}',member='PropertiesChanged'"],
            )
        )
        await asyncio.to_thread(act)
        found = []
        with contextlib.suppress(TimeoutError):
            while True:
                found.append(await asyncio.wait_for(heard.get(), 1))
    return found


async def times(world: World, member: str, signature: str, body: tuple[Any, ...], count: int) -> list[float]:
    """How long so many calls of the control service take on one connection, in seconds."""
    taken = []
    async with connected(world) as bus:
        for _ in range(count):
            begun = time.perf_counter()
            await bus.call(
                Message(
                    destination=NAME, path=PATH, interface=NAME, member=member, signature=signature, body=list(body)
                )
            )
            taken.append(time.perf_counter() - begun)
    return taken


class Caller:
    """Calls the control service, on one connection."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus

    async def ask(self, member: str, signature: str = "", *body: Any, peer: str = NAME, path: str = PATH) -> Any:
        """The only answer of a method, "" for one that has none; None for an error, or when there is no answer."""
        message = Message(
            destination=peer, path=path, interface=peer, member=member, signature=signature, body=list(body)
        )
        reply = await asyncio.wait_for(self._bus.call(message), REPLY_SECONDS)
        if reply is None or reply.message_type is MessageType.ERROR:
            return None
        return unwrapped(reply.body[0]) if reply.body else ""


@asynccontextmanager
async def monitored(world: World, see: Callable[[str, str, list[Any]], None], *rules: str) -> AsyncIterator[None]:
    """Show `see` each message of these rules, whoever's it is: its member, its path, its body."""

    def shown(message: Message) -> bool:
        see(message.member or "", message.path or "", message.body)
        # a monitor that answers, were it with an error, is disconnected
        return message.message_type is MessageType.METHOD_CALL

    async with connected(world) as bus:
        bus.add_message_handler(shown)
        dbus = "org.freedesktop.DBus"
        become = Message(
            destination=dbus, path="/org/freedesktop/DBus", interface=f"{dbus}.Monitoring", member="BecomeMonitor",
            signature="asu", body=[list(rules), 0],
        )  # fmt: skip
        reply = await bus.call(become)
        assert reply is not None
        assert reply.message_type is MessageType.METHOD_RETURN, reply.body
        yield


def unwrapped(value: Any) -> Any:
    """An answer without its variants."""
    if isinstance(value, Variant):
        return unwrapped(value.value)
    if isinstance(value, dict):
        return {key: unwrapped(item) for key, item in value.items()}
    return [unwrapped(item) for item in value] if isinstance(value, list) else value


@contextlib.contextmanager
def taken(world: World, name: str) -> Iterator[None]:
    """A name that another program owns, for a while."""
    loop = asyncio.new_event_loop()
    connection = connected(world)
    bus = loop.run_until_complete(connection.__aenter__())
    try:
        loop.run_until_complete(bus.request_name(name))
        yield
    finally:
        loop.run_until_complete(connection.__aexit__(None, None, None))
        loop.close()


class Control:
    """The control service, called as a person would by hand."""

    def __init__(self, world: World) -> None:
        self.world = world

    def call(self, member: str, *words: str, start: bool = True) -> Any:
        """Call a method by busctl; returns its only answer, or None."""
        answer = busctl(
            self.world, f"--auto-start={'yes' if start else 'no'}", "call", NAME, PATH, NAME, member, *words
        )
        return plain(answer[0]) if answer else None

    def status(self, *, start: bool = True) -> dict[str, Any]:
        status: dict[str, Any] = self.call("Status", start=start)
        return status

    def recent(self, count: int = 8) -> list[dict[str, Any]]:
        """The newest records first."""
        records: list[dict[str, Any]] = self.call("Recent", "ua{sv}", str(count), "0")
        return records

    def get(self, name: str) -> Any:
        return plain(busctl(self.world, "get-property", NAME, PATH, NAME, name))

    def owner(self) -> str:
        """Who owns the name now; empty when nobody does.  Starts nothing."""
        answer = busctl(
            self.world,
            "call",
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "GetNameOwner",
            "s",
            NAME,
            check=False,
        )
        return str(answer[0]) if answer else ""

    def raw(
        self,
        member: str,
        signature: str = "",
        body: tuple[Any, ...] = (),
        *,
        interface: str = NAME,
        path: str = PATH,
    ) -> tuple[str, list[Any]]:
        """Send any message; returns the error's name ("" when there is none) and the answer's body."""
        return asyncio.run(
            self._raw(
                Message(
                    destination=NAME,
                    path=path,
                    interface=interface,
                    member=member,
                    signature=signature,
                    body=list(body),
                )
            )
        )

    async def _raw(self, message: Message) -> tuple[str, list[Any]]:
        async with connected(self.world) as bus:
            reply = await asyncio.wait_for(bus.call(message), REPLY_SECONDS)
        assert reply is not None
        return (reply.error_name if reply.message_type is MessageType.ERROR else ""), list(reply.body)


def text(value: str) -> Variant:
    """A string as a variant."""
    return Variant("s", value)
