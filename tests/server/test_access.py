"""Who gets in: every way to spell a Host, an Origin, a token or a path, and what each is answered.

Raw bytes against the running product.  "Reaches the SDK" is 200 here, or one of the SDK's own answers;
everything the door turns away has 421, 403, 404, 401, 413 or 431 and a JSON body that helps.
"""

import pytest

from server.door import BEARER, LOCAL, send, turned_away
from system.product import Product
from system.wire import CLOSED

# --- Host (BUG-11): loopback's names with our port, in any case; nothing else


@pytest.mark.parametrize("host", [LOCAL, "localhost:{port}", "LOCALHOST:{port}", "LocalHost:{port}"])
def test_a_loopback_name_with_our_port_is_let_in(product: Product, host: str) -> None:
    assert send(product, host=(host,)).status == 200


@pytest.mark.parametrize("path", ["/mcp", "/health", "/nothing", "/.well-known/oauth-protected-resource"])
@pytest.mark.parametrize(
    "host",
    [
        "[::1]:{port}", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:80", "127.0.0.1:x",
        "127.0.0.1:{port}0",
        "localhost.:{port}", "127.0.0.1.:{port}", "127.0.0.1.nip.io:{port}", "evil.test", "evil.test:{port}",
        "127.0.0.1:{port}.evil.test", "127.0.0.1:{port}@evil.test", "evil.test@127.0.0.1:{port}",
        "0.0.0.0:{port}",
        "127.1:{port}", "2130706433:{port}", "[::ffff:127.0.0.1]:{port}", "", "127.0.0.1:{port}, evil.test",
    ],
)  # fmt: skip
def test_any_other_host_is_misdirected_on_every_path(product: Product, path: str, host: str) -> None:
    turned_away(send(product, host=(host,), target=path), 421, product)


@pytest.mark.parametrize(
    "hosts",
    [(), (LOCAL, LOCAL), (LOCAL, "evil.test"), ("evil.test", LOCAL)],
    ids=["none", "same", "second", "first"],
)
def test_none_or_two_hosts_are_no_request(product: Product, hosts: tuple[str, ...]) -> None:
    assert send(product, host=hosts).status in {400, 421}


def test_old_http_without_a_host_is_misdirected(product: Product) -> None:
    assert send(product, host=(), version="HTTP/1.0").status == 421


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://evil.test/mcp", LOCAL, (400, 403, 404, 421)),
        ("http://127.0.0.1:{port}/mcp", "evil.test", (400, 404, 421)),
        ("http://evil.test/health", LOCAL, (400, 403, 404, 421)),
    ],
)
def test_an_address_in_the_request_line_opens_nothing(
    product: Product, target: str, host: str, status: tuple[int, ...]
) -> None:
    assert send(product, target=target, host=(host,)).status in status


def test_what_a_proxy_would_say_changes_nothing(product: Product) -> None:
    forwarded = (
        "X-Forwarded-Host: 127.0.0.1:{port}",
        "X-Forwarded-For: 127.0.0.1",
        "Forwarded: host=localhost",
    )
    turned_away(send(product, *forwarded, host=("evil.test",)), 421, product)
    assert send(product, "X-Forwarded-Host: evil.test").status == 200


# --- Origin: none, or our own


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:{port}", "HTTP://LOCALHOST:{port}"])
def test_our_own_origin_is_let_in(product: Product, origin: str) -> None:
    assert send(product, f"Origin: {origin}").status == 200


@pytest.mark.parametrize("path", ["/mcp", "/health", "/nothing"])
@pytest.mark.parametrize(
    "origin",
    [
        "null", "", "http://localhost:3000", "http://localhost", "https://localhost:{port}",
        "https://evil.test",
        "http://127.0.0.1:{port}.evil.test", "http://localhost:{port}.evil.test", "http://127.0.0.1:{port}/",
        "http://[::1]:{port}", "vscode-webview://x", "chrome-extension://abc", "file://", "127.0.0.1:{port}",
        "http://localhost:{port} http://evil.test", "http://evil.test@127.0.0.1:{port}",
    ],
)  # fmt: skip
def test_any_other_origin_is_forbidden_on_every_path(product: Product, path: str, origin: str) -> None:
    turned_away(send(product, f"Origin: {origin}", target=path), 403, product)


def test_two_origins_are_forbidden(product: Product) -> None:
    for second in ("http://evil.test", "http://127.0.0.1:{port}"):
        turned_away(send(product, "Origin: http://127.0.0.1:{port}", f"Origin: {second}"), 403, product)


def test_a_wrong_origin_is_said_before_a_missing_token(product: Product) -> None:
    turned_away(send(product, "Origin: https://evil.test", token=()), 403, product)


def test_a_browser_that_asks_first_is_told_no(product: Product) -> None:
    asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
    reply = send(product, "Origin: https://evil.test", *asked, method="OPTIONS", token=(), body=b"")
    turned_away(reply, 403, product)
    own = send(product, "Origin: http://127.0.0.1:{port}", *asked, method="OPTIONS", token=(), body=b"")
    assert own.status in {401, 403, 405}
    assert own.header("access-control-allow-origin") is None


# --- token (BUG-53): exactly one header, exactly this token


@pytest.mark.parametrize(
    "header",
    [
        BEARER,
        "authorization: bearer {token}",
        "Authorization: BEARER {token}",
        "Authorization:Bearer {token}",
    ],
)
def test_the_token_is_let_in_however_its_scheme_is_written(product: Product, header: str) -> None:
    assert send(product, token=(header,)).status == 200


@pytest.mark.parametrize(
    "token",
    [
        (), ("Authorization: Bearer wrong",), ("Authorization: Bearer ",), ("Authorization: Bearer",),
        ("Authorization: ",),
        ("Authorization: {token}",), ("Authorization: Basic {token}",), ("Authorization: Bearer {token}x",),
        ("Authorization: Bearer x{token}",), ("Authorization: Bearer {token}, x",),
        ("Authorization: Bearer {token} {token}",),
        ("Authorization: Bearer\t{token}x",), ("Authorization: Bearer s\xe9cret",),
        ("Authorization: Bearer \xf0\x9f\xa6\x80",),
        ("X-Api-Key: {token}",), ("Cookie: token={token}",), (BEARER, BEARER),
        (BEARER, "Authorization: Bearer wrong"),
        ("Authorization: Bearer wrong", BEARER), ("Proxy-Authorization: Bearer {token}",),
    ],
)  # fmt: skip
def test_anything_but_the_token_is_unauthorized(product: Product, token: tuple[str, ...]) -> None:
    reply = send(product, token=token)
    turned_away(reply, 401, product)
    challenge = reply.header("www-authenticate") or ""
    assert challenge == "Bearer"


def test_a_token_in_the_address_is_no_token(product: Product) -> None:
    turned_away(send(product, token=(), target="/mcp?access_token={token}"), 401, product)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "TRACE", "FOO"])
def test_no_method_comes_in_without_the_token(product: Product, method: str) -> None:
    assert send(product, "Connection: close", token=(), method=method, body=b"").status == 401


def test_a_wrong_token_is_said_before_a_stale_session(product: Product) -> None:
    wrong = ("Authorization: Bearer wrong",)
    turned_away(send(product, "Mcp-Session-Id: 0123456789abcdef", token=wrong), 401, product)


def test_a_refusal_says_where_the_token_is_and_not_what_it_is(product: Product) -> None:
    reply = send(product, token=())
    assert b"token" in reply.body
    assert b"omarchy-mcpctl client-config" in reply.body
    turned_away(reply, 401, product)


# --- paths (BUG-02): OAuth is not here, said as JSON, with and without a token


@pytest.mark.parametrize("token", [(), (BEARER,), ("Authorization: Bearer wrong",)], ids=["no", "good", "wrong"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/.well-known/oauth-protected-resource"),
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/.well-known/oauth-authorization-server/mcp"),
        ("GET", "/.well-known/openid-configuration"), ("GET", "/mcp/.well-known/openid-configuration"),
        ("POST", "/register"), ("POST", "/token"), ("GET", "/authorize"), ("GET", "/"), ("GET", "/docs"),
        ("POST", "/mcp/"), ("POST", "//mcp"), ("POST", "/MCP"), ("POST", "/./mcp"), ("POST", "/x/../mcp"),
        ("POST", "/mcp;a=b"), ("GET", "/health/"), ("GET", "/metrics"),
    ],
)  # fmt: skip
def test_other_paths_are_not_found_as_json_with_a_hint(
    product: Product, method: str, path: str, token: tuple[str, ...]
) -> None:
    reply = send(product, method=method, target=path, token=token, body=b"{}" if method == "POST" else b"")
    turned_away(reply, 404, product)
    assert b"/mcp" in reply.body


@pytest.mark.parametrize("target", ["*", "mcp", "/mcp#f", "/%6dcp", "/mcp\x00", "/mcp%00"])
def test_odd_request_targets_are_errors_of_the_client(product: Product, target: str) -> None:
    assert send(product, target=target, token=()).status in {400, 401, 404, CLOSED}


def test_health_needs_no_token_and_tells_no_secret(product: Product) -> None:
    reply = send(product, method="GET", target="/health", token=(), body=b"")
    assert reply.status == 200
    assert product.token().encode() not in reply.body
