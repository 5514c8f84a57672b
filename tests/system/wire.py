"""HTTP as the tests speak it: bytes as they are, and ordinary requests.

Nothing here corrects, repeats or hides: a status of CLOSED or SILENT is a result like any other.
"""

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CLOSED = 0
"""The connection ended without an answer."""
SILENT = -1
"""Nothing came within the time."""
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer: status (or CLOSED, SILENT), headers as sent, body as far as it was read."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    seconds: float = 0.0

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> Any:
        """The message in the body, be it plain JSON or the last one of an event stream."""
        if (self.header("content-type") or "").startswith("text/event-stream"):
            return list(events(self.body))[-1]
        return json.loads(self.body)


def events(body: bytes) -> Iterable[Any]:
    """The messages of an event stream."""
    for block in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        data = b"\n".join(line[5:].lstrip() for line in block.split(b"\n") if line.startswith(b"data:"))
        if data:
            yield json.loads(data)


def send_raw(port: int, data: bytes, *, chunks: Iterable[bytes] = (), seconds: float = 8) -> Reply:
    """Send bytes no ordinary client would let one send, and read what comes back."""
    begun = time.monotonic()
    with socket.create_connection((HOST, port), timeout=seconds) as connection:
        with contextlib.suppress(OSError):  # an answer may come, and the connection end, before all is sent
            connection.sendall(data)
            for chunk in chunks:
                connection.sendall(chunk)
        try:
            got = _read_answer(connection)
        except TimeoutError:
            return Reply(status=SILENT, seconds=time.monotonic() - begun)
    return _parse(got, time.monotonic() - begun)


def _read_answer(connection: socket.socket) -> bytes:
    got = b""
    while not _is_whole(got):
        try:
            more = connection.recv(65536)
        except TimeoutError:
            if got:
                return got
            raise
        except OSError:
            return got
        if not more:
            return got
        got += more
    return got


def _is_whole(got: bytes) -> bool:
    head, end, body = got.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":", 1)[1])
    return body.endswith(b"0\r\n\r\n") or b"\n\r\n" in body


def _parse(got: bytes, seconds: float) -> Reply:
    if not got.startswith(b"HTTP/"):
        return Reply(status=CLOSED, body=got, seconds=seconds)
    head, _, body = got.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = tuple((key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in lines[1:]))
    return Reply(status=int(lines[0].split()[1]), headers=headers, body=body, seconds=seconds)


def request(
    port: int,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | str | None = None,
    seconds: float = 30,
) -> Reply:
    """One request on a connection of its own; raises what http.client raises."""
    begun = time.monotonic()
    connection = http.client.HTTPConnection(HOST, port, timeout=seconds)
    try:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    return Reply(status=answer.status, headers=tuple(answer.getheaders()), body=data, seconds=time.monotonic() - begun)
