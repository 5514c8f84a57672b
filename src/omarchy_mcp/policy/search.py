"""Search over the commands: forgiving about order, spelling and vocabulary, strict about what is hidden.

Pure module. It finds; whether a command may run is the verdict's business.

    search(registry, query, *, limit=20, hidden=False) -> tuple[Command, ...]   best first
"""

import re
from functools import lru_cache

from omarchy_mcp.policy.registry import Command, Registry
from omarchy_mcp.policy.synonyms import PHRASES, STOP_WORDS, SYNONYMS

MAX_QUERY = 200  # characters read of a query
MAX_WORDS = 12
MAX_LIMIT = 100

_WORD = re.compile(r"[a-z0-9]+")
_ROUTE_WEIGHT, _ARGS_WEIGHT, _SUMMARY_WEIGHT = 6.0, 3.0, 3.0
_EXACT, _PREFIX, _MEANT, _TYPO, _STEM = 1.0, 0.7, 0.75, 0.5, 0.3


def search(registry: Registry, query: str, *, limit: int = 20, hidden: bool = False) -> tuple[Command, ...]:
    """Commands for a query, best first; an empty query lists them in order of their routes."""
    limit = max(1, min(limit, MAX_LIMIT))
    wanted = _query(query)
    pool = [(command, fields) for command, fields in _fields(registry) if hidden or not command.hidden]
    if not wanted:
        return tuple(sorted((command for command, _ in pool), key=lambda c: c.route)[:limit])
    vocabulary = frozenset[str]().union(*(fields for _, fields in pool)) if pool else frozenset[str]()
    scales = [_matches(word, vocabulary) for word in wanted]
    scored: list[tuple[float, int, str, Command]] = []
    for command, fields in pool:
        hits = [max((scale[w] * fields[w] for w in scale.keys() & fields.keys()), default=0.0) for scale in scales]
        if any(hits):
            # every word found counts for more than one word found well
            score = sum(hits) * sum(1 for hit in hits if hit) / len(hits)
            scored.append((-score, len(command.route), command.route, command))
    scored.sort(key=lambda row: row[:3])
    return tuple(row[3] for row in scored[:limit])


def _query(query: str) -> list[str]:
    text = " ".join(_WORD.findall(query[:MAX_QUERY].casefold()))
    for phrase, words in PHRASES.items():
        text = re.sub(rf"\b{phrase}\b", words, text)
    said = text.split()
    kept = [word for word in said if word not in STOP_WORDS]
    return (kept or said)[:MAX_WORDS]


def _matches(word: str, vocabulary: frozenset[str]) -> dict[str, float]:
    """Words of the registry this word may mean, each with how sure we are."""
    found: dict[str, float] = {}
    if word in vocabulary:
        found[word] = _EXACT
    for meant in SYNONYMS.get(word, ()):
        if meant in vocabulary:
            found.setdefault(meant, _MEANT)
    for known in vocabulary:
        if len(word) >= 2 and known.startswith(word):
            found.setdefault(known, _PREFIX)
    return found or _misspelled(word, vocabulary)


def _misspelled(word: str, vocabulary: frozenset[str]) -> dict[str, float]:
    """Words a letter or two away, words that mean what such a word means, or else what it starts with."""
    if len(word) < 4:
        return {}
    allowed = 1 if len(word) < 8 else 2
    spelled = [name for name in SYNONYMS if _distance(word, name, 1) <= 1]
    found = {meant: _TYPO for name in spelled for meant in SYNONYMS[name] if meant in vocabulary}
    found |= {known: _TYPO for known in vocabulary if _distance(word, known, allowed) <= allowed}
    return found or {known: _STEM for known in vocabulary if len(known) >= 4 and word.startswith(known)}


@lru_cache(maxsize=2)
def _fields(registry: Registry) -> tuple[tuple[Command, dict[str, float]], ...]:
    """Each command with the weight of each of its words; worked out once per registry."""
    rows: list[tuple[Command, dict[str, float]]] = []
    for command in registry.commands:
        weights: dict[str, float] = {}
        named = " ".join((command.route, *command.aliases, command.group))
        for text, weight in (
            (named, _ROUTE_WEIGHT), (command.summary, _SUMMARY_WEIGHT),
            (command.args, _ARGS_WEIGHT), (" ".join(command.examples), 1.0),
        ):  # fmt: skip
            for word in _WORD.findall(text.casefold()):
                if word != "omarchy":
                    weights.setdefault(word, weight)
        rows.append((command, weights))
    return tuple(rows)


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
