"""The server dies, hangs, stops and starts, and nobody is left without an answer or an account."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from system import client, desktop, journal, wire
from system.client import Era, Rpc
from system.product import CONTROL, SERVICE, SOCKET, Product
from system.streams import Held
from system.world import UnmetError, alive, wait_until

CRASHES = 30
STOP_SECONDS = 5.0
MANAGER_SECONDS = 30.0


def test_a_hung_server_is_ended_by_the_watchdog_and_the_next_request_is_served(product: Product) -> None:
    with product.changed(SERVICE, "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=500ms\n"):
        rpc = product.rpc()
        rpc.do(desktop.TRUE)
        pid = product.pid()
        product.world.systemctl("kill", "--kill-whom=main", "--signal=STOP", SERVICE)
        # a request taken by the dying process is lost with it; one that waits for the next is served
        wait_until(lambda: _served(rpc), "the next request is served", 20)
        assert product.pid() not in {0, pid}
        assert int(product.show(SERVICE, "NRestarts")) >= 1


def test_a_command_whose_server_was_killed_ends_and_its_fate_is_known(audit: Product) -> None:
    since = journal.moment(0.5)
    rpc = audit.rpc()
    killed = threading.Thread(target=_call_that_is_cut, args=(rpc, "8", "cut"))
    killed.start()
    (job_pid,) = wait_until(lambda: audit.desktop.pids("cut"), "the command has begun")
    audit.world.run("kill", "-KILL", str(audit.pid()))
    killed.join(10)
    audit.wake()
    assert alive(job_pid), "the command outlives its server"

    def fate() -> str:
        rows = [
            entry
            for event in ("job", "call")
            for entry in audit.records(event, since=since)
            if entry.get("OMARCHY_MCP_ROUTE") == desktop.SLEEP
        ]
        return next((entry["OMARCHY_MCP_OUTCOME"] for entry in rows if entry["OMARCHY_MCP_OUTCOME"] != "running"), "")

    assert wait_until(fate, "the job's end is on record", 20) == "ok"
    assert any(
        row.get("route") == desktop.SLEEP and row.get("outcome") == "ok" and row["usec"] > since * 1e6
        for row in audit.control.recent(20)
    )


def test_a_command_that_ended_while_no_server_ran_has_its_end_on_record(audit: Product) -> None:
    since = journal.moment(0.5)
    rpc = audit.rpc()
    job = rpc.do(desktop.SLEEP, "1", "alone", timeout_ms=300, detach=True).data["job"]
    audit.world.systemctl("stop", SERVICE)
    wait_until(lambda: audit.desktop.ran("alone"), "the command has ended")
    wait_until(lambda: not audit.job_unit(job), "its unit is gone")
    audit.wake()
    wait_until(
        lambda: any(
            entry.get("OMARCHY_MCP_JOB", "").endswith(job) or entry.get("OMARCHY_MCP_CALL_ID") == job
            for entry in audit.records("job", since=since)
        ),
        "the job's end is on record",
    )


def test_stop_with_clients_attached_is_quick_clean_and_recorded(audit: Product) -> None:
    audit.rpc().do(desktop.TRUE)
    since = journal.moment(0.1)
    with Held(audit, Era.HANDSHAKE, again=False) as old, Held(audit, Era.MODERN, again=False) as new:
        begun = time.monotonic()
        # the socket stays: a unit nobody refers to forgets how it ended
        audit.world.systemctl("stop", SERVICE)
        took = time.monotonic() - begun
        assert audit.show(SERVICE, "Result") == "success"
        assert audit.show(SERVICE, "ExecMainStatus") == "0"
        assert audit.show(SERVICE, "ExecMainCode") == "1"
        wait_until(lambda: old.ends["clean"] and new.ends["clean"], "both streams ended as they should")
    assert took < STOP_SECONDS
    stopped = [entry for entry in audit.records("lifecycle", since=since) if "stopped" in str(entry)]
    assert len(stopped) == 1


def test_stop_with_a_running_command_is_quick_and_its_fate_is_on_record(audit: Product) -> None:
    rpc, since = audit.rpc(), journal.moment()
    caller = threading.Thread(target=_call_that_is_cut, args=(rpc, "60", "kept"))
    caller.start()
    (pid,) = wait_until(lambda: audit.desktop.pids("kept"), "the command has begun")
    begun = time.monotonic()
    audit.world.systemctl("stop", SERVICE)
    assert time.monotonic() - begun < STOP_SECONDS
    assert audit.show(SERVICE, "Result") == "success"
    caller.join(10)
    running = alive(pid)
    audit.wake()

    def told() -> list[str]:
        entries = [entry for event in ("call", "job") for entry in audit.records(event, since=since)]
        return [entry["OMARCHY_MCP_OUTCOME"] for entry in entries if entry.get("OMARCHY_MCP_ROUTE") == desktop.SLEEP]

    outcomes = wait_until(told, "a record of what became of the command")
    assert set(outcomes) <= ({"running"} if running else {"cancelled", "failed"}), outcomes
    assert alive(pid) == running


def test_a_second_sigterm_does_not_spoil_the_stop(audit: Product) -> None:
    pid = audit.wake()
    since = journal.moment(0.1)
    for _ in range(2):
        audit.world.run("kill", "-TERM", str(pid), check=False)
    wait_until(lambda: not alive(pid), "it is gone")
    wait_until(lambda: audit.show(SERVICE, "ActiveState") == "inactive" or audit.pid() not in {0, pid}, "it ended")
    assert audit.show(SERVICE, "Result") == "success"
    wait_until(lambda: "stopped" in str(audit.records("lifecycle", since=since)), "a record of the stop")


def test_a_session_of_before_the_restart_is_told_so_and_can_begin_anew(product: Product) -> None:
    rpc = product.rpc(Era.HANDSHAKE)
    product.restart()
    stale = rpc.post("tools/list", {})
    if stale.status != 200:  # a server may also take the session over
        assert stale.status == 404
        assert "error" in stale.json()
    fresh = product.rpc(Era.HANDSHAKE)
    assert fresh.ask("tools/list", {})["tools"]
    rpc.token = "wrong"
    assert rpc.post("tools/list", {}).status == 401


def test_a_session_that_is_over_and_its_successor_share_a_connection(product: Product) -> None:
    rpc = product.rpc(Era.HANDSHAKE)
    product.restart()
    product.wake()
    connection = http.client.HTTPConnection(wire.HOST, product.port, timeout=30)
    with contextlib.closing(connection):
        connection.connect()
        own = connection.sock

        def post(method: str, params: dict[str, Any], session: str) -> http.client.HTTPResponse:
            sent = client.headers(product.token(), Era.HANDSHAKE, method, session=session)
            connection.request("POST", "/mcp", client.message(method, params, Era.HANDSHAKE), sent)
            return connection.getresponse()

        with post("tools/list", {}, rpc.session) as stale:
            error = json.loads(stale.read())
            assert (stale.status, error["jsonrpc"]) == (404, "2.0")
            assert error["error"]["message"]
        with post("initialize", client.INITIALIZE, "") as fresh:
            assert fresh.status == 200
            assert fresh.read()
        assert connection.sock is own


def test_a_crash_loop_leaves_a_server_that_start_repairs(product: Product) -> None:
    with _broken_environment(product):
        product.sleep()
        for _ in range(CRASHES):
            _knock(product.port)
        wait_until(lambda: product.control.status()["state"] in {"failed", "starting"}, "Status tells of the trouble")
    product.control.call("Start")
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.rpc().do(desktop.TRUE).outcome == "ok"
    assert product.control.status()["state"] == "serving"


def test_after_a_crash_loop_the_next_connection_alone_is_served_once_repaired(product: Product) -> None:
    with _broken_environment(product):
        product.sleep()
        for _ in range(CRASHES):
            _knock(product.port)
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.wake()


def test_stop_and_start_outlive_a_login(product: Product) -> None:
    if not product.world.private:
        pytest.skip("the tests run inside this manager; the private session restarts one")
    product.wake()
    product.control.call("Stop")
    product.world.restart_manager()
    product.tell_manager()
    assert product.show(SOCKET, "ActiveState") == "inactive"
    assert product.control.status()["state"] == "stopped"
    product.control.call("Start")
    assert product.show(SOCKET, "ActiveState") == "active"
    product.world.restart_manager()
    product.tell_manager()
    wait_until(lambda: product.show(SOCKET, "ActiveState") == "active", "the socket is there after a login")
    assert product.rpc().do(desktop.TRUE).outcome == "ok"


def test_a_stopped_server_stays_stopped_with_a_client_that_reconnects(product: Product) -> None:
    with Held(product, Era.MODERN):
        product.control.call("Stop")
        with pytest.raises(UnmetError):
            wait_until(lambda: product.show(SERVICE, "ActiveState") != "inactive", "it came back", 3)
        product.control.call("Start")


def test_both_services_are_back_after_the_bus_was_lost(product: Product) -> None:
    if not product.world.private:
        pytest.skip("the lab's session needs its bus")
    product.control.status()
    product.rpc().do(desktop.TRUE)
    before = product.pid(CONTROL)
    product.world.systemctl("restart", "dbus.service")
    wait_until(lambda: product.pid(CONTROL) not in {0, before}, "another control service runs", 15)
    wait_until(lambda: _serves(product), "the name is owned again", 15)
    assert product.rpc().do(desktop.TRUE).outcome == "ok"


def test_a_port_that_somebody_else_holds_is_said_and_start_works_once_it_is_free(product: Product) -> None:
    product.control.call("Stop")
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind((wire.HOST, product.port))
        squatter.listen()
        error, _ = product.control.raw("Start")
        assert error
        status = product.control.status()
        assert status["state"] == "failed"
        assert "port" in status["problem"]
        assert "in use" in status["problem"] or "another program" in status["problem"]
    product.control.call("Start")
    assert product.rpc().do(desktop.TRUE).outcome == "ok"


def test_our_own_programs_never_give_the_token_to_somebody_elses_server(product: Product) -> None:
    token = product.token().encode()
    product.control.call("Stop")
    heard: list[bytes] = []
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind((wire.HOST, product.port))
        squatter.listen()
        squatter.settimeout(0.2)
        listener = threading.Thread(target=_eavesdrop, args=(squatter, heard))
        listener.start()
        product.control.raw("Start")
        product.control.status()
        listener.join(10)
    assert token not in b"".join(heard)


def test_a_server_without_a_desktop_still_answers_a_client(product: Product) -> None:
    product.world.systemctl("unset-environment", "OMARCHY_PATH")
    try:
        product.sleep()
        assert len(product.rpc().ask("tools/list", {})["tools"]) >= 4
    finally:
        product.tell_manager()


def _served(rpc: Rpc) -> bool:
    try:
        return rpc.do(desktop.TRUE, seconds=20).outcome == "ok"
    except ConnectionResetError:
        return False


def _serves(product: Product) -> bool:
    error, _ = product.control.raw("Status")
    return not error


def _eavesdrop(squatter: socket.socket, heard: list[bytes]) -> None:
    end = time.monotonic() + 2
    while time.monotonic() < end:
        try:
            connection, _ = squatter.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(0.5)
            heard.append(connection.recv(65536))


def _call_that_is_cut(rpc: Rpc, seconds: str, note: str) -> None:
    try:
        rpc.do(desktop.SLEEP, seconds, note, timeout_ms=60_000, seconds=20)
    except (OSError, AssertionError, http.client.HTTPException):
        return


def _knock(port: int) -> None:
    """Connect as a client would that finds nobody: whether and how it is answered does not matter here."""
    try:
        with socket.create_connection((wire.HOST, port), timeout=1) as connection:
            connection.settimeout(0.02)
            connection.sendall(b"GET /health HTTP/1.1\r\n\r\n")
            connection.recv(1)
    except OSError:
        return


@contextmanager
def _broken_environment(product: Product) -> Iterator[None]:
    """The units find a Python that ends at once."""
    broken = product.world.scratch / "broken" / "bin"
    broken.mkdir(parents=True, exist_ok=True)
    program = broken / "python"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    product.control.status()  # the control service runs on: it is the one to tell
    product.world.systemctl("set-environment", f"OMARCHY_MCP_VENV={broken.parent}")
    try:
        yield
    finally:
        product.tell_manager()
