import pytest

from omarchy_mcp.policy.tiers import Tier, rate, rating_of
from policy.samples import record, registry

KNOWN = registry(
    record("omarchy theme list"),
    record("omarchy theme remove"),
    record("omarchy install app"),
    record("omarchy channel set", requires_sudo=True),
    record("omarchy novelty show"),
    record("omarchy theme lost"),
)


@pytest.mark.parametrize(
    ("route", "tier", "rule"),
    [
        ("omarchy theme list", Tier.SAFE, "group"),
        ("omarchy theme remove", Tier.GUARDED, "floor"),
        ("omarchy install app", Tier.GUARDED, "floor"),
        ("omarchy channel set", Tier.BLOCKED, "declared-root"),
        ("omarchy novelty show", Tier.GUARDED, "floor"),
        ("omarchy theme lost", Tier.GUARDED, "unreadable"),
    ],
)
def test_each_command_has_a_tier_with_a_rule(route: str, tier: Tier, rule: str) -> None:
    rated = rate(KNOWN, {"omarchy-theme-list": b"#!/bin/bash\nls\n"})
    command = next(c for c in KNOWN.commands if c.route == route)
    rating = rating_of(rated, command)
    assert (rating.tier, rating.rule) == (tier, rule)
    assert rating.reason
