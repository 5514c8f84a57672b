"""Many requests through many restarts, and rude neighbours: no honest client is ever turned away.

OMARCHY_MCP_REQUESTS and OMARCHY_MCP_RESTARTS scale the hammering down for a quick local run.
"""

import contextlib
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from system import desktop, wire
from system.client import Era
from system.product import SERVICE, Product
from system.streams import Hammer, Held
from system.world import wait_until

REQUESTS = int(os.environ.get("OMARCHY_MCP_REQUESTS", "10000"))
RESTARTS = int(os.environ.get("OMARCHY_MCP_RESTARTS", "30"))
CLIENTS = 4
MODES = ("new", "kept", "attached")
# How long one takes is the benchmark's to say; here it only has to end by itself.
RESTART_SECONDS = 8.0
# The server needs a word and a half with each connection; 10 s is its promise for a silent one.
RUDE_SECONDS = 15.0
RUDE = 1_100
ROOM_SECONDS = 60.0


@pytest.mark.parametrize("mode", MODES)
def test_no_request_is_refused_or_reset_through_restarts(product: Product, mode: str) -> None:
    product.wake()
    share, restarts = REQUESTS // len(MODES), RESTARTS // len(MODES)
    took: list[float] = []
    with contextlib.ExitStack() as attached:
        streams = [attached.enter_context(Held(product, era)) for era in Era] if mode == "attached" else []
        with Hammer(product, clients=CLIENTS, keep=mode != "new") as hammer:
            for number in range(1, restarts + 1):
                # the requests lie evenly around the restarts
                target = share * number // (restarts + 1)
                wait_until(lambda target=target: hammer.total >= target, f"{target} requests", ROOM_SECONDS)  # type: ignore[misc]  # mypy cannot type a default
                for stream in streams:
                    stream.wait()
                begun = time.monotonic()
                product.restart()
                took.append(time.monotonic() - begun)
            wait_until(lambda: hammer.total >= share, f"{share} requests", ROOM_SECONDS)
    print(f"{mode}: {hammer.total} requests, {restarts} restarts of {min(took):.2f} to {max(took):.2f} s")
    assert hammer.count == {"ok": hammer.total}
    assert max(took) < RESTART_SECONDS
    assert [dict(stream.ends) for stream in streams if set(stream.ends) - {"clean"}] == []


def test_a_server_killed_under_load_refuses_nobody(product: Product) -> None:
    pid = product.wake()
    with Hammer(product, clients=CLIENTS, keep=False) as hammer:
        wait_until(lambda: hammer.total >= 50, "some requests", ROOM_SECONDS)
        product.world.run("kill", "-KILL", str(pid))
        before = hammer.total
        wait_until(lambda: hammer.total >= before + 100, "more requests", ROOM_SECONDS)
    assert [kind for kind in hammer.count if kind.startswith("refused")] == []
    assert hammer.count["ok"] >= hammer.total - CLIENTS


@contextlib.contextmanager
def rude(product: Product, count: int, first: bytes) -> Iterator[list[socket.socket]]:
    """Connections that say only so much."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):  # the server may close one while we speak
                held.append(socket.create_connection((wire.HOST, product.port), timeout=5))
                held[-1].sendall(first)
        yield held
    finally:
        for connection in held:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("count", "first"),
    [
        pytest.param(RUDE, b"", id="silent"),
        pytest.param(RUDE, b"POST /mcp HTTP/1.1\r\nX-A: ", id="half a request"),
        pytest.param(300, b"slow body", id="a body that never comes"),
    ],
)
def test_rude_connections_do_not_stop_an_honest_request(product: Product, count: int, first: bytes) -> None:
    rpc = product.rpc()
    rpc.do(desktop.TRUE)
    pid, since = product.pid(), time.time()
    if first == b"slow body":
        first = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{product.port}\r\n"
            f"Authorization: Bearer {product.token()}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        ).encode()
    with rude(product, count, first) as held:
        begun = time.monotonic()
        assert rpc.do(desktop.TRUE).outcome == "ok"
        assert time.monotonic() - begun < RUDE_SECONDS
        wait_until(lambda: _closed(held) == len(held), "every rude connection was closed", RUDE_SECONDS)
    assert rpc.do(desktop.TRUE).seconds < 2
    assert product.pid() == pid
    assert len(product.words(since).splitlines()) < 200, "rudeness does not fill the journal"


def test_an_attached_stream_outlives_a_crowd_of_silent_connections(product: Product) -> None:
    product.rpc()
    with Held(product, Era.MODERN) as stream, rude(product, RUDE, b""):
        assert product.healthy()
        assert not stream.ends


def test_thousands_of_quick_connections_leave_the_port_open(product: Product) -> None:
    product.wake()

    def connect() -> None:
        for _ in range(500):
            with contextlib.suppress(OSError):
                socket.create_connection((wire.HOST, product.port), timeout=5).close()

    callers = [threading.Thread(target=connect) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert product.healthy()
    assert product.show(SERVICE, "ActiveState") == "active"


def test_sessions_nobody_ends_do_not_keep_new_clients_out(product: Product) -> None:
    for _ in range(150):
        product.rpc(Era.HANDSHAKE)
    assert product.rpc(Era.HANDSHAKE).ask("tools/list", {})["tools"]


def _closed(held: list[socket.socket]) -> int:
    closed = 0
    for connection in held:
        connection.setblocking(False)
        try:
            while connection.recv(65536):
                pass
            closed += 1
        except BlockingIOError:
            continue
        except OSError:
            closed += 1
    return closed
