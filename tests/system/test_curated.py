"""The acting tools: what a person would see, and the gate they share with every other call."""

from typing import Any

import pytest

from system.client import Era, Rpc
from system.product import Product
from system.world import wait_until


@pytest.mark.parametrize("era", list(Era))
def test_a_theme_is_listed_set_and_said(product: Product, era: Era) -> None:
    rpc = product.rpc(era)
    before = rpc.call("omarchy_theme").data["stdout"].strip()
    names = rpc.call("omarchy_theme", action="list").data["stdout"].split("\n")
    other = next(name for name in names if name and name != before)
    answer = rpc.call("omarchy_theme", action="set", name=other)
    assert (answer.outcome, answer.data["route"], answer.data["tier"]) == ("ok", "omarchy theme set", "safe")
    assert rpc.call("omarchy_theme").data["stdout"].strip() == other


def test_what_is_set_is_what_the_desktop_shows(product: Product, rpc: Rpc) -> None:
    def fact(name: str) -> str:
        return (product.desktop.state / name).read_text(encoding="utf-8").strip()

    rpc.call("omarchy_theme")  # the drawn desktop is there
    rpc.call("omarchy_brightness", value="40%")
    assert fact("brightness") == "40"
    assert "40" in rpc.call("omarchy_brightness").data["stdout"]
    before = int(fact("volume"))
    rpc.call("omarchy_audio", level="+7" if before < 90 else "-7")
    assert abs(int(fact("volume")) - before) == 7
    rpc.call("omarchy_toggle", feature="bar", state="off")
    assert fact("bar") == "off"
    rpc.call("omarchy_toggle", feature="bar", state="on")
    assert fact("bar") == "on"
    rpc.call("omarchy_osd", message="Half way", progress=50)
    assert fact("osd") == "Half way 50%"
    shown = fact("background")
    assert rpc.call("omarchy_background", action="next").outcome == "ok"
    assert fact("background") != shown
    assert rpc.call("omarchy_media", action="play").outcome == "ok"
    assert fact("media") == "playing"
    assert '"playing":true' in rpc.call("omarchy_media").data["stdout"]


def test_a_notification_is_shown_and_cannot_be_one_of_ours(rpc: Rpc) -> None:
    assert rpc.call("omarchy_notify", headline="Tea", description="It has steeped").data["tier"] == "safe"
    rows: list[dict[str, Any]] = [
        {"headline": "Approval needed"},
        {"headline": "Tea", "urgency": "critical"},
        {"headline": "--exec"},
    ]
    for words in rows:
        answer = rpc.call("omarchy_notify", **words)
        assert (answer.outcome, answer.failed) == ("refused", True), words


def test_a_program_is_opened_and_not_waited_for(product: Product, rpc: Rpc) -> None:
    answer = rpc.call("omarchy_launch", what="browser", target="https://example.org/")
    assert answer.outcome in {"ok", "running"}, answer
    assert answer.seconds < 5
    windows = product.desktop.state / "windows"
    wait_until(lambda: "example.org" in windows.read_text(encoding="utf-8"), "its window is there")
    refused = rpc.call("omarchy_launch", what="browser", target="--utility-cmd-prefix=x")
    assert refused.outcome == "refused"


def test_what_the_person_denies_is_denied_by_every_name(product: Product, rpc: Rpc) -> None:
    kept = product.desktop.config.read_bytes()
    product.desktop.write_config('deny = ["theme set", "shell media"]\n')
    product.world.systemctl("reload", "omarchy-mcp.service")
    try:
        wait_until(lambda: rpc.call("omarchy_theme", action="set", name="Nord").failed, "the file is in force")
        for tool, arguments in (
            ("omarchy_theme", {"action": "set", "name": "Nord"}),
            ("omarchy_media", {"action": "play"}),
            ("omarchy_run", {"route": "omarchy theme set", "args": ["Nord"]}),
        ):
            answer = rpc.call(tool, **arguments)
            assert (answer.outcome, answer.failed) == ("refused", True), tool
            assert "denies" in answer.data["reason"]
    finally:
        product.desktop.config.write_bytes(kept)
        product.world.systemctl("reload", "omarchy-mcp.service")
        wait_until(lambda: rpc.call("omarchy_theme", action="set", name="Nord").outcome == "ok", "the old one is back")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("omarchy_theme", {"action": "paint"}),
        ("omarchy_theme", {"action": "set"}),
        ("omarchy_theme", {"action": "set", "name": "../../etc"}),
        ("omarchy_background", {"action": "set", "path": "../x"}),
        ("omarchy_background", {"action": "set", "path": "/not/there.png"}),
        ("omarchy_audio", {"level": "loud"}),
        ("omarchy_brightness", {"value": "101%"}),
        ("omarchy_osd", {}),
        ("omarchy_osd", {"progress": 101}),
        ("omarchy_toggle", {}),
        ("omarchy_toggle", {"feature": "touchpad", "state": "status"}),
        ("omarchy_launch", {"what": "shell"}),
        ("omarchy_notify", {"headline": ""}),
    ],
)
def test_what_cannot_be_meant_is_an_error_that_says_so(rpc: Rpc, tool: str, arguments: dict[str, Any]) -> None:
    answer = rpc.call(tool, **arguments)
    assert answer.failed
    assert answer.text
    assert "Traceback" not in answer.text
