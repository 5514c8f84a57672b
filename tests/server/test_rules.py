"""The rules as a client reads them: put together from what the policy says, and from nothing else."""

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.policy.review import NOTHING_HELD, Held
from omarchy_mcp.policy.verdict import outlook
from omarchy_mcp.server.rules import rules_in_force
from policy.samples import GUARDED, SAFE, ratings, record, registry

REGISTRY = registry(record("omarchy theme set"), record("omarchy install app"), record("omarchy install font"))
RATINGS = ratings(REGISTRY, GUARDED, omarchy_theme_set=SAFE)


def told(config: Config, held: Held = NOTHING_HELD) -> dict[str, object]:
    verdicts = [outlook(each, ratings=RATINGS, config=config, held=held) for each in REGISTRY.commands]
    return rules_in_force(config, verdicts)


def test_each_rule_is_told_with_the_commands_it_decides() -> None:
    config = Config(
        deny=frozenset({"theme set", "no such"}),
        allow=frozenset({"install app", "theme set", "shell media"}),
        allow_groups=frozenset({"install"}),
        disabled_tools=frozenset({"b", "a"}),
    )
    found = told(config)
    assert found["rules"] == [
        {"rule": "deny:no such", "covers": []},
        {"rule": "deny:theme set", "covers": ["omarchy theme set"]},
        {"rule": "allow:install app", "covers": ["omarchy install app"]},
        {"rule": "allow:shell media", "covers": ["omarchy shell media"]},
        {"rule": "allow:theme set", "covers": []},
        {"rule": "allow_groups:install", "covers": ["omarchy install font"]},
    ]
    assert found["disabled_tools"] == ["a", "b"]
    assert found["commands"] == {"safe": 1, "guarded": 2, "blocked": 0}
    assert found["runnable"] == 2


def test_what_becomes_of_guarded_commands_is_told() -> None:
    assert told(Config())["guarded"] == "refused"
    asking = told(Config(ask=True, ask_timeout_s=7))
    assert (asking["guarded"], asking["ask_timeout_s"]) == ("asked", 7)
    assert told(RESTRICTIVE)["only_safe"]
    assert told(RESTRICTIVE)["runnable"] == 1


def test_what_is_held_is_told_and_no_rule_covers_it() -> None:
    config = Config(allow_groups=frozenset({"install"}))
    assert told(config)["held"] == []
    found = told(config, Held(routes={"omarchy install app": "it is new"}))
    assert found["held"] == ["omarchy install app"]
    assert found["rules"] == [{"rule": "allow_groups:install", "covers": ["omarchy install font"]}]
