"""The person's configuration as one frozen value, read from the text of ``config.toml``.

Pure module: it neither opens the file nor watches it.

    parse_config(text) -> ParsedConfig   None (no file): the defaults; parsed=False: keep what was in force
    RESTRICTIVE                          in force when the file cannot be read at the start: safe tools only
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field

from omarchy_mcp.policy.registry import key

MAX_BYTES = 1024 * 1024  # a configuration is a page; more is a mistake
MAX_ITEMS = 1_000  # entries in one list
MAX_TEXT = 256  # characters in one entry

TIMEOUT_MS = (100, 600_000)
MAX_OUTPUT_B = (1_024, 16 * 1024 * 1024)
IDLE_EXIT_S = (0, 7 * 86_400)  # 0: never
ASK_TIMEOUT_S = (5, 600)
CLICKS = ("auto", "approve", "open")  # auto: approves only where the notification has no buttons
APPROVERS = ("user", "shell")
LOG_LEVELS = ("debug", "info", "warn", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the person decided; a default stands where they decided nothing."""

    timeout_ms: int = 30_000
    max_output_b: int = 262_144
    idle_exit_s: int = 0
    disabled_tools: frozenset[str] = field(default_factory=frozenset)
    allow: frozenset[str] = field(default_factory=frozenset)
    allow_groups: frozenset[str] = field(default_factory=frozenset)
    deny: frozenset[str] = field(default_factory=frozenset)
    ask_before: frozenset[str] = field(default_factory=frozenset)
    ask: bool = False
    ask_timeout_s: int = 50
    click: str = "auto"
    approve_from: str = "user"
    may_answer: frozenset[str] = field(default_factory=frozenset)
    log_level: str = "info"
    restrictive: bool = False


RESTRICTIVE = Config(restrictive=True, click="open", approve_from="shell")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedConfig:
    """A reading of the file: what holds, what is wrong with it, and whether it could be read at all."""

    config: Config
    problems: tuple[str, ...]
    parsed: bool


class _BadKeyError(Exception):
    """One key cannot be used; the rest of the file can."""


def parse_config(text: bytes | None) -> ParsedConfig:
    """Read a configuration; a bad key is named and the rest applies, an unreadable file is said."""
    if text is None:
        return ParsedConfig(config=Config(), problems=(), parsed=True)
    try:
        tables = _tables(text)
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are both of this kind
        return ParsedConfig(config=RESTRICTIVE, problems=(f"cannot read config.toml: {error}",), parsed=False)
    except RecursionError:
        problem = "cannot read config.toml: it is nested too deeply"
        return ParsedConfig(config=RESTRICTIVE, problems=(problem,), parsed=False)
    values: dict[str, object] = {}
    problems: list[str] = []
    for table, content in tables.items():
        known = _KEYS.get(table)
        if known is None or not isinstance(content, dict):
            problems.append(f"config.toml: there is no table [{_shown(table)}], ignoring")
            continue
        for name, value in content.items():
            attribute, read = known.get(name, ("", _unknown))
            try:
                values[attribute] = read(value)
            except _BadKeyError as error:
                instead = "ignoring"
                if name in _NARROWEST:
                    values[attribute] = _NARROWEST[name]
                    instead = f"taking '{_NARROWEST[name]}'"
                elif name in _NARROWING:
                    values[attribute] = _usable(value)
                problems.append(f"config.toml: {table}.{_shown(name)}: {error}, {instead}")
    return ParsedConfig(config=_build(values), problems=tuple(problems), parsed=True)


def _tables(text: bytes) -> dict[str, object]:
    if not text:
        raise ValueError("it is empty, as if cut short; delete it to go back to the defaults")
    if len(text) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise ValueError(f"it is not UTF-8 (line {line}: {error.reason})") from error
    return tomllib.loads(decoded)


def _shown(name: str) -> str:
    return re.sub(r"[^ -~]", "?", name[:60])


def _unknown(_: object) -> object:
    raise _BadKeyError("there is no such key")


def _usable(value: object) -> frozenset[str]:
    """What can be saved of a list that takes something away: dropping it whole would widen."""
    entries = value if isinstance(value, list) else [value]
    return frozenset(key(entry) for entry in entries[:MAX_ITEMS] if isinstance(entry, str))


def _number(bounds: tuple[int, int]) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not bounds[0] <= value <= bounds[1]:
            raise _BadKeyError(f"it must be a whole number from {bounds[0]} to {bounds[1]}")
        return value

    return read


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _BadKeyError("it must be true or false, without quotes")
    return value


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise _BadKeyError(f"it must be one of {', '.join(choices)}")
        return str(value)

    return read


def _names(spell: Callable[[str], str]) -> Callable[[object], frozenset[str]]:
    def read(value: object) -> frozenset[str]:
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise _BadKeyError(f"it must be a list of at most {MAX_ITEMS} texts")
        if not all(isinstance(text, str) and 0 < len(text.strip()) <= MAX_TEXT for text in value):
            raise _BadKeyError(f"every entry must be a text of 1 to {MAX_TEXT} characters")
        return frozenset(spell(text) for text in value)

    return read


_NARROWING = frozenset({"deny", "disabled", "ask_before"})
_NARROWEST = {"click": "open", "approve_from": "shell"}  # what counts when the person's word is none of the choices
_KEYS: dict[str, dict[str, tuple[str, Callable[[object], object]]]] = {
    "server": {
        "timeout_ms": ("timeout_ms", _number(TIMEOUT_MS)),
        "max_output_b": ("max_output_b", _number(MAX_OUTPUT_B)),
        "idle_exit_s": ("idle_exit_s", _number(IDLE_EXIT_S)),
    },
    "tools": {"disabled": ("disabled_tools", _names(str.strip))},
    "policy": {
        "allow": ("allow", _names(key)),
        "allow_groups": ("allow_groups", _names(key)),
        "deny": ("deny", _names(key)),
        "ask_before": ("ask_before", _names(key)),
        "ask": ("ask", _flag),
        "ask_timeout_s": ("ask_timeout_s", _number(ASK_TIMEOUT_S)),
        "click": ("click", _one_of(CLICKS)),
        "approve_from": ("approve_from", _one_of(APPROVERS)),
        "may_answer": ("may_answer", _names(str.strip)),
    },
    "log": {"level": ("log_level", _one_of(LOG_LEVELS))},
}


def _build(values: dict[str, object]) -> Config:
    """The defaults with what was read put over them; every value came through its own reader above."""
    return Config(**values)  # type: ignore[arg-type]  # the readers in _KEYS made each value of its field's type
