"""Raw requests of the access tests, and what an answer of the door looks like."""

import json
from collections.abc import Sequence

from system import client, wire
from system.client import Era
from system.product import Product
from system.wire import CLOSED, Reply

TOKEN = "{token}"
PORT = "{port}"
LOCAL = "127.0.0.1:{port}"
BEARER = f"Authorization: Bearer {TOKEN}"
INIT = client.message("initialize", client.INITIALIZE, Era.HANDSHAKE)
# What the HTTP parser itself answers to bytes that are no request: an error of 400 class, or nothing.
MALFORMED = (400, CLOSED)


def send(
    product: Product,
    *extra: str,
    host: Sequence[str] = (LOCAL,),
    token: Sequence[str] = (BEARER,),
    target: str = "/mcp",
    method: str = "POST",
    version: str = "HTTP/1.1",
    body: bytes = INIT.encode(),
    length: bool = True,
) -> Reply:
    """Send one request; {port} and {token} are filled in."""
    lines = [f"Host: {name}" for name in host]
    lines += [*token, "Content-Type: application/json", "Accept: application/json, text/event-stream", *extra]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    head = f"{method} {target} {version}\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"
    head = head.replace(PORT, str(product.port)).replace(TOKEN, product.token())
    return wire.send_raw(product.port, head.encode("latin-1") + body)


def turned_away(reply: Reply, status: int, product: Product) -> None:
    """An answer of the door: JSON, a reason, no secret, no invitation to log in elsewhere."""
    assert reply.status == status, reply
    assert (reply.header("content-type") or "").startswith("application/json")
    assert json.loads(reply.body)
    assert product.token().encode() not in reply.body
    assert reply.header("access-control-allow-origin") is None
    assert reply.header("location") is None
