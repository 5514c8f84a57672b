"""What the person is told when the rules change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.server.announce import MOST_FAULT, MOST_LETTERS, MOST_NAMES, announce, faulty

MORE, LESS, OTHER = "Agents may do more", "Agents may do less", "The rules for agents have changed"
NAMES = frozenset({"theme set", "launch browser"})
NAME = frozenset({"theme set"})


@pytest.mark.parametrize(
    ("before", "after", "summary", "lines"),
    [
        (Config(), Config(allow=NAME), MORE, ("allowed: theme set",)),
        (Config(allow=NAMES), Config(allow=NAME), LESS, ("no longer allowed: launch browser",)),
        (Config(), Config(deny=NAMES), LESS, ("denied: launch browser, theme set",)),
        (Config(deny=NAME), Config(), MORE, ("no longer denied: theme set",)),
        (Config(), Config(allow_groups=NAME), MORE, ("allowed groups: theme set",)),
        (Config(allow_groups=NAME), Config(), LESS, ("groups no longer allowed: theme set",)),
        (Config(), Config(may_answer=NAME), MORE, ("clients that may answer: theme set",)),
        (Config(may_answer=NAME), Config(), LESS, ("clients that may no longer answer: theme set",)),
        (Config(), Config(ask=True), MORE, ("guarded commands are asked about",)),
        (Config(ask=True), Config(), LESS, ("guarded commands are refused without asking",)),
        (Config(ask=True), Config(ask=True, ask_timeout_s=9), OTHER, ("a question waits for 9 s",)),
        (Config(), Config(disabled_tools=NAME), LESS, ("tools hidden: theme set",)),
        (Config(), Config(ask_before=NAME), LESS, ("asked about: theme set",)),
        (Config(ask_before=NAME), Config(), MORE, ("no longer asked about: theme set",)),
        (Config(disabled_tools=NAME), Config(), MORE, ("tools offered again: theme set",)),
        (RESTRICTIVE, Config(), MORE, ("config.toml can be read again, and its rules hold",)),
        (Config(), RESTRICTIVE, LESS, ("only safe commands run: config.toml could not be read",)),
        (
            Config(allow=NAME),
            Config(deny=NAME, allow=NAMES),
            OTHER,
            ("denied: theme set", "allowed: launch browser"),
        ),
    ],
)
def test_each_change_is_told_in_its_direction(
    before: Config, after: Config, summary: str, lines: tuple[str, ...]
) -> None:
    said = announce(before, after)
    assert said is not None
    assert (said.summary, said.lines) == (summary, lines)


@pytest.mark.parametrize(
    "after",
    [Config(), Config(timeout_ms=100), Config(log_level="debug"), Config(idle_exit_s=60), Config(ask_timeout_s=9)],
)
def test_what_decides_nothing_is_not_told(after: Config) -> None:
    assert announce(Config(), after) is None


@given(st.frozensets(st.text(min_size=1), min_size=1, max_size=12))
def test_whatever_the_names_are_a_line_is_one_line_and_short(names: frozenset[str]) -> None:
    said = announce(Config(), Config(deny=names))
    assert said is not None
    (line,) = said.lines
    assert line.isprintable()
    assert len(line) <= len("denied: ") + (MOST_LETTERS + 2) * MOST_NAMES + len("and 999 more")


def test_many_names_are_counted() -> None:
    said = announce(Config(), Config(deny=frozenset(map(str, range(10, 30)))))
    assert said is not None
    assert said.lines == ("denied: 10, 11, 12, 13, 14, 15, and 14 more",)


@pytest.mark.parametrize(
    ("config", "rejected", "instead"),
    [
        (Config(), False, "the rest of it holds"),
        (Config(), True, "it is not used: nothing changes"),
        (RESTRICTIVE, True, "it is not used: only safe commands run"),
    ],
)
def test_a_file_that_is_not_in_order_is_said_with_what_holds_instead(
    config: Config, rejected: bool, instead: str
) -> None:
    said = faulty("line 3: \u202eno such key" + "x" * 999, config, rejected=rejected)
    assert said.summary == "config.toml is not in order"
    assert said.lines[0].startswith("line 3: \\u202eno such key")
    assert len(said.lines[0]) <= MOST_FAULT + 1  # and a mark where it was cut
    assert said.lines[1] == instead
