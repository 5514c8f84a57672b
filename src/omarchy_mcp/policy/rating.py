"""A tier and what gave it, as values. Pure module; it rates nothing itself."""

from dataclasses import dataclass
from enum import StrEnum

from omarchy_mcp.scan.capabilities import Capability


class Tier(StrEnum):
    """What may be done with a command without a person: all, nothing yet, nothing ever."""

    SAFE = "safe"
    GUARDED = "guarded"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A tier with its reason, the rule that gave it and where that rule stands."""

    tier: Tier
    reason: str
    rule: str
    origin: str
    capabilities: tuple[Capability, ...] = ()
