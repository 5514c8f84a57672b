"""HTTP around the MCP application: access first, connections bounded, a stop that loses nothing.

The rules are policy.access; here is what carries them out on uvicorn.
"""

import asyncio
import contextlib
import json
import logging
import signal
import socket
from collections import OrderedDict
from collections.abc import Callable, Container, Iterator, Mapping
from types import FrameType
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from omarchy_mcp.policy import access
from omarchy_mcp.server.owners import HEADER, STRANGER, Owners

logger = logging.getLogger(__name__)

MAX_CONNECTIONS = 512
"""Open at once; beyond it the connection that has waited longest for a request of its own is closed."""

REQUEST_S = 10.0
"""A request is complete within this time of its first byte, a connection makes one within this time."""

KEEP_ALIVE_S = 75
DRAIN_S = 0.1
GRACE_S = 3
BACKLOG = 128
LISTEN_METHOD = b"subscriptions/listen"

CLIENT = "omarchy_mcp.client"
"""Key of the ASGI scope under which the application finds the client's name."""


class Door:
    """The pure-ASGI gate in front of every route; knows what is in flight and which streams are long."""

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        tokens: Callable[[], Mapping[str, bytes]],
        health: Callable[[], dict[str, object]],
        ended: Callable[[str], None],
    ) -> None:
        """`tokens` are digests by client, as they count now; `ended` is told the id of each session a client ends."""
        self._app = app
        self._port = port
        self._tokens = tokens
        self._health = health
        self._ended = ended
        self._owners = Owners()
        self._streams: dict[asyncio.Task[None], bytes] = {}
        """Those that are open, and the digest of the token each was opened with."""
        self.attached = 0
        """Clients that listen: long-lived streams that are open."""
        self.attached_changed = asyncio.Event()
        """Set when that has changed; cleared by whoever waits for it."""
        self.in_flight = 0
        self.served = 0
        self.draining = False
        self.idle = asyncio.Event()
        self.idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass on the application's life cycle."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        tokens = self._tokens()
        verdict = access.check(headers, scope["path"], self._port, tokens)
        send = self._closing(send) if self.draining else send
        if isinstance(verdict, access.Rejected):
            await reject(send, verdict)
        elif verdict.path == access.HEALTH_PATH:
            await answer(send, 200, self._health())
        elif any(self._owners.foreign(session, verdict.client) for session in sessions_of(headers)):
            await answer(send, 404, STRANGER)
        else:
            headers = [(name, value.lower() if name in (b"host", b"origin") else value) for name, value in headers]
            scope = {**scope, "headers": headers, CLIENT: verdict.client}
            await self._serve(scope, receive, self._owners.noting(send, verdict.client), tokens[verdict.client])

    async def _serve(self, scope: Scope, receive: Receive, send: Send, token: bytes) -> None:
        headers = scope["headers"]
        self.in_flight += 1
        self.served += 1
        self.idle.clear()
        try:
            if scope["method"] == "GET" or (b"mcp-method", LISTEN_METHOD) in headers:
                await self._hold(scope, receive, send, token)
            elif scope["method"] == "DELETE":
                await self._app(scope, receive, self._ending(send, "".join(sessions_of(headers)[:1])))
            else:
                await self._app(scope, receive, send)
        finally:
            self.in_flight -= 1
            if self.in_flight == 0:
                self.idle.set()

    async def _hold(self, scope: Scope, receive: Receive, send: Send, token: bytes) -> None:
        """Serve a long-lived stream so that `close_streams` can finish it with a proper last chunk."""
        started = done = listening = False

        async def watched(message: Message) -> None:
            nonlocal started, done, listening
            if message["type"] == "http.response.start":
                started, listening = True, message["status"] == 200
                self._attach(listening)
            done = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        task: asyncio.Task[None] = asyncio.ensure_future(self._app(scope, receive, watched))
        self._streams[task] = token
        try:
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
            if started and not done:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            task.cancel()
            del self._streams[task]
            self._attach(-listening)

    def _attach(self, change: int) -> None:
        if change:
            self.attached += change
            self.attached_changed.set()

    def _ending(self, send: Send, session_id: str) -> Send:
        """Tell of a session that is ended, once it is."""

        async def ending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                self._owners.forget(session_id)
                self._ended(session_id)
            await send(message)

        return ending

    def close_streams(self, keep: Container[bytes] = ()) -> list["asyncio.Task[None]"]:
        """Begin to end the long-lived streams whose tokens are not among these digests, each cleanly."""
        streams = [stream for stream, token in self._streams.items() if token not in keep]
        for stream in streams:
            stream.cancel()
        return streams

    async def end_streams(self) -> None:
        """End every long-lived stream; their clients listen anew, which is what a restart wants."""
        streams = self.close_streams()
        if streams:
            await asyncio.wait(streams, timeout=1)

    @staticmethod
    def _closing(send: Send) -> Send:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        return closing


def sessions_of(headers: list[tuple[bytes, bytes]]) -> list[str]:
    """The sessions a request names: one at most, from an honest client; of several the SDK takes the first."""
    return [value.decode("latin-1") for name, value in headers if name == HEADER]


async def reject(send: Send, verdict: access.Rejected) -> None:
    """Answer a request that does not come in; the body says what to do."""
    extra = [(b"www-authenticate", b"Bearer")] if verdict.status == 401 else []
    await answer(send, verdict.status, {"error": verdict.error, "hint": verdict.hint}, extra)


async def answer(
    send: Send, status: int, body: Mapping[str, object], extra: list[tuple[bytes, bytes]] | None = None
) -> None:
    """Answer with a small JSON object."""
    data = json.dumps(body).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
        (b"cache-control", b"no-store"),
        *(extra or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


class Guarded(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with bounds: a silent connection ends, and cannot keep an honest one out."""

    _waiting: ClassVar["OrderedDict[Guarded, asyncio.TimerHandle]"] = OrderedDict()
    """Connections that owe us a request, the longest first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Take a connection; make room when there are too many."""
        super().connection_made(transport)
        self._owe()
        if len(self.connections) > MAX_CONNECTIONS and self._waiting:
            longest, timer = self._waiting.popitem(last=False)
            timer.cancel()
            longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the clock runs from the first byte of a request to its last."""
        if self not in self._waiting:
            self._owe()
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle  # None until the first request, whatever uvicorn annotates
        if cycle is not None and (not cycle.more_body or cycle.response_started):
            self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._settle()
        super().connection_lost(exc)

    def _owe(self) -> None:
        self._waiting[self] = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _settle(self) -> None:
        timer = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()


class Server(uvicorn.Server):
    """uvicorn without its polling, with a drain before its shutdown, and without its way of ending the process."""

    def __init__(self, config: uvicorn.Config, door: Door) -> None:
        super().__init__(config)
        self._door = door
        self._wake = asyncio.Event()
        self.running = asyncio.Event()
        """Set when a connection would be served."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the life cycle: uvicorn would raise them again, and nothing after it would run."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        super().handle_exit(sig, frame)
        self._wake.set()

    def stop(self) -> None:
        """Begin to stop."""
        self.handle_exit(signal.SIGTERM, None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        await super().startup(sockets)
        self.running.set()

    async def main_loop(self) -> None:
        """Sleep until told to stop; uvicorn's own loop wakes ten times a second for a date header we do not send."""
        await self.on_tick(0)
        while not self.should_exit:
            await self._wake.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in the order that loses no request.

        Accepting stops before the listeners close: asyncio drops a connection that was accepted but not yet set
        up when its server closes.  What was accepted is served and told to close; what was not waits in the
        kernel for the next process.
        """
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listener in server.sockets:
                loop.remove_reader(listener.fileno())
        self._door.draining = True
        await asyncio.sleep(DRAIN_S)
        await self._door.end_streams()
        await super().shutdown(sockets)


def configure(app: Any) -> uvicorn.Config:
    """uvicorn as it is used here.

    h11 and not httptools, which takes a header of any length; nothing that names the software; the access log is
    the audit.
    """
    return uvicorn.Config(
        app,
        http=Guarded,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        h11_max_incomplete_event_size=2 * 65_536,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
