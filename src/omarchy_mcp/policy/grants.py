"""Approvals that are remembered: what may be one, what one covers, and for how long.

Pure module: it keeps nothing and does not know the time. A grant is one more reason to let a guarded call run and
never the last word: the verdict looks at blocked, deny and self-guard before it.

    may_store(scope, tier=…, rule=…, askable=…, route=…, capabilities=…) -> str | None   why not, or None
    granted(approval, subject, grant_id=…, now_usec=…, session=…) -> Grant | str
    covering(grants, client, route, args, now_usec, session) -> Grant | None  ask may_store again before running
    add(grants, grant) -> tuple | str; revoke(grants, id), prune(grants, now_usec, session) -> tuple
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.questions import Approval, Life, Scope, Subject
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.registry import key
from omarchy_mcp.scan.capabilities import Capability

TEN_MINUTES_USEC = 600_000_000
LAST_USEC = 253_402_300_799_999_999  # the last moment ISO 8601 can spell
MAX_GRANTS = 400  # a person remembers fewer
MAX_TEXT = 256  # characters of an id, a client, a route, a session
MAX_ARGS = 2_048  # characters of all arguments, each counted one longer; nobody reads more before saying "always"

# Asked each time, whatever is answered: while it lasts, the desktop cannot be updated.
NEVER_STORED = frozenset({"update lock"})
# Guarded because nothing is known of what they do
_UNKNOWN = frozenset({"unrated", "unreadable"})
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A remembered approval. ``args`` is None for any; ``expires_usec`` 0 for never; ``session`` empty for any."""

    id: str
    scope: Scope
    life: Life
    client: str
    route: str
    args: tuple[str, ...] | None
    created_usec: int
    expires_usec: int
    session: str


def may_store(
    scope: Scope, *, tier: Tier, rule: str, askable: bool, route: str, capabilities: Collection[str]
) -> str | None:
    """Why an approval may not be remembered; None lets it. Everything but the scope is the verdict's."""
    why = None
    if tier is not Tier.GUARDED:
        why = "only guarded calls are" if tier is Tier.SAFE else "it is blocked, which nothing lifts"
    elif rule == "self-guard":
        why = "it acts on this server"
    elif rule.startswith("deny:"):
        why = "the configuration denies it"
    elif not askable:
        why = "nobody would be asked about it"
    elif key(route) in NEVER_STORED:
        why = "it is asked each time"
    elif scope is Scope.ROUTE and Capability.EXEC in capabilities:
        why = "its arguments are run as code, so only exactly these can be"
    elif scope is Scope.ROUTE and rule in _UNKNOWN:
        why = "what it does could not be read, so only exactly these arguments can be"
    return None if why is None else f"cannot remember '{shown(route)}': {why}"


def granted(approval: Approval, subject: Subject, *, grant_id: str, now_usec: int, session: str) -> Grant | str:
    """The grant an approval makes; a text says why there is none. Whether it may be stored is `may_store`'s."""
    grant = Grant(
        id=grant_id,
        scope=approval.scope,
        life=approval.life,
        client=subject.client,
        route=subject.route,
        args=subject.argv if approval.scope is Scope.ARGS else None,
        created_usec=now_usec,
        expires_usec=now_usec + TEN_MINUTES_USEC if approval.life is Life.TEN_MINUTES else 0,
        session=session if approval.life is Life.SESSION else "",
    )
    wrong = unsound(grant)
    return grant if wrong is None else f"cannot remember '{shown(subject.route)}': {wrong}"


def covering(
    grants: Iterable[Grant], client: str, route: str, args: Sequence[str], now_usec: int, session: str
) -> Grant | None:
    """The first grant under which this client may make this call now; the route as the verdict spells it.

    Exactly so: with hyphens and case taken away, two functions of the shell can read alike.
    """
    if key(route) in NEVER_STORED:
        return None
    for grant in grants:
        fits = grant.client == client and grant.route == route and grant.args in (None, tuple(args))
        if fits and unsound(grant) is None and alive(grant, now_usec, session):
            return grant
    return None


def alive(grant: Grant, now_usec: int, session: str) -> bool:
    """Whether a grant holds at this time in this session; a clock that was put back does not lengthen it."""
    if grant.life is Life.SESSION:
        return grant.session == session
    return not grant.expires_usec or grant.created_usec <= now_usec < grant.expires_usec


def add(grants: Sequence[Grant], grant: Grant) -> tuple[Grant, ...] | str:
    """The grants with one more, in place of any that says the same; a text says why not."""
    same = _same(grant)
    kept = (*(old for old in grants if _same(old) != same and old.id != grant.id), grant)
    if len(kept) > MAX_GRANTS:
        return f"cannot remember '{shown(grant.route)}': there are too many grants, revoke some"
    return kept


def _same(grant: Grant) -> tuple[object, ...]:
    return grant.scope, grant.life, grant.client, grant.route, grant.args, grant.session


def revoke(grants: Iterable[Grant], grant_id: str) -> tuple[Grant, ...]:
    """The grants without one."""
    return tuple(grant for grant in grants if grant.id != grant_id)


def prune(grants: Iterable[Grant], now_usec: int, session: str) -> tuple[Grant, ...]:
    """The grants that still hold: neither expired nor of another session."""
    return tuple(grant for grant in grants if alive(grant, now_usec, session))


def unsound(grant: Grant) -> str | None:
    """Why a grant is none, or None when it is sound."""
    if grant.scope is Scope.CALL or grant.life is Life.ONCE:
        return "an approval of one call is not kept"
    if (grant.scope is Scope.ARGS) is (grant.args is None):
        return "'args' goes with the scope args"
    if (grant.life is Life.SESSION) is not bool(grant.session):
        return "'session' goes with the life session"
    if (grant.life is Life.TEN_MINUTES) is not bool(grant.expires_usec):
        return "'expires' goes with the life 10min"
    if not 0 <= grant.created_usec <= LAST_USEC - TEN_MINUTES_USEC:
        return "'created' is out of range"
    if grant.expires_usec and not 0 < grant.expires_usec - grant.created_usec <= TEN_MINUTES_USEC:
        return "'expires' must come after 'created', by ten minutes at most"
    return _unfit(grant)


def _unfit(grant: Grant) -> str | None:
    """What is wrong with a grant's texts."""
    texts = (grant.id, grant.client, grant.route)
    if not all(texts) or any(len(text) > MAX_TEXT for text in (*texts, grant.session)):
        return f"id, client, route and session must be texts of 1 to {MAX_TEXT} characters"
    if not grant.route.startswith("omarchy "):
        return "'route' must be spelled out, as in omarchy theme install"
    if sum(len(arg) + 1 for arg in grant.args or ()) > MAX_ARGS:
        return f"its arguments are longer than {MAX_ARGS} characters"
    if any(map(_SURROGATE.search, (*texts, grant.session, *(grant.args or ())))):
        return "it holds what is no character"
    return None
