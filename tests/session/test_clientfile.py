import json
import os
import threading
from pathlib import Path

import pytest

from omarchy_mcp.session.clientfile import (
    MOST_CLIENTS,
    Client,
    ClientFile,
    ClientFileError,
    digest_of,
    dump,
    parse,
    well_named,
)
from omarchy_mcp.session.files import make_token

ENTRY: dict[str, object] = {"name": "codex", "sha256": digest_of(b"x").hex(), "made_usec": 1}


@pytest.fixture(name="store")
def store_fixture(tmp_path: Path) -> ClientFile:
    return ClientFile(tmp_path / "state" / "clients.json")


def written(*entries: object, version: object = 1) -> bytes:
    return json.dumps({"version": version, "clients": list(entries)}).encode()


@pytest.mark.parametrize("name", ["a", "codex", "claude-code", "me.2", "x" * 32, "0_1"])
def test_names_that_are_plain_everywhere(name: str) -> None:
    assert well_named(name)


@pytest.mark.parametrize("name", ["", "default", "unknown", "A", "x" * 33, "a b", "-a", ".a", "a\n", "ä", "a/b", "a=b"])
def test_names_that_are_not(name: str) -> None:
    assert not well_named(name)


def test_what_is_written_is_read_again() -> None:
    clients = (
        Client(name="a", digest=digest_of(b"1"), made_usec=5),
        Client(name="b", digest=digest_of(b"2"), made_usec=6),
    )
    assert parse(dump(clients)) == clients
    assert parse(dump(())) == ()


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{}", b"[]", b"nonsense", b"\xff", b"[" * 60_000, written(version=2), written(version="1" * 99),
        written(1), written({}), written({**ENTRY, "sha256": "0" * 63}), written({**ENTRY, "sha256": 5}),
        written({**ENTRY, "sha256": " " + "0" * 63}), written({**ENTRY, "name": "default"}),
        written({**ENTRY, "name": "Not so"}), written(ENTRY, ENTRY), written({**ENTRY, "made_usec": "soon"}),
        written(*({**ENTRY, "name": f"c{number}"} for number in range(MOST_CLIENTS + 1))),
    ],
)  # fmt: skip
def test_a_file_that_is_not_sound_lets_nobody_in_and_is_left_alone(store: ClientFile, text: bytes) -> None:
    store.add("codex", make_token())
    assert set(store.current()) == {"codex"}
    store.path.write_bytes(text)
    assert store.current() == {}
    assert str(store.path) in store.problem
    with pytest.raises(ClientFileError):
        store.add("more", make_token())
    with pytest.raises(ClientFileError):
        store.revoke("codex")
    assert store.path.read_bytes() == text


def test_only_the_digest_is_kept_and_only_for_its_owner(store: ClientFile) -> None:
    token = make_token()
    assert len(token) == 43
    store.add("codex", token)
    assert token not in store.path.read_text(encoding="utf-8")
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    assert store.current() == {"codex": digest_of(token.encode())}


def test_every_change_is_seen_at_once(store: ClientFile) -> None:
    reader = ClientFile(store.path)
    assert reader.current() == {}
    assert reader.problem == ""
    for name in ("a", "b"):
        store.add(name, make_token())
    before = dict(reader.current())
    assert set(before) == {"a", "b"}
    store.rotate("a", make_token())
    assert reader.current()["a"] != before["a"]
    assert reader.current()["b"] == before["b"]
    store.revoke("a")
    assert set(reader.current()) == {"b"}
    store.path.chmod(0o644)
    assert set(reader.current()) == {"b"}
    assert store.path.stat().st_mode & 0o777 == 0o600
    store.path.unlink()
    assert reader.current() == {}


def test_nobody_is_named_twice_and_nobody_is_made_by_a_rotation(store: ClientFile) -> None:
    store.add("a", make_token())
    with pytest.raises(ClientFileError, match="already"):
        store.add("a", make_token())
    with pytest.raises(ClientFileError, match="no client 'b'"):
        store.rotate("b", make_token())
    with pytest.raises(ClientFileError, match="no client 'b'"):
        store.revoke("b")
    assert [client.name for client in store.read()] == ["a"]


def test_there_are_only_so_many(store: ClientFile) -> None:
    for number in range(MOST_CLIENTS):
        store.add(f"c{number}", make_token())
    with pytest.raises(ClientFileError, match="the most"):
        store.add("more", make_token())
    assert len(store.current()) == MOST_CLIENTS


def test_two_who_change_it_at_once_lose_nothing(store: ClientFile) -> None:
    def add(first: int) -> None:
        for number in range(first, first + 8):
            ClientFile(store.path).add(f"c{number}", make_token())

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 8, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.read()) == 24


def test_a_fifo_in_its_place_is_no_wait(store: ClientFile) -> None:
    store.path.parent.mkdir()
    os.mkfifo(store.path, 0o600)
    assert store.current() == {}
    assert "regular file" in store.problem
