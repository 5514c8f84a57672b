"""The pure halves of the resolvers: whether a name is one of those that are there, and what a person calls it.

Pure module. Looking is done elsewhere; here "not found" and "could not look" are told apart.

    resolve(kind, said, names) -> Resolution     names: what is there; None: nobody could look
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

MAX_NAMES = 5_000
MAX_NEAR = 3


class Kind(StrEnum):
    """What can be listed. Of files and programs the listing holds those of the call that are there."""

    THEME = "theme"
    FONT = "font"
    FILE = "file"
    PROGRAM = "program"


Listings = Mapping[Kind, tuple[str, ...] | None]
NO_LISTINGS: Listings = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What became of one name: the label of what it names, or why it names nothing."""

    label: str = ""
    problem: str = ""
    near: tuple[str, ...] = ()


def resolve(kind: Kind, said: str, names: tuple[str, ...] | None) -> Resolution:
    """Find a name among those that are there: exactly, or as the desktop itself spells it."""
    if names is None:
        return Resolution(problem=f"the {kind}s that are there could not be listed just now")
    spelled = {_spelling(kind, name): name for name in reversed(names[:MAX_NAMES])}
    label = said if said in names else spelled.get(_spelling(kind, said), "")
    if label:
        return Resolution(label=label)
    near = get_close_matches(_spelling(kind, said)[:200], spelled, n=MAX_NEAR, cutoff=0.5)
    return Resolution(problem=f"there is no {kind} '{said[:80]}'", near=tuple(spelled[name] for name in near))


def _spelling(kind: Kind, name: str) -> str:
    """Themes are folders, whose names the desktop makes of what people call them."""
    return re.sub(r"\s+", "-", name.strip().casefold()) if kind is Kind.THEME else name
