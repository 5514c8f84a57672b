import time
import uuid

import pytest
from systemd import journal as sd_journal

from omarchy_mcp.session import journal
from omarchy_mcp.session.journal import UnreadableError, Writer, is_record, recent, trusted_reader
from omarchy_mcp.session.records import MESSAGE_IDS, PREFIX, Event
from system import journal as system_journal
from system.product import Product
from system.world import wait_until


@pytest.fixture(autouse=True)
def readable(installed: Product) -> None:
    if not system_journal.readable(installed.world):
        pytest.skip("this user may not read the journal his processes write: persistent storage, or systemd-journal")


def own_entries(instance: str) -> list[str]:
    with sd_journal.Reader() as reader:
        reader.add_match(f"{PREFIX}INSTANCE={instance}")
        return [str(entry["MESSAGE"]) for entry in reader]


def test_records_are_written_in_order_numbered_and_seen_to_arrive() -> None:
    writer = Writer()
    assert [writer.write(Event.CALL, f"record {number}") for number in range(200)] == list(range(1, 201))
    wait_until(lambda: writer._arrived == 200, "all records are read back")
    assert writer.health.state == "ok"
    assert (writer.health.written, writer.health.lost) == (200, 0)
    writer.close()
    assert own_entries(writer.instance) == [f"record {number}" for number in range(200)]


def test_what_is_queued_at_the_end_is_written() -> None:
    writer = Writer()
    for number in range(50):
        writer.write(Event.CALL, f"last {number}")
    writer.close()
    wait_until(lambda: len(own_entries(writer.instance)) == 50, "everything queued is in the journal")


def test_records_that_never_arrive_are_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "ARRIVAL_S", 0.1)
    writer = Writer()
    writer.write(Event.CALL, "arrives")
    wait_until(lambda: writer._arrived == 1, "the first is read back")
    monkeypatch.setattr(sd_journal, "sendv", lambda *_lines: None)  # journald drops silently when it limits
    for _ in range(3):
        writer.write(Event.CALL, "is dropped on the way")
    wait_until(lambda: writer.health.lost == 3, "the loss is counted")
    assert writer.health.state == "losing"
    assert "3 records" in writer.health.why
    writer.close()


def test_one_record_lost_among_many_is_one_and_late_ones_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "ARRIVAL_S", 0.5)
    sendv = sd_journal.sendv
    held: list[tuple[str, ...]] = []

    def unreliable(*lines: str) -> None:
        if "MESSAGE=lost" in lines:
            return
        if "MESSAGE=late" in lines:
            held.append(lines)
            return
        sendv(*lines)

    monkeypatch.setattr(sd_journal, "sendv", unreliable)
    writer = Writer()
    for message in ("one", "two", "lost", "four", "five"):
        writer.write(Event.CALL, message)
    wait_until(lambda: writer._arrived == 4, "all but one are seen")
    wait_until(lambda: writer.health.lost == 1, "one is given up")
    for message in ("six", "seven", "late", "late"):
        writer.write(Event.CALL, message)
    wait_until(lambda: writer._arrived == 6, "the two that are there are seen")
    for lines in held:
        sendv(*lines)
    wait_until(lambda: writer._arrived == 8, "the late ones are seen")
    assert writer.health.lost == 1
    writer.close()


def test_a_journal_that_cannot_be_read_back_is_unreadable_and_not_merely_losing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "ARRIVAL_S", 0.1)
    monkeypatch.setattr(sd_journal, "sendv", lambda *_lines: None)
    told: list[str] = []
    writer = Writer(lambda: told.append(writer.health.state))
    writer.write(Event.CALL, "nobody sees this")
    wait_until(lambda: told == ["unreadable"], "it is said, once, that nothing can be read back")
    writer.close()


def test_a_full_queue_drops_counts_and_says_so_in_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "QUEUE", 4)
    sendv = sd_journal.sendv
    blocked = True

    def slow(*lines: str) -> None:
        wait_until(lambda: not blocked, "journald takes entries again")
        sendv(*lines)

    monkeypatch.setattr(sd_journal, "sendv", slow)
    writer = Writer()
    started = time.monotonic()
    for number in range(20):
        writer.write(Event.CALL, f"record {number}")
    assert time.monotonic() - started < 1, "writing never waits"
    assert writer.health.lost > 0
    blocked = False
    writer.write(Event.CALL, "and on")
    wait_until(
        lambda: any("were dropped" in each for each in own_entries(writer.instance)), "the loss is in the journal"
    )
    writer.close()


def test_nobody_outside_our_units_is_read_as_ours() -> None:
    writer = Writer()  # this process is in no unit of ours, and writes every field as ours has it
    writer.write(Event.CALL, "forged", tool="omarchy_run", outcome="ok")
    writer.close()
    wait_until(lambda: own_entries(writer.instance), "the forged record is in the journal")
    with trusted_reader() as reader:
        assert not [entry for entry in reader if entry.get(f"{PREFIX}INSTANCE") == writer.instance]


def test_an_empty_record_is_an_error_and_not_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SERVER_UNIT", "no-such-unit.service")
    monkeypatch.setattr(journal, "CONTROL_UNIT", "no-such-unit-either.service")
    with pytest.raises(UnreadableError, match="journal"):
        recent(5)
    assert recent(0) == []


@pytest.mark.parametrize(
    ("found", "is_one"),
    [
        ({"MESSAGE_ID": uuid.UUID(MESSAGE_IDS[Event.CALL])}, True),
        ({"MESSAGE_ID": uuid.UUID(int=1)}, False),
        ({"MESSAGE_ID": "odd"}, False),
        ({"MESSAGE": "a log line"}, False),
    ],
)
def test_only_what_has_a_kind_of_ours_is_a_record(found: dict[str, object], is_one: bool) -> None:
    assert is_record(found) is is_one
