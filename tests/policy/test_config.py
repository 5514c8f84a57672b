import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.config import _KEYS, MAX_BYTES, RESTRICTIVE, Config, parse_config

FULL = """
[server]
timeout_ms = 5000
max_output_b = 4096
idle_exit_s = 600
[tools]
disabled = ["omarchy_screenshot"]
[policy]
allow = ["omarchy theme  install"]
allow_groups = ["Update"]
deny = ["omarchy launch browser"]
ask_before = ["Screen", "clipboard-read"]
ask = true
ask_timeout_s = 20
click = "approve"
approve_from = "shell"
may_answer = [" claude-code "]
[log]
level = "warn"
"""


def test_no_file_is_the_defaults() -> None:
    read = parse_config(None)
    assert (read.config, read.problems, read.parsed) == (Config(), (), True)
    assert read.config.ask is False
    assert read.config.ask_timeout_s == 50


@pytest.mark.parametrize(
    "text",
    [FULL.encode(), b"\xef\xbb\xbf" + FULL.encode(), FULL.replace("\n", "\r\n").encode()],
    ids=["lf", "bom", "crlf"],
)
def test_every_key_is_read_whatever_the_editor_wrote(text: bytes) -> None:
    read = parse_config(text)
    assert read.problems == ()
    assert read.config == Config(
        timeout_ms=5_000,
        max_output_b=4_096,
        idle_exit_s=600,
        disabled_tools=frozenset({"omarchy_screenshot"}),
        allow=frozenset({"theme install"}),
        allow_groups=frozenset({"update"}),
        deny=frozenset({"launch browser"}),
        ask_before=frozenset({"screen", "clipboard read"}),
        ask=True,
        ask_timeout_s=20,
        click="approve",
        approve_from="shell",
        may_answer=frozenset({"claude-code"}),
        log_level="warn",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[policy]\rask = true\r", "line 1"),
        (b"# caf\xe9\n", "not UTF-8 (line 1"),
        (b"\n\n# caf\xe9\n", "line 3"),
        (b"[policy]\n[policy]\n", "line 2"),
        (b"[policy]\nask = true\n\0", "line 3"),
        (b"", "empty"),
        (b"#" * (MAX_BYTES + 1), "larger"),
        (b"x = " + b"[" * 50_000, "config.toml"),
        (b"[policy\n", "line 1"),
    ],
)
def test_a_file_that_cannot_be_read_holds_nothing_and_says_where(text: bytes, why: str) -> None:
    read = parse_config(text)
    assert read.parsed is False
    assert read.config is RESTRICTIVE
    assert why in read.problems[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('ask = "true"', "policy.ask: it must be true or false"),
        ('allow = "theme install"', "policy.allow: it must be a list"),
        ("allow = [1]", "policy.allow: every entry"),
        ('allow = [" "]', "policy.allow: every entry"),
        ("ask_timeout_s = 1e9", "policy.ask_timeout_s: it must be a whole number from 5 to 600"),
        ("ask_timeout_s = true", "policy.ask_timeout_s"),
        ("ask_timeout_s = 4", "policy.ask_timeout_s"),
        ("Ask = true", "policy.Ask: there is no such key"),
        ("host = '0.0.0.0'", "policy.host: there is no such key"),
        ("[Policy]\ndeny = ['x']", "there is no table [Policy]"),
        ("[log]\nlevel = 'loud'", "log.level: it must be one of"),
    ],
)
def test_a_bad_key_is_named_and_the_rest_applies(text: str, why: str) -> None:
    read = parse_config(f"[tools]\ndisabled = ['a']\n[policy]\n{text}\n".encode())
    assert read.parsed is True
    assert len(read.problems) == 1
    assert why in read.problems[0]
    assert read.config == Config(disabled_tools=frozenset({"a"}))


def test_a_key_where_a_table_belongs_is_named() -> None:
    assert "[policy]" in parse_config(b"policy = 3").problems[0]


@pytest.mark.parametrize("value", ["'launch browser'", "['launch browser', 3]"])
def test_a_bad_deny_list_never_widens(value: str) -> None:
    read = parse_config(f"[policy]\ndeny = {value}\nask_before = {value}".encode())
    assert read.problems
    assert read.config.deny == read.config.ask_before == frozenset({"launch browser"})


@given(st.binary() | st.text(st.characters(codec="utf-8")).map(str.encode))
def test_no_text_raises(text: bytes) -> None:
    read = parse_config(text)
    assert read.parsed or read.config is RESTRICTIVE


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('approve_from = "shel"', "policy.approve_from: it must be one of user, shell, taking 'shell'"),
        ("approve_from = 1", "policy.approve_from"),
        ('click = "yes"', "policy.click: it must be one of auto, approve, open, taking 'open'"),
        ("click = []", "policy.click"),
    ],
)
def test_a_misspelt_choice_about_approving_means_the_narrowest(line: str, problem: str) -> None:
    read = parse_config(f"[policy]\n{line}\n".encode())
    assert problem in read.problems[0]
    assert (read.config.approve_from == "shell") is ("approve_from" in line)
    assert (read.config.click == "open") is ("click" in line)


def test_the_file_to_begin_with_has_every_key_with_its_default_commented_out() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "config.toml").read_text(encoding="utf-8")
    as_it_is = parse_config(text.encode())
    assert (as_it_is.config, as_it_is.problems, as_it_is.parsed) == (Config(), (), True)
    taken = re.sub(r"^#(?=\w)", "", text, flags=re.MULTILINE)
    said = tomllib.loads(taken)
    assert {table: set(keys) for table, keys in said.items()} == {table: set(keys) for table, keys in _KEYS.items()}
    assert parse_config(taken.encode()) == as_it_is
