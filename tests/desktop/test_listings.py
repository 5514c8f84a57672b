"""What a call lacks, where a person could choose it from a listing."""

import pytest

from omarchy_mcp.desktop.listings import lacking
from omarchy_mcp.policy.listings import Kind
from omarchy_mcp.policy.route_table import RULES
from policy.samples import command


@pytest.mark.parametrize(
    ("route", "args", "kind"),
    [
        ("theme set", [], Kind.THEME),
        ("font set", [], Kind.FONT),
        ("theme set", ["nord"], None),
        ("theme set", ["a/b"], None),
        ("launch config editor", [], None),
        ("launch browser", [], None),
        ("toggle", [], None),
        ("theme list", [], None),
    ],
)
def test_a_name_that_was_not_given_can_be_chosen_where_all_are_listed(
    route: str, args: list[str], kind: Kind | None
) -> None:
    rule = RULES.get(route)
    assert lacking(command(f"omarchy {route}", args=rule.args if rule else ""), args) is kind


def test_nothing_is_to_be_chosen_where_the_rule_is_for_another_version() -> None:
    assert lacking(command("omarchy theme set", args="<theme> [mode]"), []) is None
