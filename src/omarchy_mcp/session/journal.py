"""The journal as audit log: written by one thread, seen to have arrived, and read back by trusted fields only.

journal.send blocks while journald hangs and loses silently while it is away or rate-limiting, so nothing
here runs on the event loop, and what was sent is looked for afterwards.
"""

import logging
import os
import select
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from systemd import journal

from omarchy_mcp.policy.callers import CONTROL_UNIT, SERVER_UNIT
from omarchy_mcp.session import environment
from omarchy_mcp.session.records import (
    MESSAGE_IDS,
    PREFIX,
    Event,
    Record,
    entry,
    read,
)

logger = logging.getLogger(__name__)

QUEUE = 4_096
"""Records waiting to be written; beyond it they are counted and said, never waited for."""

TOGETHER_S = 0.02
"""Records that come within this time after others are written with the next."""

LOOK_S = 0.2
"""How long after the last record it is looked for."""

ARRIVAL_S = 5.0
"""How long a record may take until it can be read back before it counts as lost."""

MAX_RECENT = 1_000

KINDS = frozenset(MESSAGE_IDS.values())


class UnreadableError(Exception):
    """The record cannot be read; the message says why as far as it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How the record is doing: ok, unreadable (nothing of ours can be read back) or losing, and why."""

    state: str
    why: str
    written: int
    lost: int


class Writer:
    """Writes records in order, from one thread.

    The thread takes what has come every TOGETHER_S and not record by record: each hand-over of the interpreter
    from one thread to the other costs more than a record.
    """

    def __init__(self, changed: Callable[[], None] | None = None) -> None:
        """`changed` is called from the writing thread when the record's health is another than before."""
        self._changed = changed
        self._state = "ok"
        self.instance = environment.get("INVOCATION_ID") or uuid.uuid4().hex
        self._queue: deque[tuple[int, list[str]]] = deque()
        self._come = threading.Event()
        self._closing = threading.Event()
        self._numbering = threading.Lock()
        self._seq = 0
        self._dropped = 0
        self._dropped_said = 0
        self._lost = 0
        self._arrived = 0
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def write(self, event: Event, message: str, **fields: str | int | None) -> int:
        """Queue a record and return its sequence number; never waits."""
        with self._numbering:
            self._seq += 1
            seq = self._seq
            full = len(self._queue) >= QUEUE
            if full:
                self._dropped += 1
            else:
                self._queue.append((seq, entry(event, message, {**fields, "seq": seq, "instance": self.instance})))
        if not full and not self._come.is_set():
            self._come.set()
        return seq

    @property
    def health(self) -> Health:
        """How writing is doing now."""
        lost = self._dropped + self._lost
        if lost and self._arrived == 0:
            state, why = "unreadable", "no record of this run can be read back from the journal"
        elif lost:
            state, why = "losing", f"{lost} records did not reach the journal"
        else:
            state, why = "ok", ""
        return Health(state=state, why=why, written=self._seq, lost=lost)

    def close(self, seconds: float = 2.0) -> None:
        """Write what is queued and end, waiting at most so long."""
        self._closing.set()
        self._come.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        arrivals = Arrivals(self.instance)
        while not self._closing.is_set():
            self._come.wait(LOOK_S if arrivals.waiting else None)
            self._come.clear()
            self._look(arrivals)
            self._send_all(arrivals)
            self._closing.wait(TOGETHER_S)
        self._send_all(arrivals)
        arrivals.close()

    def _look(self, arrivals: "Arrivals") -> None:
        self._lost += arrivals.look()
        self._arrived = arrivals.arrived
        state = self.health.state
        if state != self._state:
            self._state = state
            if self._changed is not None:
                self._changed()

    def _send_all(self, arrivals: "Arrivals") -> None:
        while self._queue:
            seq, lines = self._queue.popleft()
            arrivals.sent(seq)
            send(lines)
        if self._dropped > self._dropped_said:
            count, self._dropped_said = self._dropped - self._dropped_said, self._dropped
            self.write(Event.DROPPED, f"{count} records were dropped: the journal did not keep up", count=count)


def send(lines: list[str]) -> None:
    """Hand one entry to journald; a journald that is away is noticed when the entry is looked for."""
    try:
        journal.sendv(*lines)
    except OSError as error:
        logger.warning("cannot write to the journal: %s", error)


class Arrivals:
    """Looks for records in the journal after they were sent; used by the writing thread alone."""

    def __init__(self, instance: str) -> None:
        self._reader = journal.Reader()
        self._reader.add_match(f"{PREFIX}INSTANCE={instance}")
        self._reader.add_match(_PID=os.getpid())
        self._begun = time.time() - 1
        self._cursor: str | None = None
        self._pending: deque[tuple[int, float]] = deque()
        self.arrived = 0
        """How many records have been seen."""
        self._go_back()

    @property
    def waiting(self) -> bool:
        """Whether something that was sent has not been seen yet."""
        return bool(self._pending)

    def sent(self, seq: int) -> None:
        """A record goes out now."""
        self._pending.append((seq, time.monotonic()))

    def look(self) -> int:
        """Look for what was sent; returns how many records are now given up as lost."""
        if not self._pending:
            return 0
        self._reader.process()
        if self._jump():
            self.arrived += len(self._pending)
            self._pending.clear()
            return 0
        self._walk()
        lost = 0
        while self._pending and time.monotonic() - self._pending[0][1] > ARRIVAL_S:
            self._pending.popleft()
            lost += 1
        return lost

    def _jump(self) -> bool:
        """Whether all that was sent is there, in order: two entries are read for that, however many were sent.

        With one missing, the jump over all but the last would already end on the last.
        """
        last = len(self._pending) - 1
        if last and number_of(self._reader.get_next(last)) != self._pending[last - 1][0]:
            return False
        found = self._reader.get_next()
        if number_of(found) != self._pending[last][0]:
            return False
        self._cursor = found["__CURSOR"]
        return True

    def _walk(self) -> None:
        """Read entry by entry from the last that was seen, and cross off what is there."""
        self._go_back()
        seen = set()
        while found := self._reader.get_next():
            seen.add(number_of(found))
            self._cursor = found["__CURSOR"]
        before = len(self._pending)
        self._pending = deque(each for each in self._pending if each[0] not in seen)
        self.arrived += before - len(self._pending)

    def _go_back(self) -> None:
        """Before the first entry that was not seen yet."""
        if self._cursor is None:
            self._reader.seek_realtime(self._begun)
        else:
            self._reader.seek_cursor(self._cursor)
            self._reader.get_next()

    def close(self) -> None:
        """Let go of the journal's files."""
        self._reader.close()


def number_of(found: Mapping[str, Any]) -> int:
    """The sequence number of an entry that was read, 0 when there was none."""
    return int(found.get(f"{PREFIX}SEQ", 0))


def trusted_reader() -> journal.Reader:
    """A reader of what our own services wrote as we write records.

    `_`-fields are the journal's own.  USER_UNIT=, which `journalctl --user -u` also matches, can be set by
    anybody; our field names too.
    """
    reader = journal.Reader(journal.LOCAL_ONLY)
    reader.add_match(_UID=os.getuid())
    reader.add_match(_TRANSPORT="journal")
    for unit in (SERVER_UNIT, CONTROL_UNIT):
        reader.add_match(_SYSTEMD_USER_UNIT=unit)  # the same field twice is OR
    return reader


def records_alone(reader: journal.Reader) -> None:
    """Have a reader that waits for entries pass over those that are no records.

    One that looks back does so by `is_record`: each value to be matched is looked up in every file of the journal,
    which takes longer than reading the few entries that are none.
    """
    for message_id in MESSAGE_IDS.values():
        reader.add_match(MESSAGE_ID=message_id)


def is_record(found: Mapping[str, object]) -> bool:
    """Whether an entry of our services is a record."""
    return getattr(found.get("MESSAGE_ID"), "hex", "") in KINDS  # a UUID


def recent(count: int) -> list[Record]:
    """The newest records, newest first, at most MAX_RECENT.

    Raises:
        UnreadableError: not even our own start can be read, so an empty list would be a lie.
    """
    records: list[Record] = []
    with trusted_reader() as reader:
        reader.seek_tail()
        while len(records) < min(count, MAX_RECENT):
            found = reader.get_previous()
            if not found:
                break
            if is_record(found):
                records.append(record(found))
    if count and not records:
        raise UnreadableError(
            "no record can be read from the journal: it is not kept for this user (volatile storage, or not a "
            "member of the group systemd-journal), or it was deleted"
        )
    return records


def follow(count: int, until: int | None = None) -> Iterator[Record | None]:
    """The newest `count` records, oldest first, then None, then each record as it is written.

    Ends when nobody reads the pipe or socket `until` any more.  What is not there yet may come: an empty journal
    is waited on like any other.
    """
    with trusted_reader() as reader:
        records_alone(reader)
        waiting = select.poll()
        waiting.register(reader.fileno(), reader.get_events())  # from here on nothing is missed
        if until is not None:
            waiting.register(until, 0)  # errors and hang-ups are always told
        reader.seek_tail()
        found = reader.get_previous(count or 1)
        if not found:
            reader.seek_head()  # no record of ours: every one that comes is new
        if count and found:
            yield record(found)
        told = False
        while True:
            while found := reader.get_next():
                yield record(found)
            if not told:
                told = True
                yield None
            if any(fd == until for fd, _ in waiting.poll(reader.get_timeout_ms())):
                return
            reader.process()


def record(found: Mapping[str, object]) -> Record:
    """Read an entry of the reader."""
    when = found["__REALTIME_TIMESTAMP"]
    return read(found, int(when.timestamp() * 1_000_000))  # type: ignore[attr-defined]  # a datetime
