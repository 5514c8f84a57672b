"""The commands of an installed Omarchy with their ratings, as lists: for people, and for telling what is new.

Pure; nothing is rated here.
"""

import hashlib

from omarchy_mcp.policy.rating import Rating
from omarchy_mcp.policy.registry import Command, Registry, key
from omarchy_mcp.policy.review import Seen
from omarchy_mcp.policy.tiers import Ratings, rating_of


def rows(registry: Registry, ratings: Ratings, *, hidden: bool = False) -> tuple[tuple[Command, Rating], ...]:
    """Every route with its rating, in order of the routes."""
    shown = sorted((command for command in registry.commands if hidden or not command.hidden), key=lambda c: c.route)
    return tuple((command, rating_of(ratings, command)) for command in shown)


def seen(registry: Registry, ratings: Ratings) -> tuple[Seen, ...]:
    """Every command as a review sees it, in order of the routes."""
    return tuple(
        Seen(
            route=command.route,
            tier=rating.tier,
            capabilities=tuple(map(str, rating.capabilities)),
            names=names_of(command),
            digest=digest_of(ratings, command.binary),
        )
        for command, rating in rows(registry, ratings, hidden=True)
    )


def names_of(command: Command) -> tuple[str, ...]:
    """All by which the configuration could allow a command."""
    names = {key(each) for each in (command.route, *command.aliases, command.filename_route)}
    return (*sorted(names), f"group {key(command.group)}")


def digest_of(ratings: Ratings, binary: str) -> str:
    """A digest of every script that has a say in what a command does."""
    scripts = sorted(ratings.closures.get(binary, ()))
    text = "".join(f"{name} {ratings.digests.get(name, '')}\n" for name in scripts)
    return hashlib.sha256(text.encode()).hexdigest()
