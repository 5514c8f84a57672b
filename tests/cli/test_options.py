"""The command line, and what is said when it is wrong."""

import pytest

from omarchy_mcp.cli.__main__ import main
from omarchy_mcp.cli.exits import Exit
from omarchy_mcp.cli.options import BY_NAME, OPTIONS, Json, Request, UsageError, help_text, parse, verb_help


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("", Request()),
        ("status", Request(verb="status")),
        ("-j", Request(json=Json.AUTO)),
        ("recent", Request(verb="recent")),
        ("recent -n 3 -f", Request(verb="recent", count=3, follow=True)),
        ("-n3 recent --no-legend", Request(verb="recent", count=3, legend=False)),
        ("--lines=0 recent --json=short", Request(verb="recent", count=0, json=Json.SHORT)),
        ("--json pretty status", Request(json=Json.PRETTY)),
        ("watch --no-start", Request(verb="watch", start=False)),
        ("-q help -v recent", Request(verb="help", topic="recent", quiet=True, verbose=True)),
        ("recent --no-pager", Request(verb="recent", pager=False)),
        ("stop-job 0123456789ab -q", Request(verb="stop-job", operands=("0123456789ab",), quiet=True)),
        ("stop --help", Request(verb="--help")),
        ("--version nonsense", Request(verb="--version")),
    ],
)
def test_options_may_stand_anywhere(line: str, request_: Request) -> None:
    assert parse(line.split()) == request_


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("frobnicate", "unknown verb 'frobnicate'"),
        ("stauts", "unknown verb 'stauts', did you mean 'status'?"),
        ("help nothing", "unknown verb 'nothing'"),
        ("start now", "'start' takes no further word: 'now'"),
        ("help status recent", "'help' takes no further word: 'recent'"),
        ("recent -n", "expected one argument"),
        ("recent -n -1", "-n takes a number from 0 to 1000, not '-1'"),
        ("recent -n 1001", "-n takes a number from 0 to 1000, not '1001'"),
        ("recent -n ٣", "-n takes a number from 0 to 1000, not '٣'"),
        ("recent -n " + "9" * 5_000, "-n takes a number from 0 to 1000"),
        ("recent --json=xml", "--json takes short, pretty or off, not 'xml'"),
        ("recent --json=auto", "--json takes short, pretty or off, not 'auto'"),
        ("stop-job", "'stop-job' takes the id of a job"),
        ("stop-job a b", "'stop-job' takes no further word: 'b'"),
        ("jobs now", "'jobs' takes no further word: 'now'"),
        ("status -f", "option --follow is for 'recent', not for 'status'"),
        ("recent --no-start", "option --no-start is for 'watch', not for 'recent'"),
        ("--stat", "unrecognized arguments: --stat"),
        ("--quie status", "unrecognized arguments: --quie"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        parse(line.split())
    assert main(line.split()) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first.startswith("omarchy-mcpctl: ")
    assert said in first
    assert len(first) < 700
    assert second == "Try 'omarchy-mcpctl --help'."


def test_hostile_words_reach_the_terminal_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--\x1b[2J\n\u202e"])
    assert "\x1b" not in capsys.readouterr().err


def test_help_fits_a_terminal_and_has_everything() -> None:
    text = help_text()
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(verb in text for verb in BY_NAME)
    assert all(option.does in text for option in OPTIONS)


def test_help_for_a_verb_shows_its_own_options() -> None:
    assert "--follow" in verb_help(BY_NAME["recent"])
    assert "--follow" not in verb_help(BY_NAME["watch"])


@pytest.mark.parametrize("line", ["--help", "--version", "help", "help recent"])
def test_help_and_version_need_nothing_and_end_well(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == Exit.DONE
    out, err = capsys.readouterr()
    assert "omarchy-mcpctl" in out.lower()
    assert err == ""
