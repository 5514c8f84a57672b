"""Ratings as text and back, so that a start need not scan.

Pure module: where the text is kept, and whether it can be trusted there, is the caller's business. A text that is
not exactly what ``dump`` wrote for the same stamp holds nothing.

    dump(ratings, stamp) -> str
    load(text, stamp) -> Ratings | None      stamp: whatever the ratings depend on besides the scripts
"""

import json

from omarchy_mcp.policy.tiers import Rating, Ratings, Tier
from omarchy_mcp.scan.capabilities import Capability


def dump(ratings: Ratings, stamp: str) -> str:
    """Write ratings down."""
    rated = {
        binary: [rating.tier, rating.reason, rating.rule, rating.origin, list(rating.capabilities)]
        for binary, rating in ratings.by_binary.items()
    }
    closures = {binary: sorted(names) for binary, names in ratings.closures.items()}
    whole = {"stamp": stamp, "rated": rated, "closures": closures, "digests": dict(ratings.digests)}
    return json.dumps(whole, separators=(",", ":"), sort_keys=True)


def load(text: str, stamp: str) -> Ratings | None:
    """Read what ``dump`` wrote; None when it wrote something else, or for another stamp."""
    try:
        whole = json.loads(text)
        if whole["stamp"] != stamp:
            return None
        by_binary = {str(binary): _rating(*row) for binary, row in whole["rated"].items()}
        closures = {str(binary): frozenset(map(str, names)) for binary, names in whole["closures"].items()}
        digests = {str(name): str(digest) for name, digest in whole["digests"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return Ratings(by_binary=by_binary, closures=closures, digests=digests)


def _rating(tier: str, reason: str, rule: str, origin: str, capabilities: list[str]) -> Rating:
    return Rating(
        tier=Tier(tier),
        reason=str(reason),
        rule=str(rule),
        origin=str(origin),
        capabilities=tuple(map(Capability, capabilities)),
    )
