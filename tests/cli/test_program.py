"""The program as it is installed, in a session of its own: what it writes where, and its exit status."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from system import desktop, wire
from system.bus import NAME, busctl
from system.product import ACTIVATION, CONTROL, SERVICE, SLICE, SOCKET, Product
from system.world import REPO, wait_until

PROGRAM = str(REPO / "bin" / "omarchy-mcpctl")
NO_BUS = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
SECRET = "canary-argument"
Done = subprocess.CompletedProcess[str]


def ctl(product: Product, *words: str, **env: str) -> Done:
    variables = {"OMARCHY_MCP_VENV": product.venv, **env}
    return product.world.run(
        "env", *(f"{key}={value}" for key, value in variables.items()), PROGRAM, *words, check=False
    )


@contextmanager
def running(product: Product, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """The program while it goes on; ended if the test did not."""
    env = {**product.world.env, "OMARCHY_MCP_VENV": product.venv}
    process = subprocess.Popen(
        [PROGRAM, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def next_object(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next line of a program that goes on, as JSON."""
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def until(process: "subprocess.Popen[str]", **wanted: object) -> dict[str, Any]:
    """The first object with these values."""
    while True:
        found = next_object(process)
        if wanted.items() <= found.items():
            return found


def interrupt(process: "subprocess.Popen[str]") -> int:
    process.send_signal(signal.SIGINT)
    return process.wait(timeout=5)


@contextmanager
def masked(product: Product, unit: str) -> Iterator[None]:
    """A unit nobody can start, whatever file is linked for it."""
    folder = product.world.runtime / "systemd" / "user.control"
    folder.mkdir(parents=True, exist_ok=True)
    product.world.systemctl("stop", unit)
    (folder / unit).symlink_to("/dev/null")
    product.world.systemctl("daemon-reload")
    try:
        yield
    finally:
        (folder / unit).unlink()
        product.world.systemctl("daemon-reload")


@contextmanager
def hanging(product: Product) -> Iterator[None]:
    """The control service stopped in its tracks."""
    product.control.status()
    pid = product.pid(CONTROL)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


# --- status


def test_status_of_a_stopped_server_is_3_and_starts_nothing(product: Product) -> None:
    assert ctl(product, "stop").returncode == 0
    done = ctl(product)
    assert done.returncode == 3
    assert done.stdout.startswith("○ stopped")
    assert "closed, not after the next login" in done.stdout
    assert product.show(SERVICE, "ActiveState") == "inactive"


def test_status_of_a_server_that_serves_is_0(product: Product) -> None:
    product.wake()
    wait_until(lambda: "Tools: 19" in ctl(product, "status").stdout, "the server has reported")
    done = ctl(product, "status")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("● serving")
    assert f"127.0.0.1:{product.port}, held" in done.stdout
    assert str(product.state / "token") in done.stdout
    assert product.token() not in done.stdout


def test_status_of_a_server_that_sleeps_is_0_and_does_not_wake_it(product: Product) -> None:
    product.sleep()
    done = ctl(product, "status")
    assert done.returncode == 0
    assert "asleep" in done.stdout
    assert product.show(SERVICE, "ActiveState") == "inactive"


def test_status_in_json_is_what_the_bus_says(product: Product) -> None:
    done = ctl(product, "status", "--json=short")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    shown, told = json.loads(done.stdout), product.control.status()
    assert set(shown) == set(told)
    assert shown["port"] == product.port
    assert len(ctl(product, "status", "--json=pretty").stdout.splitlines()) > 20


def test_a_taken_port_is_a_failure_that_says_what_to_do(product: Product) -> None:
    ctl(product, "stop")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((wire.HOST, product.port))
        other.listen()
        started = ctl(product, "start")
        assert started.returncode == 1
        assert "another program listens on it" in started.stderr
        assert started.stdout == ""
        status = ctl(product, "status")
        assert status.returncode == 1
        assert status.stdout.splitlines()[1].startswith("  Problem: the port cannot be held")
    assert ctl(product, "start").returncode == 0
    assert ctl(product, "status").returncode == 0


# --- verbs


def test_start_and_stop_hold_and_close_the_port_for_good(product: Product) -> None:
    for verb, active, enabled in (("stop", "inactive", False), ("start", "active", True)):
        done = ctl(product, verb)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith(f"omarchy-mcpctl: {'stopped' if verb == 'stop' else 'started'}")
        assert product.show(SOCKET, "ActiveState") == active
        assert product.control.status()["enabled"] is enabled


def test_restart_makes_another_process(product: Product) -> None:
    before = product.wake()
    assert ctl(product, "restart").returncode == 0
    assert product.wake() != before


def test_reload_of_a_sleeping_server_is_7_in_plain_words(product: Product) -> None:
    product.sleep()
    done = ctl(product, "reload")
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == "omarchy-mcpctl: cannot reload: the server is not running; it reads at its start\n"
    assert f"({NAME}.Error.NotRunning)" in ctl(product, "reload", "-v").stderr
    told = json.loads(ctl(product, "reload", "--json=short").stdout)
    assert told["error"] == f"{NAME}.Error.NotRunning"
    assert told["outcome"] == "failed"


def test_reload_of_a_running_server_is_0(product: Product) -> None:
    product.wake()
    assert ctl(product, "reload").returncode == 0
    assert json.loads(ctl(product, "reload", "-j").stdout) == {"verb": "reload", "outcome": "ok"}


def test_quiet_leaves_errors_alone(product: Product) -> None:
    product.sleep()
    assert ctl(product, "start", "-q").stderr == ""
    assert "not running" in ctl(product, "reload", "-q").stderr


def test_what_an_agent_started_is_told_4(product: Product) -> None:
    done = product.world.run(
        *("systemd-run", "--user", "--quiet", "--pipe", "--wait", "--collect", f"--slice={SLICE}"),
        f"--setenv=OMARCHY_MCP_VENV={product.venv}",
        *(PROGRAM, "stop"),
        check=False,
    )
    assert done.returncode == 4
    assert "what an agent started may not control the service" in done.stderr
    assert product.show(SOCKET, "ActiveState") == "active"


# --- recent


def recent(product: Product, *words: str, **env: str) -> list[dict[str, Any]]:
    done = ctl(product, "recent", "--json=short", *words, **env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_recent_shows_calls_in_order_and_never_arguments(audit: Product) -> None:
    audit.recorded(desktop.ARGV, SECRET)
    audit.recorded(desktop.TRUE)
    done = ctl(audit, "recent", "-n", "50")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["TIME", "OUTCOME", "TOOL", "ROUTE", "TARGET", "DURATION", "CLIENT"]
    routes = [route for row in rows for route in (desktop.ARGV, desktop.TRUE) if f"  {route}  " in row]
    assert routes[-2:] == [desktop.ARGV, desktop.TRUE]
    assert SECRET not in done.stdout
    assert head not in ctl(audit, "recent", "--no-legend").stdout


def test_recent_in_json_is_one_object_a_line_and_never_arguments(audit: Product) -> None:
    entry = audit.recorded(desktop.ARGV, SECRET)
    records = recent(audit, "-n", "20")
    ours = [record for record in records if record.get("call_id") == entry["OMARCHY_MCP_CALL_ID"]]
    assert [record["event"] for record in ours] == ["call"]
    assert (ours[0]["route"], ours[0]["outcome"], ours[0]["unit"]) == (desktop.ARGV, "ok", SERVICE)
    assert SECRET not in json.dumps(records)
    assert not {key for record in records for key in record} & {"args", "args_sha256"}
    assert [record["usec"] for record in records] == sorted(record["usec"] for record in records)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_recent_shows_as_many_as_asked_for(audit: Product, number: int) -> None:
    for _ in range(3):
        audit.recorded(desktop.TRUE)
    assert len(recent(audit, "-n", str(number))) == number


def test_recent_answers_with_the_server_down(audit: Product) -> None:
    entry = audit.recorded(desktop.TRUE)
    audit.sleep()
    assert any(record.get("call_id") == entry["OMARCHY_MCP_CALL_ID"] for record in recent(audit))
    assert audit.show(SERVICE, "ActiveState") == "inactive"


def test_recent_without_a_bus_reads_the_journal_and_says_so(audit: Product) -> None:
    entry = audit.recorded(desktop.ARGV, SECRET)
    done = ctl(audit, "recent", "--json=short", **NO_BUS)
    assert done.returncode == 0
    assert done.stderr.endswith("; reading the journal directly\n")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(record.get("call_id") == entry["OMARCHY_MCP_CALL_ID"] for record in records)
    assert SECRET not in done.stdout


def test_recent_follows_until_interrupted(audit: Product) -> None:
    before = audit.recorded(desktop.TRUE)["OMARCHY_MCP_CALL_ID"]
    with running(audit, "recent", "-f", "-n", "5", "--json=short") as process:
        until(process, call_id=before)
        after = audit.recorded(desktop.ARGV, SECRET)["OMARCHY_MCP_CALL_ID"]
        found = until(process, call_id=after)
        assert found["route"] == desktop.ARGV
        assert SECRET not in json.dumps(found)
        assert interrupt(process) == 0


def test_recent_follows_as_a_table_too(audit: Product) -> None:
    audit.recorded(desktop.TRUE)
    with running(audit, "recent", "-f", "-n", "1") as process:
        assert process.stdout is not None
        assert process.stdout.readline()  # from here on it follows
        audit.recorded(desktop.EXIT, "3")
        line = next(line for line in process.stdout if desktop.EXIT in line)
        assert " failed " in line
        assert interrupt(process) == 0


def test_a_follower_nobody_reads_ends_by_itself(audit: Product) -> None:
    with running(audit, "recent", "-f") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=5) == 0
        process.stdout = None


def test_a_forged_record_is_not_shown(audit: Product) -> None:
    audit.rpc().do(desktop.FORGE)
    audit.recorded(desktop.TRUE)
    for records in (recent(audit, "-n", "30"), recent(audit, "-n", "30", **NO_BUS)):
        assert "forged" not in json.dumps([record["message"] for record in records]).lower()


# --- watch


def test_watch_tells_the_state_then_every_change_and_call(product: Product) -> None:
    product.wake()
    with running(product, "watch", "--json=short") as process:
        first = next_object(process)
        assert first == {
            "type": "state",
            "control": True,
            "state": "serving",
            "pending_questions": 0,
            "pending_review": 0,
            "version": first["version"],
            "api_version": 2,
        }
        product.rpc().do(desktop.ARGV, SECRET)
        called = until(process, type="called", route=desktop.ARGV)
        assert called["outcome"] == "ok"
        assert SECRET not in json.dumps(called)
        ctl(product, "stop")
        until(process, type="state", state="stopped")
        ctl(product, "start")
        until(process, type="state", state="serving")
        assert interrupt(process) == 0


def test_watch_outlives_the_control_service(product: Product) -> None:
    with running(product, "watch") as process:
        until(process, type="state", control=True)
        product.world.systemctl("stop", CONTROL)
        gone = until(process, type="state", control=False)
        assert gone["state"] == "unknown"
        assert product.control.owner() == ""  # watching started nothing
        product.control.status()
        until(process, type="state", control=True, state="serving")


def test_watch_with_no_start_starts_nothing(product: Product) -> None:
    product.world.systemctl("stop", CONTROL)
    with running(product, "watch", "--no-start") as process:
        assert next_object(process)["control"] is False
        assert product.control.owner() == ""
        product.control.status()
        assert next_object(process)["control"] is True


def test_a_watcher_nobody_reads_ends_by_itself(product: Product) -> None:
    with running(product, "watch") as process:
        next_object(process)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=5) == 0
        process.stdout = None


def test_a_watcher_believes_nobody_but_the_control_service(product: Product) -> None:
    with running(product, "watch") as process:
        until(process, type="state", control=True)
        body = ("a{sv}", "1", "route", "s", "omarchy forged")
        path = "/" + NAME.replace(".", "/")
        busctl(product.world, "emit", path, NAME, "Called", *body)
        product.rpc().do(desktop.TRUE)
        assert until(process, type="called")["route"] == desktop.TRUE


# --- when something is missing


def test_a_masked_control_service_is_named_and_the_record_still_shown(product: Product) -> None:
    with masked(product, CONTROL):
        status = ctl(product, "status")
        assert status.returncode == 4
        assert f"{CONTROL}: masked" in status.stdout
        assert f"{CONTROL} is masked; 'systemctl --user unmask {CONTROL}' undoes that" in status.stderr
        told = json.loads(ctl(product, "status", "--json=short").stdout)
        assert told["state"] == "unknown"
        assert told["units"][SOCKET] == "active"
        stop = ctl(product, "stop")
        assert (stop.returncode, stop.stdout) == (7, "")
        assert "is masked" in stop.stderr
        assert "reading the journal directly" in ctl(product, "recent").stderr
    assert ctl(product, "status").returncode == 0


def test_a_control_service_that_hangs_is_said_to_within_its_time(product: Product) -> None:
    with hanging(product):
        status = ctl(product, "status")
        assert status.returncode == 4
        assert "does not answer" in status.stderr
        assert f"{SOCKET}: active" in status.stdout
        start = ctl(product, "start", "-v")
        assert start.returncode == 1
        assert "does not answer" in start.stderr
        assert f"the service manager says: {SOCKET} active" in start.stderr


def test_without_its_activation_file_it_is_not_installed(product: Product) -> None:
    product.world.systemctl("stop", CONTROL)
    services = product.world.folder("XDG_DATA_HOME", ".local/share") / "dbus-1" / "services"
    kept = product.world.scratch / ACTIVATION.name
    reload = ("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    shutil.move(services / ACTIVATION.name, kept)
    busctl(product.world, *reload)
    try:
        done = ctl(product, "start")
        assert done.returncode == 5
        assert "omarchy-mcp-setup" in done.stderr
        assert ctl(product, "status").returncode == 4
    finally:
        shutil.move(kept, services / ACTIVATION.name)
        busctl(product.world, *reload)


@pytest.mark.parametrize(
    ("verb", "code"), [("status", 4), ("start", 7), ("stop", 7), ("restart", 7), ("reload", 7), ("watch", 7)]
)
def test_without_a_bus_every_verb_says_so(product: Product, verb: str, code: int) -> None:
    done = ctl(product, verb, **NO_BUS)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == "omarchy-mcpctl: cannot connect to the session bus: no such file or directory\n"


def test_without_an_environment_it_is_not_configured(product: Product) -> None:
    done = product.world.run(PROGRAM, "status", check=False, OMARCHY_MCP_VENV="/nonexistent")
    assert done.returncode == 6
    assert "omarchy-mcp-setup" in done.stderr


# --- terminals and pipes


def on_a_terminal(product: Product, *words: str, **env: str) -> str:
    """What the program writes to a terminal."""
    main, other = os.openpty()
    clean = {key: value for key, value in product.world.env.items() if key not in ("NO_COLOR", "SYSTEMD_COLORS")}
    process = subprocess.Popen(
        [PROGRAM, *words],
        env={**clean, "OMARCHY_MCP_VENV": product.venv, "TERM": "xterm", **env},
        stdin=other,
        stdout=other,
        stderr=subprocess.DEVNULL,
    )
    os.close(other)
    text = b""
    try:
        while chunk := os.read(main, 65_536):
            text += chunk
    except OSError:  # the last process that had the terminal is gone
        pass
    finally:
        os.close(main)
        process.wait(timeout=10)
    return text.decode().replace("\r\n", "\n")


def test_colours_are_for_terminals(product: Product) -> None:
    assert "\x1b[32;1m● serving\x1b[0m" in on_a_terminal(product, "status")
    assert "\x1b" not in on_a_terminal(product, "status", NO_COLOR="1")
    assert "\x1b" not in ctl(product, "status").stdout
    assert "\x1b" in ctl(product, "status", SYSTEMD_COLORS="1").stdout


def test_j_is_pretty_on_a_terminal_alone(product: Product) -> None:
    assert len(on_a_terminal(product, "-j").splitlines()) > 20
    assert len(ctl(product, "-j").stdout.splitlines()) == 1


def test_recent_pages_on_a_terminal_unless_told_not_to(audit: Product, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged\ncat\n", encoding="utf-8")
    pager.chmod(0o755)
    tmp_path.chmod(0o755)
    audit.recorded(desktop.TRUE)
    assert on_a_terminal(audit, "recent", PAGER=str(pager)).startswith("paged\n\x1b[4mTIME")
    assert not on_a_terminal(audit, "recent", "--no-pager", PAGER=str(pager)).startswith("paged")
    assert not ctl(audit, "recent", PAGER=str(pager)).stdout.startswith("paged")
    assert "TIME" in on_a_terminal(audit, "recent", PAGER="/nonexistent")


def test_a_reader_that_has_had_enough_is_no_failure(audit: Product) -> None:
    line = f"set -o pipefail; {PROGRAM} help | head -c1 >/dev/null; {PROGRAM} recent -n 1000 | head -n1 >/dev/null"
    done = audit.world.run("bash", "-c", line, check=False, OMARCHY_MCP_VENV=audit.venv)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_written_beside_the_program(product: Product) -> None:
    copy = product.world.scratch / "copy"
    for folder in ("bin", "src", "docs/man"):
        shutil.copytree(REPO / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = set(copy.rglob("*"))
    program = str(copy / "bin" / "omarchy-mcpctl")
    for verb in ("status", "recent", "help"):
        product.world.run("env", f"OMARCHY_MCP_VENV={product.venv}", program, verb, check=False)
    assert set(copy.rglob("*")) == before


def test_the_interpreter_loads_neither_the_servers_libraries_nor_the_journal_for_a_status(product: Product) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from omarchy_mcp.cli.__main__ import main; main(['status']);"
        "print(*sorted(name for name in ('mcp', 'uvicorn', 'pydantic', 'systemd', 'ssl') if name in sys.modules))"
    )
    done = product.world.run(f"{product.venv}/bin/python", "-IBc", code, str(REPO / "src"))
    loaded = done.stdout.splitlines()[-1].split()
    assert set(loaded) <= {"ssl"}  # asyncio's own


# --- jobs, freeze


def test_jobs_are_shown_and_ended(product: Product) -> None:
    none = ctl(product, "jobs")
    assert (none.returncode, none.stdout, none.stderr) == (
        0,
        "",
        "omarchy-mcpctl: no command of an agent's is running\n",
    )
    job = product.rpc().do(desktop.SLEEP, "60", SECRET, detach=True).data["job"]
    shown = ctl(product, "jobs")
    head, row = shown.stdout.splitlines()
    assert head.split() == ["JOB", "STATE", "STARTED", "CLIENT", "ROUTE"]
    assert row.startswith(f"{job}  running")
    assert row.endswith(f"default  {desktop.SLEEP}")
    assert SECRET not in shown.stdout
    assert json.loads(ctl(product, "jobs", "--json").stdout)["id"] == job
    assert ctl(product, "stop-job", job).returncode == 0
    again = ctl(product, "stop-job", job)
    assert (again.returncode, again.stdout) == (1, "")
    assert "none of that id is running" in again.stderr


def test_freeze_and_thaw(product: Product) -> None:
    product.wake()
    frozen = ctl(product, "freeze")
    try:
        assert (frozen.returncode, frozen.stdout) == (0, "")
        assert "thaw" in frozen.stderr
        assert ctl(product).stdout.startswith("● frozen")
        assert product.rpc().do(desktop.TRUE).outcome == "refused"
    finally:
        thawed = ctl(product, "thaw", "--json=short")
    assert json.loads(thawed.stdout) == {"verb": "thaw", "outcome": "ok"}
    assert ctl(product).stdout.startswith("● serving")
