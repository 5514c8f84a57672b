"""What is told of the installed commands: in order, and anew whenever a script that counts is another."""

from omarchy_mcp.desktop.inventory import rows, seen
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.tiers import rate
from policy.samples import record, registry

KNOWN = registry(
    record("omarchy theme list"),
    record("omarchy theme via", aliases=["omarchy Via-Theme"]),
    record("omarchy install app"),
    record("omarchy novelty read", hidden=True),
)
SCRIPTS = {
    "omarchy-theme-list": b"#!/bin/bash\necho nord\n",
    "omarchy-theme-via": b"#!/bin/bash\nomarchy-theme-list\n",
    "omarchy-install-app": b"#!/bin/bash\npacman -S app\n",
    "omarchy-novelty-read": b"#!/bin/bash\necho x\n",
}


def test_the_list_of_tiers_is_in_order_and_hides_what_is_hidden() -> None:
    rated = rate(KNOWN, SCRIPTS)
    shown = [command.route for command, _ in rows(KNOWN, rated)]
    assert shown == sorted(shown)
    assert "omarchy novelty read" not in shown
    assert len(rows(KNOWN, rated, hidden=True)) == len(KNOWN.commands)


def test_a_review_sees_every_command_with_all_its_names() -> None:
    found = {each.route: each for each in seen(KNOWN, rate(KNOWN, SCRIPTS))}
    assert sorted(found) == sorted(command.route for command in KNOWN.commands)
    assert found["omarchy theme via"].names == ("theme via", "via theme", "group theme")
    assert found["omarchy theme list"].tier is Tier.SAFE


def test_a_command_is_another_when_any_script_behind_it_is() -> None:
    def digests(**changes: bytes) -> dict[str, str]:
        scripts = SCRIPTS | {name.replace("_", "-"): text for name, text in changes.items()}
        return {each.route: each.digest for each in seen(KNOWN, rate(KNOWN, scripts))}

    before = digests()
    assert digests() == before
    after = digests(omarchy_theme_list=b"#!/bin/bash\necho other\n")
    assert {route for route in before if before[route] != after[route]} == {"omarchy theme list", "omarchy theme via"}
