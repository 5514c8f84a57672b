"""Everything an agent did stands in the journal, once, in full, under fields nobody else can write."""

import hashlib
import json
import secrets

import pytest

from system import bus, desktop, journal
from system.product import CONTROL, SERVICE, Product
from system.world import wait_until

# Any of these in a row of Recent would be an argument, or a digest to guess one by.
HIDDEN = {"args", "args_sha256"}


def test_every_kind_of_call_is_recorded_with_its_outcome(audit: Product) -> None:
    since = journal.moment(1)
    rpc = audit.rpc()
    rpc.do(desktop.TRUE)
    rpc.do(desktop.EXIT, "3")
    rpc.do(desktop.GUARDED)
    rpc.do(desktop.ROOT)
    rpc.do("omarchy nothing of the kind")
    rpc.do(desktop.SLEEP, "30", "audit", timeout_ms=300, detach=True)
    rpc.call("omarchy_search_commands", query="theme")

    def outcomes() -> dict[str, str]:
        return {
            str(entry.get("OMARCHY_MCP_ROUTE") or entry["OMARCHY_MCP_TOOL"]): entry["OMARCHY_MCP_OUTCOME"]
            for entry in audit.records("call", since=since)
        }

    wait_until(lambda: len(outcomes()) >= 7, "seven records")
    seen = outcomes()
    assert seen[desktop.TRUE] == "ok"
    assert seen[desktop.EXIT] == "failed"
    assert seen[desktop.GUARDED] == "refused"
    assert seen[desktop.ROOT] == "refused"
    assert seen[desktop.SLEEP] == "running"
    assert seen["omarchy_search_commands"] == "ok"
    assert sum(outcome == "refused" for outcome in seen.values()) == 3


def test_a_record_has_the_fields_of_the_contract(audit: Product) -> None:
    argument = "x" * 500
    entry = audit.recorded(desktop.ARGV, "short", argument)
    assert entry["SYSLOG_IDENTIFIER"] == "omarchy-mcp"
    assert entry["_SYSTEMD_USER_UNIT"] == SERVICE
    assert entry["OMARCHY_MCP_EVENT"] == "call"
    assert entry["OMARCHY_MCP_TOOL"] == "omarchy_run"
    assert entry["OMARCHY_MCP_ROUTE"] == desktop.ARGV
    assert entry["OMARCHY_MCP_TIER"] in {"safe", "guarded"}
    assert entry["OMARCHY_MCP_RULE"]
    assert entry["OMARCHY_MCP_OUTCOME"] == "ok"
    assert entry["OMARCHY_MCP_EXIT"] == "0"
    assert entry["OMARCHY_MCP_CLIENT"]
    assert int(entry["OMARCHY_MCP_DURATION_USEC"]) > 0
    assert int(entry["OMARCHY_MCP_SEQ"]) > 0
    assert entry["OMARCHY_MCP_CALL_ID"]
    assert len(entry["MESSAGE_ID"]) == 32
    short, long = json.loads(entry["OMARCHY_MCP_ARGS"])
    assert short == "short"
    assert long.startswith("x" * 120)
    assert len(long) < 200
    assert long != argument[:120], "a cut argument says that it was cut"
    whole = json.dumps(["short", argument]).encode()
    assert entry["OMARCHY_MCP_ARGS_SHA256"] == hashlib.sha256(whole).hexdigest()
    assert desktop.ARGV in entry["MESSAGE"]


def test_recent_shows_the_same_calls_newest_first_without_arguments(audit: Product) -> None:
    secret = secrets.token_hex(8)
    rpc, since = audit.rpc(), journal.moment()
    rpc.do(desktop.ARGV, secret)
    rpc.do(desktop.GUARDED)
    rpc.do(desktop.EXIT, "4")

    def routes() -> list[str]:
        calls = {entry["OMARCHY_MCP_CALL_ID"] for entry in audit.records(since=since)}
        return [row["route"] for row in audit.control.recent(50) if row.get("call_id") in calls]

    wait_until(lambda: routes() == [desktop.EXIT, desktop.GUARDED, desktop.ARGV], "three rows, newest first")
    rows = audit.control.recent(50)
    assert all(not HIDDEN & set(row) for row in rows)
    assert secret not in json.dumps(rows)
    assert len(audit.control.recent(2)) == 2


def test_numbers_of_the_records_have_no_gap(audit: Product) -> None:
    audit.sleep()
    since = journal.moment(0.5)
    rpc = audit.rpc()
    for _ in range(20):
        rpc.do(desktop.TRUE)
    audit.sleep()
    written = journal.read(audit.world, f"_SYSTEMD_USER_UNIT={SERVICE}", since=since)
    numbers: dict[str, list[int]] = {}
    for entry in written:
        if "OMARCHY_MCP_SEQ" in entry:
            numbers.setdefault(entry["_PID"], []).append(int(entry["OMARCHY_MCP_SEQ"]))
    longest = max(numbers.values(), key=len)
    assert len(longest) >= 22, "started, twenty calls, stopped"
    assert longest == list(range(longest[0], longest[0] + len(longest)))
    assert longest[0] == 1


@pytest.mark.parametrize("claimed", ["USER_UNIT", "_SYSTEMD_USER_UNIT", "OBJECT_SYSTEMD_USER_UNIT", "UNIT"])
def test_an_entry_forged_from_outside_is_never_in_recent(audit: Product, claimed: str) -> None:
    mark = f"forged {secrets.token_hex(6)}"
    genuine = audit.recorded(desktop.TRUE)
    fields = {key: str(value) for key, value in genuine.items() if not key.startswith("_")}
    journal.forge(fields | {claimed: SERVICE, "MESSAGE": mark, "OMARCHY_MCP_ROUTE": mark})
    wait_until(
        lambda: journal.read(audit.world, f"MESSAGE={mark}", trusted=False),
        "the journal has the forged entry",
    )
    assert mark not in json.dumps(audit.control.recent(200))
    assert journal.read(audit.world, f"MESSAGE={mark}") == []


def test_an_entry_forged_by_a_desktop_command_is_never_in_recent(audit: Product) -> None:
    mark = f"forged {secrets.token_hex(6)}"
    assert audit.rpc().do(desktop.FORGE, mark).outcome == "ok"
    wait_until(
        lambda: journal.read(audit.world, f"OMARCHY_MCP_ROUTE={mark}", trusted=False),
        "the journal has the forged entry",
    )
    assert mark not in json.dumps(audit.control.recent(200))
    assert journal.read(audit.world, f"OMARCHY_MCP_ROUTE={mark}") == []


def test_an_entry_forged_by_the_usual_programs_is_never_in_recent(audit: Product) -> None:
    mark = f"forged{secrets.token_hex(6)}"
    audit.wake()
    audit.world.run("systemd-cat", "--identifier=omarchy-mcp", "echo", f"OMARCHY_MCP_EVENT=call {mark}")
    audit.world.run(
        "logger",
        "--journald",
        check=False,
        given=(f"MESSAGE={mark}\nSYSLOG_IDENTIFIER=omarchy-mcp\nOMARCHY_MCP_EVENT=call\nOMARCHY_MCP_OUTCOME=ok\n"),
    )
    wait_until(lambda: journal.read(audit.world, f"MESSAGE={mark}", trusted=False), "the journal has logger's entry")
    assert mark not in json.dumps(audit.control.recent(200))


def test_a_newline_in_an_argument_stays_inside_its_field(audit: Product) -> None:
    argument = "x\nMESSAGE=forged\nOMARCHY_MCP_OUTCOME=failed\nOMARCHY_MCP_ROUTE=forged"
    entry = audit.recorded(desktop.ARGV, argument)
    assert entry["OMARCHY_MCP_OUTCOME"] in {"ok", "refused"}
    assert entry["OMARCHY_MCP_ROUTE"] == desktop.ARGV
    assert "forged" not in entry["MESSAGE"]


@pytest.mark.parametrize(
    "argument", ["a" * 100_000, "\x1b[2J\x07", "\u202egnp.exe", "\U0001f980" * 3_000, "a\0b", "\uffff"]
)
def test_no_argument_makes_a_call_unreadable(audit: Product, argument: str) -> None:
    since = journal.moment(0.5)
    audit.rpc().post(
        "tools/call",
        {"name": "omarchy_run", "arguments": {"route": desktop.ARGV, "args": [argument]}},
        name="omarchy_run",
    )
    entries = wait_until(lambda: audit.records("call", since=since), "a record of the call")
    assert all(isinstance(value, str) for entry in entries for value in entry.values()), entries
    assert all(isinstance(json.loads(entry["OMARCHY_MCP_ARGS"]), list) for entry in entries)
    row = audit.control.recent(1)[0]
    assert row.get("route", desktop.ARGV) == desktop.ARGV
    assert audit.control.owner()


@pytest.mark.parametrize("args", ["{secret}", [1, "{secret}"], {"a": "{secret}"}, [["{secret}"]]])
def test_an_argument_of_the_wrong_shape_is_nowhere_in_recent(audit: Product, args: object) -> None:
    secret = f"secret{secrets.token_hex(8)}"
    since = journal.moment()
    audit.rpc().call("omarchy_run", route=desktop.ARGV, args=json.loads(json.dumps(args).replace("{secret}", secret)))
    wait_until(lambda: audit.records(since=since), "a record of the call")
    assert secret not in json.dumps(audit.control.recent(5))
    assert all(secret not in entry["MESSAGE"] for entry in audit.records(since=since))


def test_no_secret_and_no_output_is_anywhere_in_the_journal(audit: Product) -> None:
    since = journal.moment(0.5)
    audit.recorded(desktop.EXIT, "0")
    audit.restart()
    audit.wake()
    everything = json.dumps(journal.read(audit.world, since=since, trusted=False))
    assert audit.token() not in everything
    assert "to standard output" not in everything
    assert "to standard error" not in everything


def test_start_and_stop_of_the_server_are_recorded(audit: Product) -> None:
    since = journal.moment(0.5)
    audit.sleep()
    audit.wake()
    steps = wait_until(
        lambda: text if (text := _messages(audit, since)) and "started" in text and "stopped" in text else "",
        "records of the stop and the start",
    )
    assert steps.index("stopped") < steps.rindex("started")


def test_the_journal_reads_well_for_a_person(audit: Product) -> None:
    since = journal.moment(0.5)
    audit.recorded(desktop.EXIT, "5")
    shown = audit.world.run(
        "journalctl",
        "--no-pager",
        "--quiet",
        "--output=cat",
        f"--since=@{since:.3f}",
        f"_SYSTEMD_USER_UNIT={SERVICE}",
    ).stdout
    line = next(line for line in shown.splitlines() if desktop.EXIT in line)
    assert "failed" in line
    assert "Traceback" not in shown
    assert "Warning" not in shown


def test_status_counts_what_was_called_and_says_the_audit_is_well(audit: Product) -> None:
    rpc = audit.rpc()
    before = audit.control.status()
    rpc.do(desktop.TRUE)
    rpc.do(desktop.EXIT, "6")
    wait_until(lambda: audit.control.status()["calls"] >= before["calls"] + 2, "both calls are counted")
    after = audit.control.status()
    assert after["failures"] >= before["failures"] + 1
    assert after["last_tool"] == "omarchy_run"
    assert after["audit"] == "ok" or after["audit"][0] == "ok"


def test_an_audit_this_user_cannot_read_is_never_shown_as_empty(product: Product) -> None:
    product.wake()
    if journal.readable(product.world):
        pytest.skip("this user may read the journal his services write")
    product.rpc().do(desktop.TRUE)
    error, _ = product.control.raw("Recent", "ua{sv}", (8, {}))
    assert error == f"{bus.ERROR}Unreadable"
    wait_until(lambda: "unreadable" in str(product.control.status()["audit"]), "Status says so", 15)


def test_restarting_the_control_service_loses_no_record(audit: Product) -> None:
    call = audit.recorded(desktop.TRUE)["OMARCHY_MCP_CALL_ID"]
    audit.world.systemctl("restart", CONTROL)
    assert any(row.get("call_id") == call for row in audit.control.recent(200))


def _messages(product: Product, since: float) -> str:
    entries = product.records("lifecycle", since=since)
    return " | ".join(f"{entry['MESSAGE']} {entry.get('OMARCHY_MCP_OUTCOME', '')}" for entry in entries)
