"""Search over the commands: forgiving about order, spelling and vocabulary, strict about what is hidden.

Pure module. It finds; whether a command may run is the verdict's business.

    search(registry, query, *, limit=20, hidden=False) -> tuple[Command, ...]   best first
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from omarchy_mcp.desktop.synonyms import PHRASES, STOP_WORDS, SYNONYMS
from omarchy_mcp.policy.registry import Command, Registry

MAX_QUERY = 200  # characters read of a query
MAX_WORDS = 12
MAX_LIMIT = 100

_WORD = re.compile(r"[a-z0-9]+")
_ROUTE_WEIGHT, _ARGS_WEIGHT, _SUMMARY_WEIGHT = 6.0, 3.0, 3.0
_EXACT, _PREFIX, _MEANT, _TYPO, _STEM = 1.0, 0.7, 0.75, 0.5, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """Commands in order of their routes, and for each word where it stands and how much it weighs there."""

    commands: tuple[Command, ...]
    words: tuple[str, ...]
    places: Mapping[str, tuple[tuple[int, float], ...]]


def search(registry: Registry, query: str, *, limit: int = 20, hidden: bool = False) -> tuple[Command, ...]:
    """Commands for a query, best first; an empty query lists them in order of their routes."""
    limit = max(1, min(limit, MAX_LIMIT))
    index = _index(registry, hidden=hidden)
    wanted = _query(query)
    if not wanted:
        return index.commands[:limit]
    found = [_hits(word, index) for word in wanted]
    scored: list[tuple[float, int, int]] = []
    for number in set[int]().union(*found):
        hits = [each[number] for each in found if number in each]
        # every word found counts for more than one word found well
        score = sum(hits) * len(hits) / len(found)
        scored.append((-score, len(index.commands[number].route), number))
    return tuple(index.commands[row[2]] for row in sorted(scored)[:limit])


def _hits(word: str, index: _Index) -> dict[int, float]:
    """The commands in which a word stands, or one it may mean, each with the best it counts for there."""
    hits: dict[int, float] = {}
    for known, sure in _matches(word, index).items():
        for number, weight in index.places[known]:
            hits[number] = max(hits.get(number, 0.0), sure * weight)
    return hits


def _query(query: str) -> list[str]:
    text = " ".join(_WORD.findall(query[:MAX_QUERY].casefold()))
    for phrase, words in PHRASES.items():
        text = re.sub(rf"\b{phrase}\b", words, text)
    said = text.split()
    kept = [word for word in said if word not in STOP_WORDS]
    return (kept or said)[:MAX_WORDS]


def _matches(word: str, index: _Index) -> dict[str, float]:
    """Words of the registry this word may mean, each with how sure we are."""
    found: dict[str, float] = {}
    if word in index.places:
        found[word] = _EXACT
    for meant in SYNONYMS.get(word, ()):
        if meant in index.places:
            found.setdefault(meant, _MEANT)
    if len(word) >= 2:
        for known in index.words[bisect_left(index.words, word) :]:
            if not known.startswith(word):
                break
            found.setdefault(known, _PREFIX)
    return found or _misspelled(word, index)


def _misspelled(word: str, index: _Index) -> dict[str, float]:
    """Words a letter or two away, words that mean what such a word means, or else what it starts with."""
    if len(word) < 4:
        return {}
    allowed = 1 if len(word) < 8 else 2
    spelled = [name for name in SYNONYMS if _distance(word, name, 1) <= 1]
    found = {meant: _TYPO for name in spelled for meant in SYNONYMS[name] if meant in index.places}
    found |= {known: _TYPO for known in index.words if _distance(word, known, allowed) <= allowed}
    return found or {known: _STEM for known in index.words if len(known) >= 4 and word.startswith(known)}


@lru_cache(maxsize=4)
def _index(registry: Registry, *, hidden: bool) -> _Index:
    """The index of a registry, with its hidden commands or without; worked out once."""
    shown = (command for command in registry.commands if hidden or not command.hidden)
    commands = tuple(sorted(shown, key=lambda command: command.route))
    places: dict[str, list[tuple[int, float]]] = {}
    for number, command in enumerate(commands):
        for word, weight in _weights(command).items():
            places.setdefault(word, []).append((number, weight))
    fixed = {word: tuple(where) for word, where in places.items()}
    return _Index(commands=commands, words=tuple(sorted(fixed)), places=fixed)


def _weights(command: Command) -> dict[str, float]:
    """A command's words, each with the weight of the best place it stands in."""
    weights: dict[str, float] = {}
    named = " ".join((command.route, *command.aliases, command.group))
    for text, weight in (
        (named, _ROUTE_WEIGHT), (command.summary, _SUMMARY_WEIGHT),
        (command.args, _ARGS_WEIGHT), (" ".join(command.examples), 1.0),
    ):  # fmt: skip
        for word in _WORD.findall(text.casefold()):
            if word != "omarchy":
                weights.setdefault(word, weight)
    return weights


def _distance(one: str, two: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap neighbours) between two words, or more than the limit."""
    if abs(len(one) - len(two)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return last[-1]
