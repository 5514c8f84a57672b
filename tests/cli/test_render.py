"""Status and records as a person sees them: pure functions over what the bus or the journal gave."""

import re
from typing import Any

import pytest

from omarchy_mcp.cli import render
from omarchy_mcp.cli.exits import BY_STATE, Exit, StatusExit, is_absent, status_for
from omarchy_mcp.cli.text import width

STATUS: dict[str, object] = {
    "state": "serving",
    "port": 8765,
    "version": "1.2.3",
    "server_version": "1.2.3",
    "enabled": True,
    "listening": True,
    "running": True,
    "pid": 4711,
    "problem": "",
    "restarts": 0,
    "uptime_usec": 125_000_000,
    "tools": 4,
    "tools_declared": 4,
    "config_ok": True,
    "config_problem": "",
    "omarchy_path": "/usr/share/omarchy",
    "audit": "ok",
    "audit_why": "",
    "clients": 1,
    "calls": 12,
    "failures": 2,
    "last_tool": "omarchy_run",
    "pending": 0,
    "jobs": 0,
    "token_file": "/state/token",
    "token_problem": "",
}
CALL: dict[str, object] = {
    "usec": 1_700_000_000_000_000,
    "event": "call",
    "message": "default: omarchy_run 'omarchy theme set' -> ok",
    "outcome": "ok",
    "tool": "omarchy_run",
    "route": "omarchy theme set",
    "target": "nord",
    "duration_usec": 14_000,
    "client": "default",
}
HOSTILE = "\x1b[31m\n\u202e<b>x</b>" + "y" * 100_000
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def lines(**changes: object) -> list[str]:
    return render.status_lines({**STATUS, **changes}, "/config.toml", config_there=True, colours=False)


def test_a_serving_server_is_shown_whole() -> None:
    assert lines() == [
        "● serving  omarchy-mcp 1.2.3",
        "     Port: 127.0.0.1:8765, held, and after every login",
        "   Server: running for 2 min 5 s, process 4711",
        "    Tools: 4",
        "    Calls: 12, 2 not ok, the last omarchy_run; 1 client",
        "    Audit: ok",
        "   Config: /config.toml",
        "    Token: /state/token",
        "  Omarchy: /usr/share/omarchy",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"problem": "the port is taken"}, "the port is taken"),
        ({"token_problem": "token file /t: it is empty"}, "token file /t: it is empty"),
        ({"config_ok": False, "config_problem": "line 3: no such key"}, "configuration: line 3: no such key"),
        ({"consent_problem": "cannot read consent.json"}, "grants: cannot read consent.json"),
        ({"config_ok": False}, "configuration: not used"),
        ({"audit": "losing", "audit_why": "3 records"}, "audit losing: 3 records"),
        ({"audit": "unreadable", "audit_why": "no file"}, "audit unreadable: no file"),
        (
            {"server_version": "1.0"},
            "the server still runs version 1.0; 'omarchy-mcpctl restart' starts 1.2.3",
        ),
    ],
)
def test_problems_come_first(changes: dict[str, object], line: str) -> None:
    assert lines(**changes)[1] == f"  Problem: {line}"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"running": False, "server_version": ""}, "   Server: asleep; the next connection starts it"),
        ({"running": False, "listening": False}, "   Server: not running"),
        ({"enabled": False}, "     Port: 127.0.0.1:8765, held, not after the next login"),
        ({"listening": False, "port": 0}, "     Port: closed; and after every login"),
        ({"tools": 3}, "    Tools: 3 of 4"),
        ({"restarts": 2}, "   Server: running for 2 min 5 s, process 4711, restarted 2 times after a failure"),
        ({"jobs": 1}, "     Jobs: 1 command running"),
        ({"pending": 2}, "  Pending: 2 questions"),
        ({"review": 1}, "   Review: 1 command held; 'omarchy-mcpctl review' shows what is new"),
        ({"review_problem": "it is lost"}, "  Problem: review: it is lost"),
        ({"may_answer": ["claude-code", "x\x1b"]}, "  Answers: claude-code, x\\u001b may approve what they ask for"),
        ({"config_ok": False, "config_problem": "x"}, "   Config: /config.toml (rejected)"),
        ({"config_watch": "why"}, "   Config: /config.toml (looked at every 2 s: why)"),
    ],
)
def test_status_says_how_it_is(changes: dict[str, object], line: str) -> None:
    assert line in lines(**changes)


def test_a_missing_configuration_is_no_problem() -> None:
    shown = render.status_lines(STATUS, "/config.toml", config_there=False, colours=False)
    assert "   Config: /config.toml (not there: defaults)" in shown
    assert not any("Problem" in line for line in shown)


@pytest.mark.parametrize("state", [*BY_STATE, "unknown", "never heard of"])
def test_every_state_has_its_word_and_mark(state: str) -> None:
    first = lines(state=state)[0]
    assert state in first
    assert first[0] in "●○×"  # noqa: RUF001


def test_a_hostile_status_is_one_line_per_label_and_does_nothing() -> None:
    hostile = {key: HOSTILE for key, value in STATUS.items() if isinstance(value, str)}
    shown = lines(**hostile)
    assert len(shown) < 20
    assert all("\x1b" not in line and "\n" not in line and "\u202e" not in line for line in shown)
    assert all(len(line) < 5_000 for line in shown)


def test_a_status_of_odd_types_is_shown_anyway() -> None:
    odd: dict[str, object] = {key: ["odd"] for key in STATUS}
    assert render.status_lines(odd, "/c", config_there=True, colours=False)
    assert render.status_lines({}, "/c", config_there=True, colours=False)


def test_without_its_colours_the_status_is_the_plain_one() -> None:
    coloured = render.status_lines({**STATUS, "problem": "x"}, "/config.toml", config_there=True, colours=True)
    assert [ESCAPES.sub("", line) for line in coloured] == lines(problem="x")


def rows(records: list[dict[str, Any]], columns: int = 0, *, colours: bool = False) -> list[str]:
    table = render.table(records, columns, colours=colours)
    return [table.head(), *map(table.line, records)]


def test_columns_are_as_wide_as_what_is_in_them() -> None:
    long = {**CALL, "tool": "omarchy_shell_call", "outcome": "not_installed", "target": ""}
    shown = [line[len("Nov 14 22:13:20") :] for line in rows([CALL, long])]
    assert shown == [
        "  OUTCOME        TOOL                ROUTE              TARGET  DURATION  CLIENT",
        "  ok             omarchy_run         omarchy theme set  nord    14 ms     default",
        "  not_installed  omarchy_shell_call  omarchy theme set  -       14 ms     default",
    ]


@pytest.mark.parametrize("event", ["job", "lifecycle", "config", "dropped", "question", ""])
def test_what_is_no_call_is_a_line_of_its_own(event: str) -> None:
    record: dict[str, object] = {"usec": CALL["usec"], "event": event, "message": "something happened"}
    assert rows([record])[1].endswith(f"  -- {event}: something happened")


def test_arguments_are_never_in_a_line() -> None:
    record = {**CALL, "args": '["secret"]', "args_sha256": "cafe"}
    assert "secret" not in "".join(rows([record]))
    assert "cafe" not in "".join(rows([record]))


@pytest.mark.parametrize("columns", [40, 80, 120, 200])
def test_on_a_terminal_no_row_is_wider_than_it(columns: int) -> None:
    records = [{**CALL, "route": "omarchy " + "緑" * 200, "client": "c" * 300, "target": "t" * 99}, CALL]
    records.append({"usec": CALL["usec"], "event": "job", "message": "m" * 500})
    narrowest = 15 + 7 + 8 + 4 * render.NARROWEST + 2 * 6
    assert all(width(line) <= max(columns, narrowest) for line in rows(records, columns))


def test_a_hostile_record_is_one_row_that_does_nothing() -> None:
    call = {key: HOSTILE if isinstance(value, str) and key != "event" else value for key, value in CALL.items()}
    for record in (call, {**call, "event": HOSTILE}):
        for columns in (0, 80):
            row = rows([record], columns)[1]
            assert "\x1b" not in row
            assert "\n" not in row
            assert "\u202e" not in row
            assert len(row) < 3_000


@pytest.mark.parametrize(
    ("outcome", "coloured"), [("ok", False), ("refused", True), ("failed", True), ("running", True)]
)
def test_what_went_wrong_stands_out(outcome: str, coloured: bool) -> None:
    row = rows([{**CALL, "outcome": outcome}], colours=True)[1]
    assert ("\x1b[" in row) is coloured
    assert ESCAPES.sub("", row) == rows([{**CALL, "outcome": outcome}])[1]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("io.github.bruce_forte.OmarchyMcp1.Error.NotRunning", Exit.NOT_RUNNING),
        ("io.github.bruce_forte.OmarchyMcp1.Error.NotFound", Exit.FAILED),
        ("io.github.bruce_forte.OmarchyMcp1.Error.Refused", Exit.FAILED),
        ("org.freedesktop.DBus.Error.AccessDenied", Exit.NOT_PERMITTED),
        ("org.freedesktop.DBus.Error.UnknownMethod", Exit.NOT_IMPLEMENTED),
        ("org.freedesktop.DBus.Error.InvalidArgs", Exit.USAGE),
        ("org.freedesktop.systemd1.NoSuchUnit", Exit.NOT_INSTALLED),
        ("org.freedesktop.DBus.Error.Disconnected", Exit.NOT_RUNNING),
        ("something.new", Exit.FAILED),
    ],
)
def test_each_error_has_its_exit_status(name: str, status: Exit) -> None:
    assert status_for(name) is status


def test_a_service_the_bus_cannot_start_is_absent() -> None:
    assert is_absent("org.freedesktop.DBus.Error.Spawn.ExecFailed")
    assert is_absent("org.freedesktop.DBus.Error.ServiceUnknown")
    assert not is_absent("org.freedesktop.DBus.Error.Timeout")


def test_status_exits_are_systemctls() -> None:
    assert {name: int(status) for name, status in BY_STATE.items()} == {
        "serving": 0,
        "starting": 0,
        "frozen": 0,
        "failed": 1,
        "stopped": 3,
    }
    assert int(StatusExit.UNKNOWN) == 4
