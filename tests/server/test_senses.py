"""Whether agents may look: the person's rules over what they perceive."""

import pytest

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.policy.tiers import Tier
from omarchy_mcp.server.senses import Sense, decide_sense

SCREEN = Sense.SCREEN


@pytest.mark.parametrize("sense", Sense)
def test_looking_is_allowed_unless_the_person_says_otherwise(sense: Sense) -> None:
    verdict = decide_sense(sense, ("a",), config=Config())
    assert (verdict.allowed, verdict.tier, verdict.args, verdict.route) == (True, Tier.SAFE, ("a",), str(sense))
    denied = decide_sense(sense, (), config=Config(deny=frozenset({str(sense)})), granted="g")
    assert (denied.allowed, denied.askable, denied.rule) == (False, False, f"deny:{sense}")
    unknown = decide_sense(sense, (), config=RESTRICTIVE, granted="g")
    assert (unknown.allowed, unknown.askable, unknown.rule) == (False, False, "restrictive")


@pytest.mark.parametrize("sense", Sense)
def test_what_is_asked_about_is_seen_with_a_grant_alone(sense: Sense) -> None:
    config = Config(ask_before=frozenset({str(sense)}))
    verdict = decide_sense(sense, (), config=config)
    assert (verdict.allowed, verdict.askable, verdict.would_ask, verdict.tier) == (False, True, True, Tier.GUARDED)
    granted = decide_sense(sense, (), config=config, granted="g")
    assert (granted.allowed, granted.rule) == (True, "grant:g")


def test_a_denial_wins_and_one_word_covers_the_clipboard() -> None:
    config = Config(deny=frozenset({"clipboard"}), ask_before=frozenset({"clipboard", "screen"}))
    for sense in (Sense.CLIPBOARD_READ, Sense.CLIPBOARD_WRITE):
        assert decide_sense(sense, (), config=config, granted="g").rule == "deny:clipboard"
    assert decide_sense(SCREEN, (), config=config).rule == "ask_before:screen"
    assert decide_sense(Sense.WINDOWS, (), config=config).allowed
