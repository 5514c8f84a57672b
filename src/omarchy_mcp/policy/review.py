"""Commands that came or grew with a change of Omarchy: held, whatever the configuration allows, until acknowledged.

Pure module. Only what is guarded can be held: what is safe runs whatever the configuration says, what is blocked never.
What was acknowledged once stays so, also while it is gone or can do less.

    first(now) -> Book                       a first run: all that is there counts as acknowledged
    compared(book, now, since_usec) -> Book  the book with what is held by now
    acknowledged(book) -> Book               the book with nothing held
    change(now, was) -> str                  what is new about a command, "" when nothing is that matters
    why(held, route, tier) -> str            what is new about a route, "" when it is not held
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.registry import MAX_COMMANDS

RULE = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A command as it was found. ``names``: all by which the configuration could allow it; ``digest``: its scripts'."""

    route: str
    tier: Tier
    capabilities: tuple[str, ...]
    names: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """A command that is held: how it is, how it was acknowledged (None: never), when it became so (µs since 1970)."""

    now: Seen
    was: Seen | None
    since_usec: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """What was acknowledged, by route, and what is held. ``lost``: what was acknowledged before is not known."""

    known: Mapping[str, Seen] = field(default_factory=dict)
    held: tuple[New, ...] = ()
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is new about the routes that are held; ``guarded``: why every guarded one is."""

    routes: Mapping[str, str] = field(default_factory=dict)
    guarded: str = ""


NOTHING_HELD = Held()


def first(now: Iterable[Seen]) -> Book:
    """The book of a first run."""
    return Book(known={seen.route: seen for seen in now})


def compared(book: Book, now: Iterable[Seen], since_usec: int) -> Book:
    """The book by what is there now; what was held before is held since then, unless it can do other things now."""
    before = {new.now.route: new for new in book.held}
    known, held = dict(book.known), list[New]()
    for seen in now:
        was, old = known.get(seen.route), before.get(seen.route)
        if change(seen, was):
            same = old is not None and _facts(old.now) == _facts(seen)
            held.append(New(now=seen, was=was, since_usec=old.since_usec if old and same else since_usec))
        elif was is None or was.digest == seen.digest or _facts(was) == _facts(seen):
            known[seen.route] = seen
    kept = dict(list(known.items())[-2 * MAX_COMMANDS :])  # what goes by this is new when it comes back
    return Book(known=kept, held=tuple(held), lost=book.lost and bool(held))


def acknowledged(book: Book) -> Book:
    """The book with what is held put among what is known."""
    return first([*book.known.values(), *(new.now for new in book.held)])


def change(now: Seen, was: Seen | None) -> str:
    """What is new about a command, "" when nothing is that has to be looked at."""
    if now.tier is not Tier.GUARDED:
        return ""
    if was is None or was.tier is Tier.BLOCKED:
        return "it is new" if was is None else "it was blocked before"
    if set(now.names) - set(was.names):
        return "it goes by a new name or group"
    if was.digest == now.digest:  # the same scripts: another version of this policy says other things of them
        return ""
    grown = "it can do more than before" if set(now.capabilities) - set(was.capabilities) else ""
    return "it was safe before" if was.tier is Tier.SAFE else grown


def why(held: Held, route: str, tier: Tier) -> str:
    """What is new about a route as it is rated, "" when it is not held."""
    return held.routes.get(route, held.guarded if tier is Tier.GUARDED else "")


def _facts(seen: Seen) -> Seen:
    return replace(seen, digest="")
