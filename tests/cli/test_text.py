"""What is shown of foreign text, and how it is measured."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.cli.terminal import colours_wanted
from omarchy_mcp.cli.text import HIDDEN, Colour, count, duration, fit, pad, paint, printable, stamp, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("omarchy theme set", "omarchy theme set"),
        ("\x1b[2J\x1b]0;owned\x07", "\\u001b[2J\\u001b]0;owned\\u0007"),
        ("one\ntwo\r\tthree", "one\\u000atwo\\u000d\\u0009three"),
        ("\x9b31m", "\\u009b31m"),  # the one-byte escape of eight-bit terminals
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("a\u200bb\ufeff\u00ad", "a\\u200bb\\ufeff\\u00ad"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("a\u2028b", "a\\u2028b"),
        ("<b>bold</b> &amp; $(id) `id` %n", "<b>bold</b> &amp; $(id) `id` %n"),
        ("grün 緑 🌿", "grün 緑 🌿"),
        (7, "7"),
    ],
)
def test_foreign_text_is_only_ever_seen(text: object, shown: str) -> None:
    assert printable(text) == shown


def test_very_long_text_is_cut_and_says_so() -> None:
    shown = printable("x" * 1_000_000)
    assert len(shown) < 600
    assert shown.endswith("… (+999500 characters)")


@given(st.text())
def test_nothing_printable_acts_on_a_terminal(text: str) -> None:
    assert all(unicodedata.category(char) not in HIDDEN for char in printable(text))


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_what_was_cut_fits_and_what_fits_was_not_cut(text: str, most: int) -> None:
    seen = printable(text)
    assert width(fit(seen, most)) <= most
    if width(seen) <= most:
        assert fit(seen, most) == seen
        assert width(pad(seen, most)) == most


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("緑", 2), ("e\u0301", 1), ("a" + "\u0335" * 50, 1), ("", 0)]
)
def test_columns_are_those_of_a_terminal(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("usec", "words"),
    [
        (0, "0 µs"),
        (999, "999 µs"),
        (1_500, "1 ms"),
        (1_234_567, "1.2 s"),
        (59_999_999, "59 s"),
        (60_000_000, "1 min"),
        (125_000_000, "2 min 5 s"),
        (3_600_000_000, "1 h"),
        (86_399_000_000, "23 h 59 min"),
        (200_000_000_000, "2 d 7 h"),
        (2**63, "106751991 d 4 h"),
    ],
)
def test_durations_have_their_two_largest_units(usec: int, words: str) -> None:
    assert duration(usec) == words


def test_a_point_in_time_beyond_all_calendars_is_still_shown() -> None:
    assert stamp(2**80) == f"{2**80} µs"


def test_colours_are_there_only_when_wanted() -> None:
    assert paint("x", Colour.RED, on=False) == "x"
    assert paint("x", Colour.RED, Colour.BOLD, on=True) == "\x1b[31;1mx\x1b[0m"


def test_a_number_has_its_noun() -> None:
    assert [count(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


@pytest.mark.parametrize(
    ("terminal", "systemd", "no_color", "term", "wanted"),
    [
        (True, None, None, "xterm", True),
        (False, None, None, "xterm", False),
        (True, None, "1", "xterm", False),
        (True, None, None, "dumb", False),
        (True, None, None, None, False),
        (False, "1", "1", "dumb", True),
        (True, "0", None, "xterm", False),
        (False, "256", None, None, True),
    ],
)
def test_systemds_own_variable_decides_about_colours_before_all_others(
    terminal: bool, systemd: str | None, no_color: str | None, term: str | None, wanted: bool
) -> None:
    assert colours_wanted(terminal=terminal, systemd=systemd, no_color=no_color, term=term) is wanted
