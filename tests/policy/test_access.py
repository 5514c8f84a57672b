import hashlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.access import MAX_HEADER_BYTES, Admitted, Rejected, check, client_of, hosts

TOKEN = b"t" * 43
OTHER = b"o" * 43
TOKENS: Mapping[str, bytes] = {
    "default": hashlib.sha256(TOKEN).digest(),
    "other": hashlib.sha256(OTHER).digest(),
}
GOOD = (b"host", b"127.0.0.1:8765")
BEARER = (b"authorization", b"Bearer " + TOKEN)

Headers = list[tuple[bytes, bytes]]


@pytest.mark.parametrize(
    ("headers", "path", "outcome"),
    [
        ([GOOD, BEARER], "/mcp", "default"),
        ([(b"host", b"LocalHost:8765"), BEARER], "/mcp", "default"),
        ([GOOD, (b"authorization", b"bearer  " + OTHER + b" ")], "/mcp", "other"),
        ([GOOD, BEARER, (b"origin", b"http://localhost:8765")], "/mcp", "default"),
        ([GOOD], "/health", ""),
        ([GOOD], "/mcp", 401),
        ([GOOD, (b"authorization", TOKEN)], "/mcp", 401),
        ([GOOD, (b"authorization", b"Basic " + TOKEN)], "/mcp", 401),
        ([GOOD, (b"authorization", b"Bearer ")], "/mcp", 401),
        ([GOOD, (b"authorization", b"Bearer \xfc" + TOKEN)], "/mcp", 401),
        ([GOOD, (b"authorization", b"Bearer " + TOKEN[:-1])], "/mcp", 401),
        ([GOOD, BEARER, BEARER], "/mcp", 401),
        ([GOOD, (b"authorization", b"Bearer " + TOKENS["default"])], "/mcp", 401),
        ([GOOD, (b"authorization", b"Bearer " + TOKENS["default"].hex().encode())], "/mcp", 401),
        ([GOOD], "/", 404),
        ([GOOD, BEARER], "/mcp/", 404),
        ([GOOD], "/.well-known/oauth-authorization-server", 404),
        ([GOOD, (b"origin", b"null")], "/health", 403),
        ([GOOD, BEARER, (b"origin", b"")], "/mcp", 403),
        ([GOOD, BEARER, (b"origin", b"http://localhost:3000")], "/mcp", 403),
        ([GOOD, BEARER, (b"origin", b"http://127.0.0.1:8765.evil.test")], "/mcp", 403),
        ([GOOD, BEARER, (b"origin", b"http://localhost:8765"), (b"origin", b"http://localhost:8765")], "/mcp", 403),
        ([], "/mcp", 421),
        ([GOOD, GOOD, BEARER], "/mcp", 421),
        ([(b"host", b"127.0.0.1"), BEARER], "/mcp", 421),
        ([(b"host", b"[::1]:8765"), BEARER], "/mcp", 421),
        ([(b"host", b"127.0.0.1:8765.evil.test"), BEARER], "/mcp", 421),
        ([(b"host", b"evil.test"), BEARER], "/health", 421),
        ([GOOD, BEARER, (b"x", b"a" * MAX_HEADER_BYTES)], "/mcp", 431),
    ],
)
def test_the_door(headers: Headers, path: str, outcome: str | int) -> None:
    verdict = check(headers, path, 8765, TOKENS)
    if isinstance(outcome, int):
        assert isinstance(verdict, Rejected)
        assert verdict.status == outcome
        assert TOKEN.decode() not in verdict.hint + verdict.error
    else:
        assert verdict == Admitted(path=path, client=outcome)


def test_the_order_is_host_then_origin_then_path_then_token() -> None:
    bad_host, bad_origin = (b"host", b"evil.test"), (b"origin", b"http://evil.test")

    def status(headers: Headers, path: str) -> int:
        verdict = check(headers, path, 8765, TOKENS)
        assert isinstance(verdict, Rejected)
        return verdict.status

    assert status([bad_host, bad_origin], "/other") == 421
    assert status([GOOD, bad_origin], "/other") == 403
    assert status([GOOD], "/other") == 404
    assert status([GOOD], "/mcp") == 401


@given(st.lists(st.binary(max_size=80), max_size=3))
def test_without_a_usable_token_nobody_comes_in(values: list[bytes]) -> None:
    for tokens in ({}, {"default": b""}):
        assert client_of(values, tokens) is None
        assert client_of([b"Bearer " + value for value in values], tokens) is None


@given(
    st.lists(
        st.tuples(st.sampled_from([b"host", b"origin", b"authorization", b"x"]), st.binary(max_size=60)), max_size=6
    )
)
def test_no_headers_raise_and_only_our_token_admits(headers: Headers) -> None:
    verdict = check(headers, "/mcp", 8765, TOKENS)
    given_token = any(name == b"authorization" and value.endswith((TOKEN, OTHER)) for name, value in headers)
    assert isinstance(verdict, Rejected) or given_token


def test_a_port_has_its_own_hosts() -> None:
    assert hosts(80) == {b"127.0.0.1:80", b"localhost:80"}
