"""What `approve`, `deny`, `revoke` and `acknowledge` are told: of what, and how far an approval goes.

Pure.  What the control service would refuse whatever is open is refused here already.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from omarchy_mcp.cli.options import LIVES, SCOPES, Request, UsageError

CALL, ONCE = SCOPES[0], LIVES[0]
DIGITS = 18
"""Of a question's number at most: they are counted from 1, and the bus carries 64 bits."""

DIGEST = re.compile(r"[0-9a-f]{64}")

GRANT = re.compile(r"[!-~]{1,128}")
"""What a grant's id is made of; the store makes shorter ones, but its file may be edited by hand."""


def completed(request: Request, rest: Sequence[str], given: Mapping[str, object]) -> Request:
    """Fill in what follows one of these verbs.

    Raises:
        UsageError: something is missing, or does not go together.
    """
    every = "all" in given
    if every and rest:
        raise UsageError(f"{request.verb!r} takes either one or --all, not both")
    word = rest[0] if rest else ""
    match request.verb:
        case "approve":
            scope, life = reach(str(given.get("scope", CALL)), str(given.get("life", ONCE)))
            return replace(request, question=question(word), scope=scope, life=life)
        case "deny":
            return replace(request, question=question(word), every=every)
        case "revoke":
            return replace(request, grant=grant(word, every=every), every=every)
        case "acknowledge":
            return replace(request, digest=digest(word))
        case _:
            return request


def question(word: str) -> int:
    """The number of a question; 0 when none is given.

    Raises:
        UsageError: it is no such number.
    """
    if not word:
        return 0
    if not (word.isascii() and word.isdigit() and len(word) <= DIGITS and int(word) > 0):
        raise UsageError(f"a question is named by its number, such as 3, not {word[:40]!r}")
    return int(word)


def digest(word: str) -> str:
    """The digest of a listing; "" when none is given.

    Raises:
        UsageError: it cannot be one.
    """
    if word and not DIGEST.fullmatch(word):
        raise UsageError(f"'acknowledge' takes the digest that 'review' shows, not {word[:40]!r}")
    return word


def reach(scope: str, life: str) -> tuple[str, str]:
    """How far an approval goes, and for how long.

    Raises:
        UsageError: there is no such scope or life, or the two do not go together.
    """
    for name, value, choices in (("scope", scope, SCOPES), ("life", life, LIVES)):
        if value not in choices:
            raise UsageError(f"--{name} takes {', '.join(choices)}, not {value[:40]!r}")
    if scope == CALL and life != ONCE:
        raise UsageError(f"--life={life} needs --scope={' or --scope='.join(SCOPES[1:])}: one call is over once it ran")
    if scope != CALL and life == ONCE:
        raise UsageError(f"--scope={scope} needs --life with one of {', '.join(LIVES[1:])}")
    return scope, life


def grant(word: str, *, every: bool) -> str:
    """The id of a grant; "" with --all.

    Raises:
        UsageError: there is none, or it cannot be one.
    """
    if every:
        return ""
    if not word:
        raise UsageError("'revoke' takes the id of a grant, or --all; 'grants' shows them")
    if not GRANT.fullmatch(word):
        raise UsageError(f"no grant has such an id: {word[:40]!r}")
    return word
