import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.journal import Writer


@pytest.fixture(name="audit")
def audit_writer() -> Iterator[Writer]:
    writer = Writer()
    yield writer
    writer.close()


def test_nothing_is_allowed_before_the_file_was_read(tmp_path: Path, audit: Writer) -> None:
    assert Settings(tmp_path / "config.toml", audit).current == RESTRICTIVE


def test_no_file_means_the_defaults(tmp_path: Path, audit: Writer) -> None:
    settings = Settings(tmp_path / "config.toml", audit)
    settings.load()
    assert settings.current == Config()
    assert settings.problem == ""


@pytest.mark.parametrize("state", ["broken", "latin-1", "folder", "fifo", "dangling", "huge"])
def test_a_file_that_cannot_be_read_is_restrictive_at_the_start_and_changes_nothing_later(
    tmp_path: Path, audit: Writer, state: str
) -> None:
    path = tmp_path / "config.toml"

    def spoil() -> None:
        path.unlink(missing_ok=True)
        match state:
            case "broken":
                path.write_text("[policy]\n[policy]\n", encoding="utf-8")
            case "latin-1":
                path.write_bytes(b"# \xe9\n")
            case "folder":
                path.mkdir()
            case "fifo":
                os.mkfifo(path)
            case "dangling":
                path.symlink_to(tmp_path / "loop")
                (tmp_path / "loop").symlink_to(path)
            case "huge":
                path.write_bytes(b"#" * (2 << 20))

    path.write_text('[policy]\nallow = ["omarchy theme remove"]\n', encoding="utf-8")
    running = Settings(path, audit)
    running.load()
    before = running.current
    assert before.allow
    spoil()
    running.reload()
    assert running.current == before
    assert running.problem
    fresh = Settings(path, audit)
    fresh.load()
    assert fresh.current == RESTRICTIVE
    assert fresh.problem


def test_a_bad_key_is_named_and_the_rest_applies(tmp_path: Path, audit: Writer) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[server]\ntimeout_ms = "soon"\n[policy]\ndeny = ["omarchy theme set"]\n', encoding="utf-8")
    settings = Settings(path, audit)
    settings.load()
    assert "timeout_ms" in settings.problem
    assert settings.current.deny
    assert settings.current.timeout_ms == Config().timeout_ms


def test_a_mended_file_is_in_force_at_the_next_reload(tmp_path: Path, audit: Writer) -> None:
    path = tmp_path / "config.toml"
    path.write_text("=", encoding="utf-8")
    settings = Settings(path, audit)
    settings.load()
    path.write_text("[policy]\nask = true\n", encoding="utf-8")
    settings.reload()
    assert settings.current.ask
    assert settings.problem == ""
