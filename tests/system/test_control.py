"""The person's door: what busctl shows and does, with the server up, asleep, or rude callers at work."""

import asyncio
import xml.etree.ElementTree as ET

import pytest

from system import bus, desktop
from system.bus import ERROR, NAME, PATH
from system.product import CONTROL, SERVICE, SOCKET, Product
from system.world import REPO, wait_until

XML = REPO / "src" / "omarchy_mcp" / "control" / "interface.xml"
FIRST_GROUP = {"Start", "Stop", "Restart", "Reload", "Status", "Recent", "Questions", "Approve", "Deny"}
STATES = {"stopped", "starting", "serving", "frozen", "failed"}
STATUS_KEYS = {
    "state",
    "port",
    "version",
    "tools",
    "tools_declared",
    "config_ok",
    "config_problem",
    "omarchy_path",
    "audit",
    "clients",
    "calls",
    "failures",
    "uptime_usec",
    "pending",
    "frozen",
    "last_tool",
}
LONG = "x" * 1_000_000


def members(text: str) -> dict[str, list[tuple[str, str]]]:
    """What an interface's XML promises, without documentation."""
    root = ET.fromstring(text)
    found: dict[str, list[tuple[str, str]]] = {}
    for interface in root.iter("interface"):
        if interface.get("name") != NAME:
            continue
        for member in interface:
            if member.tag in {"method", "signal", "property"}:
                arguments = [(arg.get("direction", "out"), arg.get("type", "")) for arg in member.iter("arg")]
                if member.tag == "property":
                    arguments = [(member.get("access", ""), member.get("type", ""))]
                found[f"{member.tag} {member.get('name')}"] = arguments
    return found


def test_live_introspection_is_the_xml_that_is_checked_in(product: Product) -> None:
    error, body = product.control.raw("Introspect", interface="org.freedesktop.DBus.Introspectable")
    assert not error
    live = members(body[0])
    assert live == members(XML.read_text(encoding="utf-8"))
    assert {f"method {name}" for name in FIRST_GROUP} <= set(live)


def test_busctl_introspects_it_by_hand(product: Product) -> None:
    shown = product.world.run("busctl", "--user", "introspect", NAME, PATH).stdout
    assert all(f".{name}" in shown for name in FIRST_GROUP)
    assert "-2" not in shown


def test_status_tells_what_the_contract_promises(product: Product) -> None:
    product.rpc().do(desktop.TRUE)
    status = product.control.status()
    assert set(status) >= STATUS_KEYS
    assert status["state"] == "serving"
    assert status["port"] == product.port
    assert status["tools"] >= 4
    assert status["omarchy_path"] == str(product.desktop.path)
    assert status["config_ok"] is True


def test_status_and_recent_answer_with_the_server_down_and_do_not_start_it(audit: Product) -> None:
    audit.rpc().do(desktop.TRUE)
    audit.sleep()
    assert audit.control.status()["state"] in STATES
    assert audit.control.recent(5)
    assert audit.show(SERVICE, "ActiveState") == "inactive"


def test_status_and_recent_answer_after_stop_and_do_not_start_it(audit: Product) -> None:
    audit.control.call("Stop")
    assert audit.control.status()["state"] == "stopped"
    assert audit.control.recent(5)
    assert audit.show(SERVICE, "ActiveState") == "inactive"
    assert audit.show(SOCKET, "ActiveState") == "inactive"


def test_asking_for_the_state_without_auto_start_starts_nothing(product: Product) -> None:
    product.world.systemctl("stop", CONTROL)
    wait_until(lambda: not product.control.owner(), "nobody owns the name")
    bus.busctl(product.world, "--auto-start=no", "call", NAME, PATH, NAME, "Status", check=False)
    assert product.control.owner() == ""
    assert product.show(CONTROL, "ActiveState") == "inactive"


def test_a_call_activates_the_control_service(product: Product) -> None:
    product.world.systemctl("stop", CONTROL)
    assert product.control.status()["state"] in STATES
    assert product.show(CONTROL, "ActiveState") == "active"


def test_stop_closes_the_port_and_start_opens_it(product: Product) -> None:
    product.wake()
    product.control.call("Stop")
    assert product.show(SOCKET, "ActiveState") == "inactive"
    assert product.show(SERVICE, "ActiveState") == "inactive"
    assert not product.healthy()
    product.control.call("Start")
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.rpc().do(desktop.TRUE).outcome == "ok"
    assert product.control.status()["state"] == "serving"


def test_restart_keeps_the_port_open_and_brings_another_server(product: Product) -> None:
    before = product.wake()
    product.control.call("Restart")
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.wake() != before


def test_reload_keeps_the_same_server(product: Product) -> None:
    before = product.wake()
    product.control.call("Reload")
    assert product.wake() == before


def test_questions_are_none_while_nothing_asks(product: Product) -> None:
    assert product.control.call("Questions") == []
    assert product.control.get("PendingQuestions") == 0


@pytest.mark.parametrize("member", ["Approve", "Deny"])
@pytest.mark.parametrize("question", ["", "nope", "0123456789ab", "../..", LONG])
def test_an_answer_to_no_question_is_not_found(product: Product, member: str, question: str) -> None:
    error, body = product.control.raw(member, "sa{sv}", (question, {}))
    assert error == f"{ERROR}NotFound"
    assert "Traceback" not in str(body)


def test_the_properties_are_those_of_the_contract(product: Product) -> None:
    product.wake()
    assert product.control.get("State") in STATES
    assert product.control.get("ApiVersion") >= 1
    assert product.control.get("Version")


def test_changes_of_state_are_signalled(product: Product) -> None:
    product.wake()

    def stop_and_start() -> None:
        product.control.call("Stop")
        product.control.call("Start")

    heard = asyncio.run(bus.states(product.world, stop_and_start))
    assert "stopped" in heard
    assert heard[-1] == "serving"


@pytest.mark.parametrize("count", [0, 1, 4_294_967_295])
def test_recent_is_bounded_whatever_is_asked(audit: Product, count: int) -> None:
    audit.rpc().do(desktop.TRUE)
    error, body = audit.control.raw("Recent", "ua{sv}", (count, {}))
    assert not error
    assert len(body[0]) <= min(count, 1_000)
