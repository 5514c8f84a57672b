import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.server import settings as module
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event


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


@pytest.mark.parametrize("state", ["broken", "latin-1", "folder", "fifo", "loop", "dangling", "empty", "huge"])
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
                path.symlink_to(tmp_path / "nothing")
            case "empty":
                path.touch()
            case "loop":
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
    asyncio.run(running.reload())
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
    asyncio.run(settings.reload())
    assert settings.current.ask
    assert settings.problem == ""


class Records(Writer):
    """A record that is kept in a list as well."""

    def __init__(self) -> None:
        self.actions: list[str | int | None] = []
        super().__init__()

    def write(self, event: Event, message: str, **fields: str | int | None) -> int:
        self.actions.append(fields.get("action"))
        return super().write(event, message, **fields)


@pytest.fixture(name="records")
def kept_records() -> Iterator[Records]:
    writer = Records()
    yield writer
    writer.close()


def settled(path: Path, records: Records) -> Settings:
    """Settings that have read a file, and said so."""
    path.write_text('[policy]\ndeny = ["omarchy launch browser"]\n', encoding="utf-8")
    settings = Settings(path, records)
    settings.load()
    assert records.actions == []
    return settings


def test_a_look_at_what_is_as_it_was_makes_no_record_and_no_other_configuration(
    tmp_path: Path, records: Records
) -> None:
    path = tmp_path / "config.toml"
    settings = settled(path, records)
    before = settings.current
    path.write_bytes(path.read_bytes())
    asyncio.run(settings.look())
    assert settings.current is before
    assert records.actions == []


def test_what_cannot_be_used_is_recorded_once_however_often_it_is_looked_at(tmp_path: Path, records: Records) -> None:
    path = tmp_path / "config.toml"
    settings = settled(path, records)
    path.write_text("[policy]\n[policy]\n", encoding="utf-8")
    for _ in range(3):
        asyncio.run(settings.look())
    assert records.actions == ["rejected"]
    path.write_text('[policy]\ndeny = ["omarchy launch browser"]\n', encoding="utf-8")
    asyncio.run(settings.look())
    assert records.actions == ["rejected", "reloaded"]
    assert settings.problem == ""


def test_a_file_that_is_gone_waits_one_look_and_then_the_defaults_hold(
    tmp_path: Path, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    settings = settled(path, records)
    path.unlink()
    asyncio.run(settings.look())
    asyncio.run(settings.look())  # too early to count as another
    assert (settings.gone, bool(settings.current.deny)) == (True, True)
    monkeypatch.setattr(module, "AGAIN_S", 0.0)
    asyncio.run(settings.look())
    assert (settings.gone, settings.current) == (False, Config())
    asyncio.run(settings.look())
    assert records.actions == ["reset"]


def test_a_file_that_comes_back_in_time_was_never_gone(tmp_path: Path, records: Records) -> None:
    path = tmp_path / "config.toml"
    settings = settled(path, records)
    text = path.read_bytes()
    path.unlink()
    asyncio.run(settings.look())
    path.write_bytes(text)
    asyncio.run(settings.look())
    assert not settings.gone
    assert records.actions == []


def test_a_person_who_asks_does_not_wait(tmp_path: Path, records: Records) -> None:
    path = tmp_path / "config.toml"
    settings = settled(path, records)
    path.unlink()
    asyncio.run(settings.reload())
    assert settings.current == Config()
    assert records.actions == ["reloaded"]


def test_a_tool_that_is_not_there_is_named(tmp_path: Path, audit: Writer) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[tools]\ndisabled = ["omarchy_run", "omarchy_rum"]\n', encoding="utf-8")
    settings = Settings(path, audit, ["omarchy_run"])
    settings.load()
    assert "omarchy_rum" in settings.problem
    assert "omarchy_run'" not in settings.problem
    assert settings.current.disabled_tools == {"omarchy_run", "omarchy_rum"}


def test_a_file_that_is_written_in_place_is_taken_whole(tmp_path: Path, records: Records) -> None:
    path = tmp_path / "config.toml"
    whole = b'[policy]\nallow = ["omarchy theme set"]\ndeny = ["omarchy theme remove"]\n'
    path.write_bytes(whole)
    settings = Settings(path, records)
    settings.load()
    before = settings.current

    async def save_in_place() -> None:
        looking = asyncio.create_task(settings.look())
        for part in (b"", whole[:40], whole):
            path.write_bytes(part)
            await asyncio.sleep(module.SETTLE_S / 4)
            assert settings.current is before
        await looking

    asyncio.run(save_in_place())
    assert settings.current is before
    assert settings.problem == ""
    assert records.actions == []
