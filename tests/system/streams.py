"""Clients that stay: a listening stream of each era, held until the server ends it."""

import contextlib
import http.client
import json
import socket
import threading
from collections import Counter

from system import client, wire
from system.client import Era, Rpc
from system.product import Product
from system.world import wait_until

LISTEN = "subscriptions/listen"


class Held:
    """One stream, opened again whenever the server ends it; counts how each ended."""

    def __init__(self, product: Product, era: Era, *, again: bool = True, token: str = "") -> None:
        """Without a token of its own it has the default client's."""
        self.product = product
        self.era = era
        self.again = again
        self.token = token
        self.ends: Counter[str] = Counter()
        self.opened = 0
        self.session = ""
        self.received = b""
        """What came over it so far, bounded by how little a test does."""
        self.connected = threading.Event()
        self._over = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Held":
        self._thread.start()
        self.wait()
        return self

    def wait(self) -> None:
        """See that it is attached."""
        wait_until(self.connected.is_set, f"a {self.era} stream is attached", 60)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError, AttributeError):  # it may have ended by itself
            self._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]  # None is suppressed too
        self._thread.join(10)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                end = self._once()
            except (OSError, http.client.HTTPException, AssertionError) as error:
                end = type(error).__name__
            if self._over.is_set():  # that end was ours
                return
            self.ends[end] += 1
            self.connected.clear()
            if not self.again:
                return

    def _once(self) -> str:
        token = self.token or self.product.token()
        connection = http.client.HTTPConnection(wire.HOST, self.product.port, timeout=120)
        connection.connect()
        self._socket = connection.sock
        with contextlib.closing(connection):
            return self._hold(connection, token)

    def _hold(self, connection: http.client.HTTPConnection, token: str) -> str:
        if self.era is Era.MODERN:
            params = {"notifications": {"toolsListChanged": True}}
            body = client.message(LISTEN, params, Era.MODERN, 7)
            connection.request("POST", "/mcp", body, client.headers(token, Era.MODERN, LISTEN))
        else:
            rpc = Rpc(self.product.port, token, Era.HANDSHAKE)
            rpc.initialize()
            self.session = rpc.session
            connection.request("GET", "/mcp", headers=client.headers(token, Era.HANDSHAKE, "", session=rpc.session))
        with connection.getresponse() as answer:
            if answer.status != 200:
                return f"http {answer.status}"
            self.opened += 1
            self.connected.set()
            while chunk := answer.read1(65536):
                self.received += chunk
        return "clean"


class Hammer:
    """Clients in a tight loop; counts what each request came to."""

    def __init__(self, product: Product, *, clients: int, keep: bool) -> None:
        self.product = product
        self.keep = keep
        self.count: Counter[str] = Counter()
        self.failures: list[str] = []
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._body = client.message(
            "tools/call",
            {"name": "omarchy_search_commands", "arguments": {"query": "theme", "limit": 1}},
            Era.MODERN,
        )
        self._headers = client.headers(product.token(), Era.MODERN, "tools/call", "omarchy_search_commands")
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(clients)]

    def __enter__(self) -> "Hammer":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(30)

    @property
    def total(self) -> int:
        return self.count.total()

    def _work(self) -> None:
        connection: http.client.HTTPConnection | None = None
        while not self._over.is_set():
            fresh = connection is None
            connection = connection or http.client.HTTPConnection(wire.HOST, self.product.port, timeout=30)
            result = self._one(connection, fresh=fresh)
            with self._lock:
                self.count[result] += 1
            if result != "ok" or not self.keep:
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _one(self, connection: http.client.HTTPConnection, *, fresh: bool) -> str:
        kind = "a new connection" if fresh else "a kept connection"
        try:
            connection.request("POST", "/mcp", self._body, self._headers)
            answer = connection.getresponse()
            body = answer.read()
        except ConnectionRefusedError:
            return f"refused on {kind}"
        except (
            ConnectionResetError,
            BrokenPipeError,
            http.client.RemoteDisconnected,
            http.client.IncompleteRead,
        ):
            return f"reset on {kind}"
        except TimeoutError:
            return f"timeout on {kind}"
        if answer.status == 200 and "result" in json.loads(body):
            return "ok"
        return f"http {answer.status}: {body[:80]!r}"
