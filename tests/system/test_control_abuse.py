"""Rude callers of the control service: it answers, stays on the bus, and does not do what it must not."""

from typing import Any

import pytest

from system import bus, desktop, journal
from system.bus import NAME, PATH
from system.client import Rpc
from system.product import CONTROL, SOCKET, Product
from system.world import REPO, wait_until

STATES = {"stopped", "starting", "serving", "frozen", "failed"}
LONG = "x" * 1_000_000
MALFORMED: list[tuple[str, str, tuple[Any, ...]]] = [
    ("Status", "s", ("surplus",)),
    ("Recent", "", ()),
    ("Recent", "s", ("8",)),
    ("Recent", "u", (8,)),
    ("Recent", "ia{sv}", (-1, {})),
    ("Recent", "ua{ss}", (8, {"a": "b"})),
    ("Approve", "s", ("id",)),
    ("Approve", "ua{sv}", (1, {})),
    ("Approve", "sa{sv}", (LONG, {"digest": bus.text(LONG)})),
    ("Deny", "sa{sv}s", ("id", {}, "surplus")),
    ("Stop", "b", (True,)),
    ("Freeze", "s", ("surplus",)),
    ("Jobs", "s", ("surplus",)),
    ("StopJob", "", ()),
    ("StopJob", "s", (LONG,)),
    ("StopJob", "s", ("*",)),
    ("Nothing", "", ()),
    ("", "", ()),
]


@pytest.mark.parametrize(("member", "signature", "body"), [row for row in MALFORMED if row[0]])
def test_a_malformed_call_is_answered_by_an_error_and_harms_nothing(
    product: Product, member: str, signature: str, body: tuple[Any, ...]
) -> None:
    product.control.status()
    owner, state = product.control.owner(), product.show(SOCKET, "ActiveState")
    error, answer = product.control.raw(member, signature, body)
    assert error
    assert "Traceback" not in str(answer)
    assert ".py" not in str(answer)
    assert len(str(answer)) < 2_000
    assert product.control.owner() == owner
    assert product.show(SOCKET, "ActiveState") == state


@pytest.mark.parametrize(
    ("member", "signature", "body"),
    [
        ("Get", "ss", (NAME, "Nothing")),
        ("Get", "ss", ("org.example.Other", "State")),
        ("Set", "ssv", (NAME, "State", bus.text("stopped"))),
        ("GetAll", "u", (1,)),
    ],
)
def test_a_malformed_question_for_a_property_is_answered_by_an_error(
    product: Product, member: str, signature: str, body: tuple[Any, ...]
) -> None:
    error, answer = product.control.raw(member, signature, body, interface="org.freedesktop.DBus.Properties")
    assert error
    assert "Traceback" not in str(answer)
    assert product.control.status()["state"] in STATES


@pytest.mark.parametrize("path", ["/", "/io", f"{PATH}/nothing", f"{PATH}/question/0123456789ab"])
def test_a_call_to_an_object_that_is_not_there_is_an_error(product: Product, path: str) -> None:
    error, answer = product.control.raw("Status", path=path)
    assert error
    assert "Traceback" not in str(answer)


@pytest.mark.parametrize(
    "member", ["Stop", "Start", "Restart", "Reload", "Freeze", "Thaw", "StopJob", "Approve", "Deny"]
)
def test_a_desktop_command_cannot_use_the_persons_door(product: Product, rpc: Rpc, member: str) -> None:
    product.control.status()
    server = product.wake()
    answer = rpc.do(desktop.CALL_BUS, member)
    assert answer.outcome == "failed", answer
    assert answer.data["stderr"]
    assert "Traceback" not in answer.data["stderr"]
    if member not in {"Approve", "Deny"}:
        assert "agent" in answer.data["stderr"] or "denied" in answer.data["stderr"].lower()
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.pid() == server


@pytest.mark.parametrize("argument", ["a\0b", "\u200e\u202e\ufffe", LONG, "\x1b[31m"])
def test_nothing_an_agent_sends_throws_the_control_service_off_the_bus(audit: Product, argument: str) -> None:
    audit.control.status()
    owner = audit.control.owner()
    for arguments in ({"route": argument, "args": []}, {"route": desktop.ARGV, "args": [argument]}):
        audit.rpc().post("tools/call", {"name": "omarchy_run", "arguments": arguments}, name="omarchy_run")
    assert audit.control.status()
    assert audit.control.recent(50)
    error, body = audit.control.raw("GetAll", "s", (NAME,), interface="org.freedesktop.DBus.Properties")
    assert (error, bool(body)) == ("", True)
    assert audit.control.owner() == owner


def test_the_control_service_is_back_after_it_was_killed(product: Product) -> None:
    product.control.status()
    product.wake()
    pid, owner = product.pid(CONTROL), product.control.owner()
    product.world.run("kill", "-KILL", str(pid))
    wait_until(lambda: product.control.owner() != owner, "the bus has seen its end")
    assert product.control.status()["state"] == "serving"
    assert product.pid(CONTROL) not in {0, pid}
    assert product.rpc().do(desktop.TRUE).outcome == "ok"


def test_the_name_is_never_shared_with_a_second_copy(product: Product) -> None:
    product.control.status()
    owner = product.control.owner()
    second = product.world.run(
        str(REPO / "bin" / "omarchy-mcpd"), "control", check=False, seconds=10, **product.manager_environment
    )
    assert second.returncode != 0
    assert product.control.owner() == owner


def test_a_name_that_somebody_else_took_ends_the_service_and_does_not_make_it_loop(product: Product) -> None:
    product.world.systemctl("stop", CONTROL)
    with bus.taken(product.world, NAME):
        product.world.systemctl("start", CONTROL, check=False)
        wait_until(lambda: product.show(CONTROL, "ActiveState") in {"failed", "inactive"}, "it gave up")
        assert int(product.show(CONTROL, "NRestarts")) <= 1
    product.world.systemctl("reset-failed", CONTROL)
    assert product.control.status()["state"] in STATES


def test_malformed_json_never_reaches_the_journal_as_a_traceback(product: Product, rpc: Rpc) -> None:
    since = journal.moment()
    for params in (
        {},
        {"name": "omarchy_run"},
        {"name": "omarchy_run", "arguments": {"route": 1}},
        {"name": "nothing"},
    ):
        rpc.post("tools/call", params, name=str(params.get("name", "")))
    product.control.status()
    assert "Traceback" not in product.words(since)
