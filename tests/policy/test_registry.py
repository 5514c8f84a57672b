import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy import registry as module
from omarchy_mcp.policy.registry import RegistryError, find, key, near, parse
from policy.samples import record, registry

KNOWN = registry(
    record("omarchy theme set", aliases=["omarchy retheme"]),
    record(
        "omarchy install geforce-now",
        binary="omarchy-install-geforce-now",
        filename_route="omarchy install geforce now",
    ),
    record("omarchy share", binary="omarchy-menu-share", filename_route="omarchy menu share"),
    record("omarchy menu secret", hidden=True),
)


@pytest.mark.parametrize(
    ("spelling", "binary"),
    [
        ("omarchy theme set", "omarchy-theme-set"),
        ("theme set", "omarchy-theme-set"),
        ("  Theme \t SET ", "omarchy-theme-set"),
        ("omarchy theme-set", "omarchy-theme-set"),
        ("omarchy-theme-set", "omarchy-theme-set"),
        ("retheme", "omarchy-theme-set"),
        ("install geforce now", "omarchy-install-geforce-now"),
        ("install geforce-now", "omarchy-install-geforce-now"),
        ("menu share", "omarchy-menu-share"),
        ("share", "omarchy-menu-share"),
        ("menu secret", "omarchy-menu-secret"),
    ],
)
def test_every_spelling_of_a_route_names_the_same_command(spelling: str, binary: str) -> None:
    found = find(KNOWN, spelling)
    assert found is not None
    assert found.binary == binary


@pytest.mark.parametrize(
    "route", ["", "omarchy", "theme", "theme set tokyo", "../theme set", "theme\0set", "x" * 5_000]
)
def test_what_is_no_route_names_nothing(route: str) -> None:
    assert find(KNOWN, route) is None


def test_an_unknown_route_has_near_misses_and_hidden_ones_are_not_among_them() -> None:
    assert near(KNOWN, "them set")[0] == "omarchy theme set"
    assert near(KNOWN, "menu secre") == ("omarchy share",) or "omarchy menu secret" not in near(KNOWN, "menu secre")
    assert near(KNOWN, "") == ()


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("[]", "is not an object"),
        ({"binary": "../evil"}, "bare name"),
        ({"binary": "omarchy"}, "bare name"),
        ({"binary": "omarchy-a/b"}, "bare name"),
        ({"route": "rm -rf"}, "words that start with"),
        ({"summary": "two\nlines"}, "'summary'"),
        ({"args": 3}, "'args'"),
        ({"summary": "x" * 5_000}, "'summary'"),
        ({"requires_sudo": "no"}, "neither true nor false"),
        ({"aliases": "omarchy x"}, "is not a list"),
        ({"examples": [1]}, "is not a list"),
        ({"routes": ["x"] * 100}, "is not a list"),
    ],
)
def test_a_bad_record_is_named_and_skipped(broken: Any, why: str) -> None:
    bad = broken if isinstance(broken, str) else record("omarchy bad one") | broken
    read = registry(record("omarchy good one"), bad)
    assert [c.route for c in read.commands] == ["omarchy good one"]
    assert len(read.problems) == 1
    assert why in read.problems[0]


def test_a_record_that_says_nothing_of_root_needs_it() -> None:
    silent = record("omarchy quiet one")
    del silent["requires_sudo"]
    assert registry(silent).commands[0].requires_sudo is True


def test_a_route_or_binary_listed_twice_is_taken_once() -> None:
    read = registry(
        record("omarchy a b"),
        record("omarchy a b", binary="omarchy-x"),
        record("omarchy a c", binary="omarchy-a-b"),
    )
    assert [c.binary for c in read.commands] == ["omarchy-a-b"]
    assert len(read.problems) == 2


def test_a_spelling_that_names_two_commands_names_none_and_a_route_outranks_an_alias() -> None:
    read = registry(
        record("omarchy a one", aliases=["omarchy both", "omarchy b two"]),
        record("omarchy b two", aliases=["omarchy both"]),
    )
    assert find(read, "both") is None
    assert find(read, "b two") is read.commands[1]
    assert "ignored 'both': it names several commands" in read.problems


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"commands": [',
        "[1, 2]",
        '"x"',
        "null",
        '{"commands": {}}',
        '{"commands": []}',
        "[" * 100_000,
        '{"ok": false, "commands": [{}]}',
        b"\xff\xfe{}",
        "1" * 10_000,
        "x" * 17_000_000,
        '{"commands": [' + ",".join(["1"] * 20_001) + "]}",
    ],
)
def test_a_text_that_is_no_registry_is_an_error_with_a_reason(text: str | bytes) -> None:
    with pytest.raises(RegistryError, match="registry"):
        parse(text)


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse(b"\xef\xbb\xbf" + json.dumps({"commands": [record("omarchy a b")]}).encode()).commands


def test_problems_are_bounded() -> None:
    read = registry(record("omarchy a b"), *[record(f"omarchy x{i} y", binary="bad") for i in range(100)])
    assert len(read.problems) == module.MAX_PROBLEMS + 1
    assert read.problems[-1] == f"and {100 - module.MAX_PROBLEMS} more problems"


def test_a_skipped_record_cannot_write_control_characters_into_the_problem() -> None:
    read = registry(record("omarchy a b"), record("omarchy \x1b[31mred"))
    assert "\x1b" not in read.problems[0]


def test_ten_thousand_commands_are_read() -> None:
    read = registry(*[record(f"omarchy g{i} v") for i in range(10_000)])
    assert len(read.commands) == 10_000
    assert find(read, "g9999 v") is read.commands[9_999]


@given(st.text())
def test_no_route_raises(route: str) -> None:
    find(KNOWN, route)
    near(KNOWN, route)


@given(
    st.sampled_from(KNOWN.commands),
    st.lists(st.sampled_from([" ", "\t", "  ", "\n"]), min_size=6, max_size=6),
    st.booleans(),
)
def test_spacing_and_the_leading_word_change_nothing(command: module.Command, gaps: list[str], leading: bool) -> None:
    words = command.route.split() if leading else command.route.split()[1:]
    spelled = gaps[5] + "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    assert find(KNOWN, spelled) is command


@given(st.binary() | st.text())
def test_no_text_raises_anything_but_a_registry_error(text: bytes | str) -> None:
    with contextlib.suppress(RegistryError):
        parse(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
)


@given(st.lists(st.dictionaries(st.sampled_from(list(record("omarchy a b"))), JSON) | JSON, min_size=1))
def test_no_record_raises(items: list[object]) -> None:
    read = parse(json.dumps({"commands": items}))
    assert all(module.BINARY.fullmatch(c.binary) for c in read.commands)


@given(st.text())
def test_a_key_is_its_own_key(route: str) -> None:
    once = key(route)
    assert key("omarchy " + once) == once
