import os
from pathlib import Path

import pytest

from omarchy_mcp.session.files import KEY_BYTES, TokenError, TokenFile, read_key, read_small, read_token, write_private

GOOD = b"a" * 43


@pytest.mark.parametrize("data", [GOOD, GOOD + b"\n", b"  " + GOOD + b"\r\n", b"\xef\xbb\xbf" + GOOD + b"\n"])
def test_white_space_around_a_token_is_nobodys_lost_day(data: bytes) -> None:
    assert read_token(data) == GOOD


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"abc", b"a" * 31, b"a" * 5000, GOOD + b"\n" + GOOD, GOOD + b"\xff", GOOD + b"\0" + GOOD, b"a b" * 20],
)
def test_a_token_no_header_can_carry_is_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(TokenError, match="delete it"):
        read_token(data)


def test_a_token_is_made_once_private_and_random(tmp_path: Path) -> None:
    first, second = TokenFile(tmp_path / "one" / "token"), TokenFile(tmp_path / "two" / "token")
    for file in (first, second):
        file.ensure()
        assert file.path.stat().st_mode & 0o777 == 0o600
        assert file.path.parent.stat().st_mode & 0o777 == 0o700
    assert len(first.current()) == 43
    assert first.current() != second.current()
    before = first.current()
    first.ensure()
    assert first.current() == before


def test_a_changed_token_counts_at_once_and_a_bad_one_admits_nobody(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    assert file.current() == b""
    assert "token" in file.problem
    write_private(file.path, GOOD)
    assert file.current() == GOOD
    assert file.problem == ""
    write_private(file.path, b"b" * 43)
    assert file.current() == b"b" * 43
    file.path.write_bytes(b"short")
    assert file.current() == b""
    assert "5 characters" in file.problem
    file.path.unlink()
    assert file.current() == b""
    file.path.mkdir()
    assert file.current() == b""


def test_a_token_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    file.path.write_bytes(GOOD)
    file.path.chmod(0o644)
    assert file.current() == GOOD
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_a_fifo_a_folder_and_a_huge_file_are_errors_and_not_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "huge").write_bytes(b"x" * 101)
    for name in ("fifo", "huge", "missing"):
        with pytest.raises(OSError, match=name):
            read_small(tmp_path / name, 100)
    with pytest.raises(IsADirectoryError):
        read_small(tmp_path, 100)


def test_a_write_that_fails_leaves_the_old_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_private(tmp_path / "folder", b"new")
    assert path.read_bytes() == b"old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


def test_a_key_is_kept_for_its_owner_alone_and_made_anew_where_it_cannot_be_trusted(tmp_path: Path) -> None:
    path = tmp_path / "state" / "seal"
    key = read_key(path)
    assert len(key) == KEY_BYTES
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_key(path) == key
    path.chmod(0o644)
    other = read_key(path)
    assert other != key
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"short")
    assert len(read_key(path)) == KEY_BYTES


def test_a_key_that_cannot_be_kept_is_one_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert len(read_key(tmp_path / "file" / "seal")) == KEY_BYTES
