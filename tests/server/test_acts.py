"""What each acting tool comes to."""

import pytest

from omarchy_mcp.server import acts
from omarchy_mcp.server.acts import TOGGLES, Act, Function, Route


def route(name: str, *args: str) -> Route:
    return Route(route=f"omarchy {name}", args=args)


ROWS: tuple[tuple[Act, Act], ...] = (
    (acts.notify("Tea", "", "normal", ""), route("notification send", "-u", "normal", "Tea")),
    (acts.notify("Tea", "Hot", "low", "x"), route("notification send", "-g", "x", "-u", "low", "Tea", "Hot")),
    (acts.osd("", "", 0, 0), route("osd", "-p", "0")),
    (acts.osd("Hi", "bell", -1, 900), route("osd", "-i", "bell", "-m", "Hi", "-d", "900")),
    (acts.theme("current", ""), route("theme current")),
    (acts.theme("list", "ignored"), route("theme list")),
    (acts.theme("set", "Nord"), route("theme set", "Nord")),
    (acts.background("next", ""), route("theme bg next")),
    (acts.background("set", "/a.png"), route("theme bg set", "/a.png")),
    (acts.audio("volume", ""), route("audio output volume", "raise")),
    (acts.audio("volume", "-10"), route("audio output volume", "-10")),
    (acts.audio("mute", "raise"), route("audio output volume", "mute-toggle")),
    (acts.audio("mic_mute", "raise"), route("audio input mute")),
    (acts.audio("switch_output", "raise"), route("audio output switch")),
    (acts.brightness("display", ""), route("brightness display")),
    (acts.brightness("display", "off"), route("brightness display", "off")),
    (acts.brightness("display", "50"), route("brightness display", "50%")),
    (acts.brightness("display", "100%"), route("brightness display", "100%")),
    (acts.brightness("display", "+5"), route("brightness display", "+5%")),
    (acts.brightness("display", "-5%"), route("brightness display", "5%-")),
    (acts.brightness("display", "5%-"), route("brightness display", "5%-")),
    (acts.brightness("keyboard", "cycle"), route("brightness keyboard", "cycle")),
    (acts.media("next"), Function(target="media", function="next")),
    (acts.toggle("bar", "off"), route("toggle bar", "off")),
    (acts.toggle("idle", "off"), route("toggle idle", "stay-awake")),
    (acts.toggle("screensaver", "off"), route("toggle", "screensaver-off", "on")),
    (acts.toggle("nightlight", "on"), Function(target="nightlight", function="enable")),
    (acts.launch("browser", ""), route("launch browser")),
    (acts.launch("webapp", "https://a.b"), route("launch webapp", "https://a.b")),
    (acts.launch("editor", "/a"), route("launch editor", "/a")),
    (acts.launch("terminal", ""), route("launch terminal")),
    (acts.launch("files", ""), route("launch nautilus")),
)

WRONG: tuple[tuple[Act, str], ...] = (
    (acts.notify("-a", "", "low", ""), "headline"),
    (acts.notify("a", "--exec", "low", ""), "description"),
    (acts.notify("a", "b", "low", "-x"), "glyph"),
    (acts.osd("", "bell", -1, 0), "message"),
    (acts.theme("set", ""), "name"),
    (acts.background("set", ""), "path"),
    (acts.background("set", "a.png"), "absolute"),
    (acts.audio("volume", "50"), "level"),
    (acts.audio("volume", "+1; x"), "level"),
    (acts.brightness("display", "200%"), "percentage"),
    (acts.brightness("display", "+5-"), "percentage"),
    (acts.brightness("display", "--no-osd"), "percentage"),
    (acts.brightness("keyboard", ""), "up, down"),
    (acts.toggle("bar", "status"), "toggle, on, off"),
    (acts.launch("webapp", ""), "address"),
    (acts.launch("editor", "--cmd"), "absolute"),
    (acts.launch("terminal", "x"), "no `target`"),
)


@pytest.mark.parametrize(("act", "wanted"), ROWS, ids=range(len(ROWS)))
def test_an_act_is_a_command_or_a_function_of_the_shell(act: Act, wanted: Act) -> None:
    assert act == wanted


@pytest.mark.parametrize(("act", "word"), WRONG, ids=range(len(WRONG)))
def test_what_does_not_go_together_is_said(act: Act, word: str) -> None:
    assert isinstance(act, str)
    assert word in act


def test_every_feature_can_be_toggled() -> None:
    assert {feature for feature, state in TOGGLES if state == "toggle"} == {feature for feature, _ in TOGGLES}
