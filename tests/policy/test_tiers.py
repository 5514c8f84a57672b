import pytest

from omarchy_mcp.policy.tiers import Ratings, Tier, changed, digest, rate, rating_of
from policy.samples import record, registry

KNOWN = registry(
    record("omarchy theme list"),
    record("omarchy theme remove"),
    record("omarchy install app"),
    record("omarchy install probe"),
    record("omarchy channel set", requires_sudo=True),
    record("omarchy novelty show"),
    record("omarchy novelty read", hidden=True),
    record("omarchy theme lost"),
    record("omarchy theme root"),
    record("omarchy theme via"),
    record("omarchy notification send"),
)
HEAD = b"#!/bin/bash\n"
SCRIPTS = {
    "omarchy-theme-list": HEAD + b"ls ~/.config/omarchy/themes\n",
    "omarchy-theme-remove": HEAD + b"echo nothing yet\n",
    "omarchy-install-app": HEAD + b"touch ~/x\n",
    "omarchy-install-probe": HEAD + b"echo hi\n",
    "omarchy-novelty-show": HEAD + b"touch ~/x\n",
    "omarchy-novelty-read": HEAD + b"cat /etc/hostname\n",
    "omarchy-theme-root": HEAD + b"sudo true\n",
    "omarchy-theme-via": HEAD + b"omarchy-theme-list\nomarchy-theme-gone\n",
    "omarchy-notification-send": HEAD + b"notify-send hi\n",
}


@pytest.mark.parametrize(
    ("route", "tier", "rule"),
    [
        ("omarchy theme list", Tier.SAFE, "scan"),
        ("omarchy theme remove", Tier.GUARDED, "floor"),
        ("omarchy install app", Tier.GUARDED, "floor"),
        ("omarchy install probe", Tier.SAFE, "scan"),
        ("omarchy channel set", Tier.BLOCKED, "declared-root"),
        ("omarchy novelty show", Tier.GUARDED, "floor"),
        ("omarchy novelty read", Tier.SAFE, "scan"),
        ("omarchy theme lost", Tier.GUARDED, "unreadable"),
        ("omarchy theme root", Tier.BLOCKED, "scan:root"),
        ("omarchy theme via", Tier.GUARDED, "scan:unclear"),
        ("omarchy notification send", Tier.GUARDED, "pin"),
    ],
)
def test_each_command_has_a_tier_with_a_rule(route: str, tier: Tier, rule: str) -> None:
    rated = rate(KNOWN, SCRIPTS)
    command = next(c for c in KNOWN.commands if c.route == route)
    rating = rating_of(rated, command)
    assert (rating.tier, rating.rule) == (tier, rule)
    assert rating.reason


def test_a_rating_holds_until_a_script_behind_it_is_another() -> None:
    rated = rate(KNOWN, SCRIPTS)
    now = {name: digest(text) for name, text in SCRIPTS.items()}
    assert not changed(rated, "omarchy-theme-via", now)
    assert changed(rated, "omarchy-theme-via", now | {"omarchy-theme-list": "other"})
    assert changed(rated, "omarchy-theme-via", now | {"omarchy-theme-gone": "there now"})
    assert changed(rated, "omarchy-theme-list", {})
    assert not changed(rated, "omarchy-theme-list", now | {"omarchy-install-app": "other"})
    assert changed(Ratings(), "omarchy-theme-list", now)
