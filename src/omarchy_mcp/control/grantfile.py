"""The text of ``consent.json``: reading what a person may have edited, and writing it for a person to read.

Pure module: it neither opens the file nor knows the time.

    parse(text) -> ParsedGrants    None (no file): no grants; parsed=False: nothing is granted, and why
    dump(grants) -> bytes          what `parse` reads back as the same grants
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from omarchy_mcp.policy.grants import LAST_USEC, MAX_GRANTS, NEVER_STORED, Grant, unsound
from omarchy_mcp.policy.legible import plain, shown
from omarchy_mcp.policy.questions import Life, Scope
from omarchy_mcp.policy.registry import key

VERSION = 1
MAX_BYTES = 16 * 1024 * 1024  # as many grants as may be, each as long as may be, every character an escape
MAX_PROBLEMS = 20
COMMENT = (
    "What agents may do without asking again. Delete an entry to take it back; times are UTC. "
    "An entry that is not understood grants nothing."
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedGrants:
    """A reading of the file: what holds, what is wrong with it, and whether it could be read at all."""

    grants: tuple[Grant, ...]
    problems: tuple[str, ...]
    parsed: bool


class _BadError(Exception):
    """Something in the file cannot be used."""


def dump(grants: Iterable[Grant]) -> bytes:
    """The text of ``consent.json``: for people to read and edit, what is not plainly visible spelled as an escape."""
    whole = {"version": VERSION, "_comment": COMMENT, "grants": [_entry(grant) for grant in grants]}
    text = json.dumps(whole, indent=2, ensure_ascii=False)
    return (re.sub(r"[^\n -~]", lambda found: _escaped(found[0]), text) + "\n").encode()


def _escaped(char: str) -> str:
    if char == "\x7f":  # JSON lets it stand
        return "\\u007f"
    return char if plain(char) else json.dumps(char)[1:-1]


def _entry(grant: Grant) -> dict[str, object]:
    entry: dict[str, object] = {"id": grant.id, "client": grant.client, "route": grant.route, "scope": grant.scope}
    if grant.args is not None:
        entry["args"] = list(grant.args)
    entry |= {"life": grant.life, "created": _iso(grant.created_usec)}
    if grant.expires_usec:
        entry["expires"] = _iso(grant.expires_usec)
    return entry | ({"session": grant.session} if grant.session else {})


def _iso(usec: int) -> str:
    moment = _EPOCH + timedelta(microseconds=max(0, min(usec, LAST_USEC)))
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse(text: bytes | None) -> ParsedGrants:
    """Read the file; None: there is none. What is no such file grants nothing, nor does an entry that is odd."""
    if text is None:
        return ParsedGrants(grants=(), problems=(), parsed=True)
    try:
        entries, problems = _entries(text)
    except (ValueError, RecursionError, _BadError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return ParsedGrants(grants=(), problems=(f"cannot read consent.json: {why}; it grants nothing",), parsed=False)
    grants: dict[str, Grant] = {}
    for number, entry in enumerate(entries, 1):
        try:
            grant = _grant(entry, grants)
            grants[grant.id] = grant
        except _BadError as error:
            problems.append(f"consent.json: grant {number}: {error}, ignoring")
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"consent.json: and {len(problems) - MAX_PROBLEMS} more"]
    return ParsedGrants(grants=tuple(grants.values()), problems=tuple(problems), parsed=True)


def _entries(text: bytes) -> tuple[list[object], list[str]]:
    """The list of grants and what is odd about the rest of the file.

    Raises:
        ValueError, RecursionError, _BadError: it is no such file.
    """
    if len(text) > MAX_BYTES:
        raise _BadError(f"it is larger than {MAX_BYTES} bytes")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise _BadError(f"it is not UTF-8 (line {line}: {error.reason})") from error
    whole: object = json.loads(decoded, object_pairs_hook=_once)
    if not isinstance(whole, dict):
        raise _BadError("it must be an object with 'version' and 'grants'")
    version, entries = whole.get("version"), whole.get("grants")
    if version != VERSION or type(version) is not int:
        raise _BadError(f"'version' must be {VERSION}")
    if not isinstance(entries, list):
        raise _BadError("'grants' must be a list")
    odd = sorted(str(name) for name in whole if name not in ("version", "_comment", "grants"))
    return entries, [f"consent.json: there is no key '{shown(name)}', ignoring" for name in odd]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _BadError(f"'{shown(twice)}' stands more than once in one object")
    return found


def _grant(entry: object, before: Collection[str]) -> Grant:
    """One entry of the list; ``before`` are the ids of those that hold already."""
    if len(before) >= MAX_GRANTS:
        raise _BadError(f"there are more than {MAX_GRANTS}")
    if not isinstance(entry, dict):
        raise _BadError("it must be an object")
    values: dict[str, object] = dict(_BLANK)
    for name, value in entry.items():
        if name not in _KEYS:
            raise _BadError(f"there is no key '{shown(name)}'")
        attribute, read = _KEYS[name]
        values[attribute] = read(name, value)
    missing = [name for name, (attribute, _) in _KEYS.items() if attribute not in values]
    if missing:
        raise _BadError(f"'{missing[0]}' is missing")
    grant = Grant(**values)  # type: ignore[arg-type]  # each value came through its reader in _KEYS
    wrong = unsound(grant)
    if wrong is None and key(grant.route) in NEVER_STORED:
        wrong = f"'{shown(grant.route)}' is asked each time"
    if wrong is None and grant.id in before:
        wrong = "its id is taken by one before it"
    if wrong is not None:
        raise _BadError(wrong)
    return grant


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _BadError(f"'{name}' must be a text")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _BadError(f"'{name}' must be a list of texts")
    return tuple(value)


def _one_of(*choices: str) -> Callable[[str, object], object]:
    def read(name: str, value: object) -> object:
        if value not in choices:
            raise _BadError(f"'{name}' must be one of {', '.join(choices)}")
        return choices[choices.index(str(value))]

    return read


def _moment(name: str, value: object) -> int:
    try:
        return (datetime.fromisoformat(_text(name, value)) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, TypeError) as error:  # no time at all, or one without its zone
        raise _BadError(f"'{name}' must be a time like {_iso(0)}") from error


_BLANK: dict[str, object] = {"args": None, "expires_usec": 0, "session": ""}
_KEYS: dict[str, tuple[str, Callable[[str, object], object]]] = {
    "id": ("id", _text),
    "client": ("client", _text),
    "route": ("route", _text),
    "scope": ("scope", _one_of(Scope.ARGS, Scope.ROUTE)),
    "args": ("args", _texts),
    "life": ("life", _one_of(Life.TEN_MINUTES, Life.SESSION, Life.ALWAYS)),
    "created": ("created_usec", _moment),
    "expires": ("expires_usec", _moment),
    "session": ("session", _text),
}
