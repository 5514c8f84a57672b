"""Requests too large, too odd, or no HTTP at all: an error of the client, never a crash, never a wait."""

import json

import pytest

from server.door import INIT, MALFORMED, send
from system import desktop, wire
from system.product import Product
from system.wire import CLOSED


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("one of 64 KB", "X-Big: " + "a" * 65_536), ("one of 1 MB", "X-Big: " + "a" * 1_000_000),
        ("a token of 64 KB", "X-Authorization: Bearer " + "a" * 65_536),
        ("a session of 40 KB", "Mcp-Session-Id: " + "a" * 40_000),
        ("five thousand", "\r\n".join(f"X-{number}: aaaa" for number in range(5_000))),
    ],
)  # fmt: skip
def test_headers_too_large_are_said_to_be_so(product: Product, name: str, header: str) -> None:
    # beyond what the parser buffers it is the parser that answers, and it knows 400 only
    assert send(product, header).status in {400, 431, CLOSED}, name
    assert product.healthy()


def test_a_token_of_64_kb_is_no_crash(product: Product) -> None:
    assert send(product, token=("Authorization: Bearer " + "a" * 65_536,)).status in {400, 401, 431}
    assert send(product, token=("Authorization: Bearer " + "\xe9" * 65_536,)).status in {400, 401, 431}


def test_headers_a_real_client_sends_are_let_in(product: Product) -> None:
    assert send(product, "X-Trace: " + "a" * 8_000, *(f"X-{number}: a" for number in range(60))).status == 200


@pytest.mark.parametrize("megabytes", [4.1, 10, 50])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_too_large_is_said_to_be_so(product: Product, megabytes: float, *, chunked: bool) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "a" * int(megabytes * 1_048_576)}}
    body = json.dumps(call).encode()
    if chunked:
        pieces = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        reply = send(product, "Transfer-Encoding: chunked", body=body, length=False)
    else:
        reply = send(product, body=body)
    assert reply.status == 413, reply
    assert reply.seconds < 5


def test_a_large_body_without_a_token_is_not_read(product: Product) -> None:
    reply = send(product, "Content-Length: 99999999999", token=(), body=b"", length=False)
    assert reply.status == 401
    assert reply.seconds < 1


@pytest.mark.parametrize(
    "header",
    [
        "X-A: a\x00b", "X-A : b", "Content-Length: 3", "Content-Length: -1", "Content-Length: 1e3",
        "X-A: a\r\n b", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ],
)  # fmt: skip
def test_a_request_that_two_parsers_could_read_differently_reaches_nothing(product: Product, header: str) -> None:
    status = send(product, header).status
    assert status in {400, 411, 501, CLOSED} or (header.startswith(("X-A: a\r\n", "X-A: a")) and status == 200)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
        b"GET\r\n\r\n",
    ],
    ids=["TLS", "HTTP/2", "blank lines", "no target"],
)
def test_what_is_no_http_is_no_crash(product: Product, data: bytes) -> None:
    assert wire.send_raw(product.port, data, seconds=3).status in {*MALFORMED, 421, wire.SILENT}
    assert product.healthy()


@pytest.mark.parametrize(
    "body",
    [
        b"", b"hello", b"\xff\xfe", INIT.encode("utf-16"), b"[]", b"null", b"1", b'"x"',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":1}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"9" * 10_000 + b"}}",
    ],
    ids=["empty", "text", "bytes", "utf-16", "array", "null", "number", "string", "deep", "deep objects",
         "method 1", "id object", "surrogate", "long number"],
)  # fmt: skip
def test_a_body_that_is_no_message_is_an_error_of_the_client(product: Product, body: bytes) -> None:
    reply = send(product, body=body)
    assert 400 <= reply.status < 500 or reply.status == 200, reply
    assert b"Traceback" not in reply.body
    assert product.healthy()


def test_two_requests_on_one_connection_are_two_answers(product: Product) -> None:
    rpc = product.rpc()
    assert rpc.do(desktop.TRUE).outcome == "ok"
    one = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{product.port}\r\n\r\n".encode()
    evil = b"GET /health HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"
    reply = wire.send_raw(product.port, one + evil)
    assert reply.status == 200
