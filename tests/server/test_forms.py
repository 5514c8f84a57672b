"""A form says all of what it asks, and what comes back with it is read strictly, whoever sealed it."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver import Context

from omarchy_mcp.policy.legible import spelled
from omarchy_mcp.server.forms import LINE, MAX_LINES, Form, Forms, State, columns, forms_of, question_text, state_of
from policy.test_questions import HOSTILE, QUOTED, SUBJECT

STATE = State(call="0123456789ab", nonce="n", args=("a", "ü"))


def test_a_state_comes_back_as_it_was() -> None:
    assert state_of(STATE.dump()) == STATE


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", "null", "3", "{}", json.dumps({"call": 1, "nonce": "", "args": []}),
     json.dumps({"call": "", "nonce": None, "args": []}), json.dumps({"call": "", "nonce": "", "args": "ab"})],
)  # fmt: skip
def test_what_is_no_state_of_ours_is_none(text: str | None) -> None:
    assert state_of(text) is None


def test_a_form_without_choices_is_accepted_or_declined_and_nothing_else() -> None:
    assert Form(message="m", state=STATE).schema == {"type": "object", "properties": {}}
    schema = Form(message="m", title="Theme", choices=("a", "b"), state=STATE).schema
    assert schema["properties"]["choice"]["enum"] == ["a", "b"]


def test_outside_of_a_request_nobody_shows_a_form() -> None:
    assert forms_of(Context()) == Forms()


def test_a_form_says_what_would_run_and_that_the_desk_is_asked_too() -> None:
    assert str(question_text(SUBJECT, 50)).split("\n") == [
        'An agent wants to run "omarchy theme remove" on "Tokyo Night" with',
        '"tokyo-night"',
        "Accept runs it once. The desk is asked too; the first answer counts. 50 s",
    ]
    assert '"omarchy theme remove" without arguments\n' in str(question_text(replace(SUBJECT, argv=(), target=""), 50))


def test_what_is_long_goes_on_in_marked_lines() -> None:
    lines = str(question_text(replace(SUBJECT, target="", argv=("x", "a" * 100, "b")), 50)).split("\n")[1:-1]
    assert lines == ['"' + "a" * 70 + "…", "…" + "a" * 30 + '" "b"']


def test_what_a_client_would_not_show_whole_has_no_form() -> None:
    assert question_text(replace(SUBJECT, argv=("a" * 5_000,)), 50) is None
    assert question_text(replace(SUBJECT, argv=("a",) * 500), 50) is None
    assert question_text(replace(SUBJECT, target="a" * 1_000), 50) is None
    assert question_text(replace(SUBJECT, argv=("a" * 120,)), 50) is not None
    assert question_text(replace(SUBJECT, argv=("a" * 150,)), 50) is None


@given(argv=st.lists(HOSTILE, max_size=5), target=HOSTILE, route=HOSTILE)
def test_no_argument_breaks_a_forms_frame_or_is_cut(argv: list[str], target: str, route: str) -> None:
    text = question_text(replace(SUBJECT, argv=tuple(argv), target=target, route=route), 50)
    if text is None:
        return
    lines = text.split("\n")
    assert len(lines) <= MAX_LINES
    assert all(line.isprintable() and columns(line) <= LINE + 2 for line in lines)
    whole = re.sub("…\n…", "", "\n".join(lines[:-1])).replace("\n", " ")
    given_words = " ".join(["with", *['""'] * len(argv)]) if argv else "without arguments"
    assert QUOTED.sub('""', whole) == " ".join(
        ['An agent wants to run ""', *(['on ""'] if target else []), given_words]
    )
    assert QUOTED.findall(whole) == ["".join(spelled(word)) for word in (route, *([target] if target else []), *argv)]
