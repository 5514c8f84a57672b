"""A question that is also put to the client: its form, and what the answer is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.offers import SHARED, Offer, counted, may_answer, misfit
from omarchy_mcp.policy.questions import Answer
from omarchy_mcp.session.clientfile import DEFAULT

OFFER = Offer(digest="ab" * 32, client="default", declared="claude-code", until_s=50.0)


@pytest.mark.parametrize(
    ("listed", "may"),
    [
        ((), False),
        (("codex",), False),
        (("claude",), False),
        (("Claude-Code",), False),
        (("claude-code",), True),
        (("default",), True),
        (("",), False),
    ],
)
def test_a_client_may_answer_only_if_it_was_named(listed: tuple[str, ...], *, may: bool) -> None:
    assert may_answer(listed, "default", "claude-code") is may


def test_a_client_with_a_token_of_its_own_is_known_by_that_alone() -> None:
    assert SHARED == DEFAULT
    assert may_answer(("codex",), "codex", "whatever")
    assert not may_answer(("claude-code",), "codex", "claude-code")
    assert not may_answer(("default",), "codex", "default")


@pytest.mark.parametrize(
    ("action", "allowed", "answer"),
    [
        ("accept", True, Answer.ACCEPTED),
        ("accept", False, None),
        ("decline", True, Answer.DECLINED),
        ("decline", False, Answer.DECLINED),
        ("cancel", True, None),
        ("ACCEPT", True, None),
        ("", True, None),
    ],
)
def test_only_a_named_clients_yes_is_a_yes_and_every_clients_no_a_no(
    action: str, answer: Answer | None, *, allowed: bool
) -> None:
    assert counted(action, allowed=allowed) is answer


@given(action=st.text())
def test_without_being_named_nothing_a_client_says_lets_anything_run(action: str) -> None:
    assert counted(action, allowed=False) in (None, Answer.DECLINED)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"digest": "cd" * 32}, "no longer the one that was shown"),
        ({"digest": "\ud800"}, "no longer the one that was shown"),
        ({"client": "other"}, "it was put to 'claude-code'"),
        ({"declared": "co\ndex"}, "'co\\u000adex' answers"),
        ({"now_s": 50.1}, "its time is over"),
    ],
)
def test_an_answer_fits_one_call_of_one_client_in_its_time(change: dict[str, object], why: str | None) -> None:
    told: dict[str, object] = {"digest": "ab" * 32, "client": "default", "declared": "claude-code", "now_s": 50.0}
    found = misfit(OFFER, **(told | change))  # type: ignore[arg-type]  # a table of odd values
    assert found is None if why is None else why in str(found)
