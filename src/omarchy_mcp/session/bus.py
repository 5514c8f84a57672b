"""The session bus: one connection whose calls cannot hang and whose callers are known.

The only module that imports dbus_next, and only its low-level messages: the library's service objects
hand tracebacks to callers and never say who calls, its proxies have no time-outs, and a call made after
the bus has died would wait for ever.
"""

import asyncio
import contextlib
import logging
import os
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

if not hasattr(typing, "no_type_check_decorator"):  # dbus-next 0.2.3 imports it; gone in Python 3.15
    typing.no_type_check_decorator = lambda decorator: decorator

from dbus_next import Message, MessageFlag, MessageType, Variant
from dbus_next.aio import MessageBus

from omarchy_mcp.session import environment

__all__ = ["Bus", "BusError", "BusGoneError", "Call", "Exported", "Method", "Reply", "Signal", "Variant"]

logger = logging.getLogger(__name__)

DBUS = "org.freedesktop.DBus"
DBUS_PATH = "/org/freedesktop/DBus"
PROPERTIES = "org.freedesktop.DBus.Properties"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
PEER = "org.freedesktop.DBus.Peer"

CALL_TIMEOUT_S = 10.0
"""Longest wait for an answer; callers of ours give up at 25 s."""

MAX_STRING = 65_536
"""Longest text put on the wire, in characters: the readers are a bar and a terminal."""


class BusError(Exception):
    """A call failed: `name` is the D-Bus error's name, `text` its message."""

    def __init__(self, name: str, text: str = "") -> None:
        super().__init__(f"{name}: {text}" if text else name)
        self.name = name
        self.text = text


class BusGoneError(BusError):
    """The connection is lost; it never comes back in this process."""

    def __init__(self, text: str = "the connection to the bus is lost") -> None:
        super().__init__("org.freedesktop.DBus.Error.Disconnected", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a call: its body, the descriptors that came with it (the receiver closes them), its sender."""

    body: list[Any]
    fds: list[int]
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A signal, with the unique name of whoever really sent it."""

    sender: str
    path: str
    interface: str
    member: str
    body: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A method call made to us."""

    sender: str
    member: str
    arguments: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How one exported method is called: its signatures and the coroutine that answers it."""

    takes: str
    gives: str
    answer: Callable[[Call], Awaitable[Sequence[object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One object: its introspection XML, its interface, its methods, and its properties as they are now."""

    xml: str
    interface: str
    methods: Mapping[str, Method]
    properties: Callable[[], Mapping[str, Variant]]


def wire(text: str) -> str:
    """Return text the bus accepts: no NUL, valid UTF-8, bounded; what it cannot carry is shown as an escape.

    A string the bus cannot carry makes it cut the connection of whoever sent it.
    """
    text = text.replace("\0", "\\x00")[:MAX_STRING]
    return text.encode("utf-8", "backslashreplace").decode()


def variant(value: object) -> Variant:
    """Wrap a plain value: bool b, int t (x when negative), float d, str s, list of str as."""
    match value:
        case bool():
            return Variant("b", value)
        case int():
            return Variant("t" if value >= 0 else "x", value)
        case float():
            return Variant("d", value)
        case str():
            return Variant("s", wire(value))
        case list() | tuple():
            return Variant("as", [wire(str(item)) for item in value])
        case _:
            raise TypeError(f"no D-Bus type for {type(value).__name__}")


def variants(values: Mapping[str, object]) -> dict[str, Variant]:
    """Wrap a mapping of plain values as a{sv}."""
    return {key: variant(value) for key, value in values.items()}


def plain(value: Any) -> Any:
    """Unwrap variants, however deep."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


class Bus:
    """A connection to the session bus."""

    def __init__(self, connection: MessageBus) -> None:
        self._connection = connection
        self._objects: dict[str, Exported] = {}
        self._listeners: list[Callable[[Signal], None]] = []
        self._overheard: Callable[[Call], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        connection.add_message_handler(self._receive)
        self._watch = asyncio.ensure_future(self._wait_gone())

    @classmethod
    async def connect(cls) -> "Bus":
        """Connect to the session's bus.

        Raises:
            BusGoneError: there is no bus to connect to.
        """
        # Descriptors must be negotiated: dbus-broker puts a pidfd into GetConnectionCredentials and
        # disconnects a peer that asked for it without being able to receive one.
        try:
            connection = await MessageBus(bus_address=environment.bus_address(), negotiate_unix_fd=True).connect()
        except (OSError, ValueError) as error:
            raise BusGoneError(f"cannot connect to the session bus: {error}") from error
        return cls(connection)

    async def _wait_gone(self) -> None:
        try:
            await self._connection.wait_for_disconnect()
        except Exception as error:  # noqa: BLE001 - whatever it was, the connection is gone
            logger.debug("bus connection ended: %r", error)
        # The library shuts its socket down and never closes it.
        self._connection._stream.close()  # noqa: SLF001
        self._connection._sock.close()  # noqa: SLF001
        if not self.gone.done():
            self.gone.set_result(None)

    def leave(self) -> None:
        """Disconnect at once."""
        if self.alive:  # to disconnect what is gone already prints a traceback
            self._connection.disconnect()

    async def close(self) -> None:
        """Send what is queued, then disconnect; the names this connection owns are released."""
        with contextlib.suppress(BusError):
            await self.call(DBUS, DBUS_PATH, PEER, "Ping", timeout=1)
        self.leave()
        await self.gone

    @property
    def unique_name(self) -> str:
        """This connection's own name, such as :1.42."""
        return str(self._connection.unique_name)

    @property
    def alive(self) -> bool:
        """Whether the connection is still there."""
        return bool(self._connection.connected)

    async def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Sequence[object] = (),
        *,
        timeout: float = CALL_TIMEOUT_S,  # noqa: ASYNC109 - the deadline is part of a call's contract
        activate: bool = True,
        fds: Sequence[int] = (),
    ) -> Reply:
        """Call a method and wait for its answer, at most `timeout` seconds.

        Raises:
            BusGoneError: the connection is lost, before or during the call.
            BusError: the peer answered with an error, or did not answer in time.
        """
        if not self.alive:
            raise BusGoneError
        message = Message(
            destination=destination,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
            unix_fds=list(fds),
            flags=MessageFlag.NONE if activate else MessageFlag.NO_AUTOSTART,
        )
        answer = asyncio.ensure_future(self._connection.call(message))
        done, _ = await asyncio.wait({answer, self.gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if answer not in done:
            answer.cancel()
            if self.gone in done:
                raise BusGoneError
            raise BusError("org.freedesktop.DBus.Error.Timeout", f"no answer to {member} in {timeout:g} s")
        return self._unpack(answer)

    @staticmethod
    def _unpack(answer: "asyncio.Future[Message]") -> Reply:
        try:
            reply = answer.result()
        except Exception as error:
            raise BusGoneError(repr(error)) from error
        if reply.message_type is MessageType.ERROR:
            text = reply.body[0] if reply.body and isinstance(reply.body[0], str) else ""
            raise BusError(str(reply.error_name), text)
        return Reply(body=list(reply.body), fds=list(reply.unix_fds), sender=str(reply.sender))

    def post(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Sequence[object] = (),
    ) -> None:
        """Send a call nobody answers; it neither activates the peer nor fails."""
        self._send(
            Message(
                destination=destination,
                path=path,
                interface=interface,
                member=member,
                signature=signature,
                body=list(body),
                flags=MessageFlag.NO_REPLY_EXPECTED | MessageFlag.NO_AUTOSTART,
            )
        )

    def emit(self, path: str, interface: str, member: str, signature: str, body: Sequence[object]) -> None:
        """Send a signal."""
        self._send(Message.new_signal(path, interface, member, signature, list(body)))

    def _send(self, message: Message) -> None:
        if self.alive:
            # nobody waits for it to be written; a lost connection is told by `gone`
            self._connection.send(message).add_done_callback(lambda sent: sent.cancelled() or sent.exception())

    def listen(self, listener: Callable[[Signal], None]) -> None:
        """Hand every signal that arrives to `listener`, which checks the sender itself."""
        self._listeners.append(listener)

    def overhear(self, listener: Callable[[Call], None]) -> None:
        """Hand every call that arrives to `listener` and answer none: most are for others, as a monitor is shown."""
        self._overheard = listener

    def match(self, rule: str) -> None:
        """Ask the bus for the signals of a rule; what is sent after this call is received."""
        self.post(DBUS, DBUS_PATH, DBUS, "AddMatch", "s", [rule])

    def unmatch(self, rule: str) -> None:
        """Take back a rule."""
        self.post(DBUS, DBUS_PATH, DBUS, "RemoveMatch", "s", [rule])

    async def request_name(self, name: str) -> bool:
        """Become the owner of `name`; false when somebody else is (never queue, never replace)."""
        do_not_queue = 4
        reply = await self.call(DBUS, DBUS_PATH, DBUS, "RequestName", "su", [name, do_not_queue])
        return bool(reply.body[0] == 1)

    async def owner(self, name: str) -> str | None:
        """Return the unique name of a well-known name's owner, or None when nobody owns it."""
        try:
            return str((await self.call(DBUS, DBUS_PATH, DBUS, "GetNameOwner", "s", [name])).body[0])
        except BusGoneError:
            raise
        except BusError:
            return None

    def serve(self, path: str, exported: Exported) -> None:
        """Answer calls to an object from now on."""
        self._objects[path] = exported

    def unserve(self, path: str) -> None:
        """Answer calls to an object no more."""
        self._objects.pop(path, None)

    @property
    def served(self) -> frozenset[str]:
        """Paths of the objects that are served."""
        return frozenset(self._objects)

    def changed(self, path: str, names: Sequence[str]) -> None:
        """Announce that properties of a served object have new values."""
        exported = self._objects[path]
        now = exported.properties()
        body = [exported.interface, {name: now[name] for name in names}, []]
        self.emit(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", body)

    def _receive(self, message: Message) -> Message | bool | None:
        if message.message_type is MessageType.SIGNAL:
            close_all(message.unix_fds)
            self._hear(message)
            return None
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        close_all(message.unix_fds)  # nobody parks descriptors with us
        if self._overheard is not None:
            self._overheard(Call(sender=message.sender or "", member=message.member, arguments=list(message.body)))
            return True
        exported = self._objects.get(message.path)
        return None if exported is None else self._dispatch(message, exported)

    def _hear(self, message: Message) -> None:
        signal = Signal(
            sender=message.sender or "",
            path=message.path or "",
            interface=message.interface or "",
            member=message.member or "",
            body=list(message.body),
        )
        for listener in self._listeners:
            try:
                listener(signal)
            except Exception:
                logger.exception("signal %s was not handled", signal.member)

    def _dispatch(self, message: Message, exported: Exported) -> Message | bool | None:
        match message.interface:
            case interface if interface == PEER:
                return None  # the library answers Ping and GetMachineId
            case interface if interface == INTROSPECTABLE:
                return Message.new_method_return(message, "s", [exported.xml])
            case interface if interface == PROPERTIES:
                return read_properties(message, exported)
            case None | exported.interface:
                method = exported.methods.get(message.member)
            case _:
                return Message.new_error(message, f"{DBUS}.Error.UnknownInterface", "no such interface here")
        if method is None:
            return Message.new_error(message, f"{DBUS}.Error.UnknownMethod", f"no method {message.member}")
        if message.signature != method.takes:
            text = f"{message.member} takes ({method.takes}), not ({message.signature})"
            return Message.new_error(message, f"{DBUS}.Error.InvalidArgs", text)
        task = asyncio.ensure_future(self._answer(message, method))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _answer(self, message: Message, method: Method) -> None:
        call = Call(sender=message.sender or "", member=message.member, arguments=list(message.body))
        try:
            reply = Message.new_method_return(message, method.gives, list(await method.answer(call)))
        except BusError as error:
            reply = Message.new_error(message, error.name, wire(error.text))
        except Exception:
            logger.exception("method %s failed", message.member)  # for the journal, not for the caller
            reply = Message.new_error(message, f"{DBUS}.Error.Failed", "internal error, the journal says which")
        if not message.flags & MessageFlag.NO_REPLY_EXPECTED:
            self._send(reply)


def read_properties(message: Message, exported: Exported) -> Message:
    """Answer Get, GetAll and Set for a served object."""
    error = f"{DBUS}.Error"
    if message.signature not in ("s", "ss", "ssv"):
        return Message.new_error(message, f"{error}.InvalidArgs", f"no such form of {message.member}")
    if message.body[0] not in ("", exported.interface):
        return Message.new_error(message, f"{error}.UnknownInterface", "no such interface here")
    match (message.member, message.signature):
        case ("GetAll", "s"):
            return Message.new_method_return(message, "a{sv}", [dict(exported.properties())])
        case ("Get", "ss"):
            value = exported.properties().get(message.body[1])
            if value is None:
                return Message.new_error(message, f"{error}.UnknownProperty", "no such property")
            return Message.new_method_return(message, "v", [value])
        case ("Set", "ssv"):
            return Message.new_error(message, f"{error}.PropertyReadOnly", "properties are read-only")
        case _:
            return Message.new_error(message, f"{error}.InvalidArgs", f"no such form of {message.member}")


def close_all(fds: Sequence[int]) -> None:
    """Close descriptors that came with a message."""
    for fd in fds:
        os.close(fd)
