"""The token file as people leave it: trimmed when it can be, never served without one (BUG-53)."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from system import wire
from system.client import Rpc
from system.product import SERVICE, START_SECONDS, Product
from system.world import wait_until

GOOD = "a-token-of-the-tests-0123456789abcdef-0123456789"


@pytest.fixture(name="file")
def file_fixture(product: Product) -> Iterator[Path]:
    """The token file; a fresh token is made afterwards."""
    product.token()
    yield product.state / "token"
    product.world.run("rm", "-rf", str(product.state / "token"))
    product.sleep()


def status(product: Product, token: str) -> int:
    """What a client with this token is answered by tools/list."""
    try:
        return Rpc(product.port, token).post("tools/list", {}, seconds=START_SECONDS).status
    except (OSError, http.client.HTTPException):
        return wire.CLOSED


@pytest.mark.parametrize("text", [f"{GOOD}\n", f"{GOOD}\r\n", f"  {GOOD}  \n", f"\n{GOOD}\n\n", f"\ufeff{GOOD}\n"])
def test_white_space_around_the_token_does_not_count(product: Product, file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="")
    product.sleep()
    assert status(product, GOOD) == 200
    assert status(product, "") == 401


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"abc", b"\xff" * 40, b"a\0b" * 20, b"x" * 10_000_000,
        b"one-token-0123456789\nanother-token-0123456789\n",
    ],
    ids=["empty", "blank", "short", "bytes", "nul", "10 MB", "two lines"],
)  # fmt: skip
def test_an_unusable_token_lets_nobody_in(product: Product, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    product.sleep()
    wire_token = content.decode("latin-1").strip()[:2_000]
    for token in ("", "x", wire_token if wire_token.isprintable() and wire_token.isascii() else "y"):
        assert status(product, token) != 200, token


def test_a_folder_in_the_tokens_place_lets_nobody_in(product: Product, file: Path) -> None:
    file.unlink()
    file.mkdir()
    product.sleep()
    assert status(product, "") != 200


def test_a_new_token_counts_at_once_and_the_old_one_no_more(product: Product, file: Path) -> None:
    old = product.token()
    product.wake()
    pid = product.pid()
    new = file.with_suffix(".new")
    new.write_text(f"{GOOD}\n", encoding="utf-8")
    new.chmod(0o600)
    new.rename(file)
    wait_until(lambda: status(product, GOOD) == 200, "the new token is let in")
    assert status(product, old) == 401
    assert product.pid() == pid
    assert product.show(SERVICE, "NRestarts") == "0"


def test_a_token_everybody_can_read_is_not_left_so(product: Product, file: Path) -> None:
    product.sleep()
    file.chmod(0o644)
    code = status(product, file.read_text(encoding="utf-8").strip())
    assert code != 200 or file.stat().st_mode & 0o077 == 0
