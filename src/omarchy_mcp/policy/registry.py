"""The desktop's commands as frozen values: parsing the registry, and naming exactly one record for a route.

Pure module: text in, values out. It never guesses: a record it does not understand is named and left out.

    parse(text) -> Registry                  raises RegistryError; bad records are named in Registry.problems
    find(registry, route) -> Command | None  route, alias or filename route, "omarchy" or not, any spacing
    near(registry, route) -> tuple[str, ...] routes that look like it, best first
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MAX_BYTES = 16 * 1024 * 1024  # the real one is 160 KB; ten thousand commands stay below 8 MB
MAX_COMMANDS = 20_000
MAX_TEXT = 4_096  # one field of one record
MAX_ITEMS = 64  # aliases or examples of one record
MAX_PROBLEMS = 32  # a registry that is wrong throughout is said once, not ten thousand times
NEAR_LIMIT = 5

BINARY = re.compile(r"omarchy(?:-[a-z0-9]+)+", re.ASCII)  # a bare name: never a path, never the dispatcher
ROUTE = re.compile(r"omarchy(?: [a-z0-9][a-z0-9-]*)+", re.ASCII)
_HIDDEN_CATEGORIES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class RegistryError(Exception):
    """The text is no registry at all; whoever holds an older one keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One record of ``omarchy commands --json``."""

    route: str
    binary: str
    group: str
    name: str
    summary: str
    args: str
    examples: tuple[str, ...]
    requires_sudo: bool
    hidden: bool
    aliases: tuple[str, ...]
    filename_route: str
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Registry:
    """All usable commands, what was skipped and why, and the index ``find`` reads."""

    commands: tuple[Command, ...]
    problems: tuple[str, ...] = ()
    index: Mapping[str, Command] = field(default_factory=dict, repr=False)


def parse(text: bytes | str) -> Registry:
    """Read a registry; a bad record is named and skipped.

    Raises:
        RegistryError: the text is too large, not UTF-8, not JSON, cut short, or holds no list of commands.
    """
    problems: list[str] = []
    commands: list[Command] = []
    taken: dict[str, str] = {}
    for position, item in enumerate(_records(text)):
        read = _command(item)
        if isinstance(read, str):
            problems.append(f"skipped command {_label(item, position)}: {read}")
        elif read.route in taken or read.binary in taken.values():
            problems.append(f"skipped command '{read.route}': its route or binary is listed twice")
        else:
            taken[read.route] = read.binary
            commands.append(read)
    index = _index(commands, problems)
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"and {len(problems) - MAX_PROBLEMS} more problems"]
    return Registry(commands=tuple(commands), problems=tuple(problems), index=index)


def find(registry: Registry, route: str) -> Command | None:
    """The one command this route, alias or filename route names, however it is spaced."""
    return registry.index.get(key(route)) if len(route) <= MAX_TEXT else None


def near(registry: Registry, route: str) -> tuple[str, ...]:
    """Visible routes that look like this one, best first; empty when nothing does."""
    wanted = _shape(key(route[:MAX_TEXT]))
    scored = (
        (2 * len(wanted & shape) / (len(wanted) + len(shape)), command.route)
        for command in registry.commands
        if not command.hidden
        for shape in [_shape(key(command.route))]
    )
    best = sorted(((-score, name) for score, name in scored if score >= 0.34))
    return tuple(name for _, name in best[:NEAR_LIMIT])


def key(route: str) -> str:
    """A route as the index spells it: lower case, single spaces for hyphens too, no leading ``omarchy``."""
    words = route.casefold().replace("-", " ").split()
    return " ".join(words[1:] if words[:1] == ["omarchy"] else words)


def _records(text: bytes | str) -> list[object]:
    if len(text) > MAX_BYTES:
        raise RegistryError(f"the registry is larger than {MAX_BYTES} bytes")
    try:
        whole = json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RegistryError(f"the registry is not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise RegistryError(f"the registry is not whole JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise RegistryError("the registry is not JSON anyone would write") from error
    items = whole.get("commands") if isinstance(whole, dict) and whole.get("ok", True) is True else None
    if not isinstance(items, list) or not items:
        raise RegistryError("the registry holds no list of commands")
    if len(items) > MAX_COMMANDS:
        raise RegistryError(f"the registry holds more than {MAX_COMMANDS} commands")
    return items


def _label(item: object, position: int) -> str:
    name = item.get("route") if isinstance(item, dict) else None
    if not isinstance(name, str):
        return f"number {position + 1}"
    return f"'{_HIDDEN_CATEGORIES.sub('?', name[:80])}'"


def _command(item: object) -> Command | str:
    """The record as a value, or what is wrong with it."""
    if not isinstance(item, dict):
        return "it is not an object"
    texts: dict[str, str] = {}
    for name in ("route", "binary", "group", "name", "summary", "args", "filename_route"):
        value = item.get(name, "")
        if not isinstance(value, str) or len(value) > MAX_TEXT or _HIDDEN_CATEGORIES.search(value):
            return f"'{name}' is not one line of text below {MAX_TEXT} characters"
        texts[name] = value
    flags = {name: item.get(name, default) for name, default in (("requires_sudo", True), ("hidden", False))}
    if not all(isinstance(flag, bool) for flag in flags.values()):
        return "'requires_sudo' or 'hidden' is neither true nor false"
    lists = {name: _texts(item.get(name, [])) for name in ("examples", "aliases", "routes")}
    examples, aliases, routes = lists["examples"], lists["aliases"], lists["routes"]
    if examples is None or aliases is None or routes is None:
        return f"'examples', 'aliases' or 'routes' is not a list of at most {MAX_ITEMS} texts"
    if not BINARY.fullmatch(texts["binary"]):
        return "its binary is not a bare name that starts with 'omarchy-'"
    if not ROUTE.fullmatch(texts["route"]):
        return "its route is not words that start with 'omarchy'"
    return Command(
        **texts, requires_sudo=flags["requires_sudo"], hidden=flags["hidden"],
        examples=examples, aliases=aliases, routes=routes,
    )  # fmt: skip


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        return None
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in value):
        return None
    return tuple(value)


def _index(commands: list[Command], problems: list[str]) -> dict[str, Command]:
    """Every spelling that names exactly one command; a route outranks an alias, an alias a filename."""
    index = {key(command.route): command for command in commands}
    for spellings in (_aliases, _filenames):
        added: dict[str, Command] = {}
        unclear: set[str] = set()
        for command in commands:
            for spelling in map(key, spellings(command)):
                if added.setdefault(spelling, command) is not command:
                    unclear.add(spelling)
        problems.extend(f"ignored '{name}': it names several commands" for name in sorted(unclear))
        for spelling, command in added.items():
            if spelling and spelling not in unclear:
                index.setdefault(spelling, command)
    return index


def _aliases(command: Command) -> Iterator[str]:
    yield from command.aliases
    yield from command.routes


def _filenames(command: Command) -> Iterator[str]:
    yield command.filename_route
    yield command.binary


def _shape(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))
