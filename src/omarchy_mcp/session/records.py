"""The audit record: its fields, how one is put into words, and what is shown of it again.

Pure.  Field names and meanings: docs/audit.md.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

PREFIX = "OMARCHY_MCP_"
IDENTIFIER = "omarchy-mcp"

ARGUMENT_CUT = 120
"""Characters of each argument that are written; the digest is over the whole."""

ARGUMENTS_CUT = 32
"""Arguments that are written; the digest is over all."""

FIELD_CUT = 2_000
"""Characters of any other field."""

# Control characters, and format characters that reorder or hide text where the record is read.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


class Event(StrEnum):
    """The kinds of record; each has a MESSAGE_ID."""

    CALL = "call"
    JOB = "job"
    QUESTION = "question"
    GRANT = "grant"
    CONFIG = "config"
    LIFECYCLE = "lifecycle"
    DROPPED = "dropped"


MESSAGE_IDS: Mapping[Event, str] = {
    Event.CALL: "5f6ddc2ba6e14c53a1b0ffd4ac3c0b61",
    Event.JOB: "d9f7b7a5b8e944a0b9f9cf1d4b0d3a52",
    Event.QUESTION: "a6c4f1d29b7e4d3f8e5a0c7b6d9f2e18",
    Event.GRANT: "e2d7b9c83f6a4e1c9d4b5a8f7c0e6d39",
    Event.CONFIG: "07a1f2c0e6b34a5f8d5f0f1c1b9a6e43",
    Event.LIFECYCLE: "b8e3f6a1c2d04d7c9c6a5e4f3d2b1a34",
    Event.DROPPED: "3c9a8b7d6e5f4a1b8c2d0e9f8a7b6c25",
}


class Outcome(StrEnum):
    """How a call ended (contract)."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    REFUSED = "refused"
    NOT_INSTALLED = "not_installed"
    ERROR = "error"
    CANCELLED = "cancelled"
    RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record as it is shown again: never with arguments."""

    usec: int
    event: str
    message: str
    fields: Mapping[str, str]

    def shown(self) -> dict[str, str | int]:
        """The record as one flat mapping, numbers as numbers, as D-Bus and JSON give it."""
        numbers = {"seq", "exit", "duration_usec", "signal"}
        flat: dict[str, str | int] = {"usec": self.usec, "event": self.event, "message": self.message}
        for key, value in self.fields.items():
            flat[key] = int(value) if key in numbers and value.isdecimal() else value
        return flat


def clean(text: str, limit: int = FIELD_CUT) -> str:
    """Return text fit to be read anywhere: one line, nothing invisible, bounded, the cut named."""
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit} characters)"


def arguments(args: Sequence[str]) -> dict[str, str]:
    """The two fields that say what a call was given: cut for reading, and a digest over the whole."""
    shown = [clean(arg, ARGUMENT_CUT) for arg in args[:ARGUMENTS_CUT]]
    if len(args) > ARGUMENTS_CUT:
        shown.append(f"… (+{len(args) - ARGUMENTS_CUT} arguments)")
    whole = json.dumps(list(args)).encode()
    return {"args": json.dumps(shown, ensure_ascii=False), "args_sha256": hashlib.sha256(whole).hexdigest()}


def entry(event: Event, message: str, fields: Mapping[str, str | int | None]) -> list[str]:
    """A journal entry, as the NAME=value strings of sd_journal_send(3).

    PRIORITY is 4 for every record: journald counts its rate limit per user and per pair of priorities, and a
    chatty program at info would take the audit with it.
    """
    lines = [
        f"MESSAGE={clean(message)}",
        f"MESSAGE_ID={MESSAGE_IDS[event]}",
        "PRIORITY=4",
        f"SYSLOG_IDENTIFIER={IDENTIFIER}",
        f"{PREFIX}EVENT={event}",
    ]
    for name, value in fields.items():
        if value is not None:
            # the arguments were cleaned one by one; JSON has no raw control characters
            text = value if name == "args" else clean(str(value))
            lines.append(f"{PREFIX}{name.upper()}={text}")
    return lines


def read(fields: Mapping[str, object], usec: int) -> Record:
    """Read an entry back; what is not text (odd bytes) is decoded with replacements."""
    text: dict[str, str] = {}
    for name, value in fields.items():
        if name.startswith(PREFIX):
            text[name.removeprefix(PREFIX).lower()] = (
                value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            )
    for hidden in ("args", "args_sha256"):
        text.pop(hidden, None)
    message = fields.get("MESSAGE", "")
    return Record(
        usec=usec,
        event=text.pop("event", ""),
        message=message if isinstance(message, str) else repr(message),
        fields=text | {"unit": str(fields.get("_SYSTEMD_USER_UNIT", ""))},
    )
