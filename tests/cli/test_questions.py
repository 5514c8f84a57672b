"""Questions and grants as a person sees them: whole, and only ever seen."""

import json
import unicodedata
from typing import Any

import pytest

from omarchy_mcp.cli import questions
from omarchy_mcp.cli.text import HIDDEN, width
from omarchy_mcp.session.bus import MAX_STRING

QUESTION: dict[str, object] = {
    "id": "5ec2e7" * 5,
    "number": 3,
    "digest": "d1" * 32,
    "client": "default",
    "tool": "omarchy_run",
    "route": "omarchy theme install",
    "argv": ["https://example.org/theme", "two words ", ""],
    "target": "example.org",
    "executable": "/usr/share/omarchy/bin/omarchy-theme-install",
    "capabilities": ["network", "writes-files"],
    "reason": "it fetches what it is told",
    "left_usec": 42_000_000,
}
GRANT: dict[str, object] = {
    "id": "0a1b2c3d4e5f6071",
    "scope": "args",
    "life": "always",
    "client": "default",
    "route": "omarchy theme set",
    "args": ["nord"],
    "created_usec": 1_700_000_000_000_000,
    "expires_usec": 0,
}
HOSTILE = "\x1b[2J\n#4\r\u202eevil\u2028" + "x" * 3_000 + "\x9b31m\t\u200b\u00a0end"


def shown(wide: int = 0, **changes: object) -> list[str]:
    return questions.question_lines({**QUESTION, **changes}, wide, colours=False)


def grant(**changes: object) -> list[str]:
    return questions.grant_lines({**GRANT, **changes}, 0, colours=False)


def test_a_question_is_shown_whole() -> None:
    assert shown() == [
        "#3",
        "        Client: default",
        "        Target: example.org",
        "         Route: omarchy theme install",
        "     Arguments: 3",
        '             1: "https://example.org/theme"',
        '             2: "two words "',
        '             3: ""',
        "    Executable: /usr/share/omarchy/bin/omarchy-theme-install",
        "  Capabilities: network, writes-files",
        "        Reason: it fetches what it is told",
        "     Time left: 42 s",
        "        Answer: 'omarchy-mcpctl approve 3' or 'omarchy-mcpctl deny 3'",
    ]


def test_a_call_without_arguments_says_so() -> None:
    assert "     Arguments: none" in shown(argv=[], target="", capabilities=[])
    assert "        Target: none" in shown(target="")


def test_the_id_of_a_question_is_not_for_people() -> None:
    assert str(QUESTION["id"]) not in "\n".join(shown())


def test_hints_can_be_left_out() -> None:
    lines = questions.question_lines(QUESTION, 0, colours=False, legend=False)
    assert lines == shown()[:-1]


@pytest.mark.parametrize("wide", [0, 20, 80, 200])
@pytest.mark.parametrize("key", ["client", "route", "target", "executable", "reason", "argv", "capabilities"])
def test_hostile_text_is_whole_and_only_ever_seen(key: str, wide: int) -> None:
    value: Any = [HOSTILE] if key in ("argv", "capabilities") else HOSTILE
    lines = shown(wide, **{key: value})
    text = "\n".join(lines)
    assert not {char for char in text if char != "\n" and unicodedata.category(char) in HIDDEN}
    assert text.count("x") >= 3_000
    assert [line for line in lines if line.startswith("#")] == ["#3"]
    assert all(line.startswith(" ") for line in lines[1:])
    assert "…" not in text


@pytest.mark.parametrize("wide", [40, 80, 133])
def test_a_long_argument_goes_on_behind_a_mark_and_can_be_read_back(wide: int) -> None:
    argument = "".join(chr(0x4E00 + at % 500) if at % 3 else "ab" for at in range(2_000))
    lines = shown(wide, argv=[argument])
    assert all(width(line) <= wide for line in lines if "Answer" not in line)
    at = next(number for number, line in enumerate(lines) if line.startswith("             1:"))
    end = next(number for number, line in enumerate(lines) if line.startswith("    Executable"))
    assert all(line[14] in ":│" for line in lines[at:end])
    assert json.loads("".join(line[16:] for line in lines[at:end])) == argument


def test_spaces_cannot_push_a_line_of_their_own_to_the_edge() -> None:
    lines = shown(80, argv=["harmless" + " " * 53 + "#9", " " * 64 + "Answer: yes"])
    assert not any(line.lstrip().startswith(("#9", "Answer: yes")) for line in lines)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\x1b", "\\u001b"),
        ("a b", "a\u00a0b"),
        ("ab", "a\u200bb"),
        ("ab", "a\u3164b"),
        ("ab", "a\ufe0fb"),
        ('"', '\\"'),
    ],
)
def test_arguments_that_differ_look_different(one: str, other: str) -> None:
    assert questions.quoted(one) != questions.quoted(other)
    for text in (one, other):
        assert json.loads(questions.quoted(text)) == text


def test_what_the_bus_may_have_cut_is_said_to_be() -> None:
    said = f"(argument 2 may be longer: the bus carries {MAX_STRING} characters of it)"
    assert any(said in line for line in shown(argv=["a", "b" * MAX_STRING]))
    assert not any("may be longer" in line for line in shown(argv=["a", "b" * (MAX_STRING - 1)]))


# --- how a grant is shown


def test_a_grant_is_shown_with_what_takes_it_back() -> None:
    lines = grant()
    assert lines[0] == GRANT["id"]
    assert '             1: "nord"' in lines
    assert "         Until: it is revoked" in lines
    assert lines[-1] == f"     Take back: 'omarchy-mcpctl revoke {GRANT['id']}'"


def test_how_far_a_grant_goes_is_told_apart() -> None:
    assert "     Arguments: any" in grant(scope="route", args=[])
    assert "     Arguments: none" in grant(scope="args", args=[])
    assert "         Until: this session ends" in grant(life="session")
    ends = next(line for line in grant(life="10min", expires_usec=1_700_000_600_000_000) if "Until" in line)
    assert ":" in ends.removeprefix("         Until: ")


def test_hostile_grants_are_only_ever_seen() -> None:
    text = "\n".join(grant(id=HOSTILE, client=HOSTILE, route=HOSTILE, args=[HOSTILE], life=HOSTILE))
    assert not {char for char in text if char != "\n" and unicodedata.category(char) in HIDDEN}


def test_blocks_are_apart() -> None:
    assert questions.listed([["a", "b"], ["c"]]) == ["a", "b", "", "c"]
