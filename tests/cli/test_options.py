"""The command line, and what is said when it is wrong."""

import pytest

from omarchy_mcp.cli.__main__ import main
from omarchy_mcp.cli.exits import Exit
from omarchy_mcp.cli.options import (
    BY_NAME,
    LIVES,
    OPTIONS,
    SCOPES,
    Json,
    Request,
    UsageError,
    help_text,
    parse,
    verb_help,
)


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
        ("questions -j", Request(verb="questions", json=Json.AUTO)),
        ("approve 3", Request(verb="approve", question=3)),
        ("approve --json 3", Request(verb="approve", question=3, json=Json.SHORT)),
        ("approve", Request(verb="approve")),
        ("--life=always approve 12 --scope route", Request(verb="approve", question=12, scope="route", life="always")),
        ("approve 1 --scope=args --life=10min", Request(verb="approve", question=1, scope="args", life="10min")),
        ("approve 1 --scope=call --life=once", Request(verb="approve", question=1)),
        ("deny", Request(verb="deny")),
        ("deny -- 3", Request(verb="deny", question=3)),
        ("deny --all", Request(verb="deny", every=True)),
        ("grants", Request(verb="grants")),
        ("revoke 0a1b", Request(verb="revoke", grant="0a1b")),
        ("revoke --all -q", Request(verb="revoke", every=True, quiet=True)),
        ("review", Request(verb="review")),
        ("acknowledge", Request(verb="acknowledge")),
        ("acknowledge " + "0a" * 32, Request(verb="acknowledge", digest="0a" * 32)),
        ("client", Request(verb="client", action="list")),
        ("client list -j", Request(verb="client", action="list", json=Json.AUTO)),
        ("client add codex --show", Request(verb="client", action="add", client="codex", show=True)),
        ("client --token-file=t rotate a-1", Request(verb="client", action="rotate", client="a-1", token_file="t")),
        ("client rotate default", Request(verb="client", action="rotate", client="default")),
        ("client revoke codex", Request(verb="client", action="revoke", client="codex")),
        ("client-config --client codex", Request(verb="client-config", program="codex", client="default")),
        (
            "client-config --client=claude --name=x --token-file t",
            Request(verb="client-config", program="claude", client="x", token_file="t"),
        ),
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
        ("questions 3", "'questions' takes no further word: '3'"),
        ("approve 3 4", "'approve' takes no further word: '4'"),
        ("approve all", "a question is named by its number, such as 3, not 'all'"),
        ("approve 0", "a question is named by its number, such as 3, not '0'"),
        ("approve -- -1", "a question is named by its number, such as 3, not '-1'"),
        ("approve ٣", "a question is named by its number, such as 3, not '٣'"),
        ("approve " + "9" * 5_000, "a question is named by its number"),
        ("approve 3 --life=always", "--life=always needs --scope=args or --scope=route"),
        ("approve 3 --life=10min --scope=call", "--life=10min needs --scope=args or --scope=route"),
        ("approve 3 --scope=args", "--scope=args needs --life with one of 10min, session, always"),
        ("approve 3 --scope=route --life=once", "--scope=route needs --life with one of 10min, session, always"),
        ("approve 3 --scope=everything", "--scope takes call, args, route, not 'everything'"),
        ("approve 3 --life=1h", "--life takes once, 10min, session, always, not '1h'"),
        ("approve --all", "option --all is for 'deny', not for 'approve'"),
        ("deny 3 --scope=args", "option --scope is for 'approve', not for 'deny'"),
        ("deny 3 --all", "'deny' takes either one or --all, not both"),
        ("revoke", "'revoke' takes the id of a grant, or --all; 'grants' shows them"),
        ("revoke 0a1b --all", "'revoke' takes either one or --all, not both"),
        ("revoke \udcff", "no grant has such an id"),
        ("revoke " + "a" * 5_000, "no grant has such an id"),
        ("review now", "'review' takes no further word: 'now'"),
        ("acknowledge all", "'acknowledge' takes the digest that 'review' shows, not 'all'"),
        ("acknowledge " + "A" * 64, "'acknowledge' takes the digest that 'review' shows"),
        ("acknowledge --all", "option --all is for 'deny', not for 'acknowledge'"),
        ("client remove x", "'client' takes add, list, rotate, revoke, not 'remove'"),
        ("client add", "'client add' takes the name of a client"),
        ("client add a b", "'client' takes no further word: 'b'"),
        ("client add Codex", "a client's name is up to 32 small letters"),
        ("client add unknown", "a client's name is up to 32 small letters"),
        ("client add default", "the client 'default' is there already"),
        ("client revoke default", "the client 'default' stays"),
        ("client list x", "'client list' takes no further word: 'x'"),
        ("client revoke x --show", "'client revoke' makes no token"),
        ("client --token-file=t", "'client list' makes no token"),
        ("client add x --show --token-file=t", "either shown or kept in a file, not both"),
        ("client add x --token-file=", "--token-file takes the name of a file"),
        ("client-config", "'client-config' takes --client= with one of claude, codex, gemini, opencode"),
        ("client-config --client=vim", "not 'vim'"),
        ("client-config --client=codex --name=A", "a client's name is up to 32 small letters"),
        ("status --show", "option --show is for 'client', not for 'status'"),
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


def test_scopes_and_lives_are_those_of_the_policy() -> None:
    policy = pytest.importorskip("omarchy_mcp.policy.questions")
    assert tuple(policy.Scope) == SCOPES
    assert tuple(policy.Life) == LIVES


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
