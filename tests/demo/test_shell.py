"""qs and hyprctl: the real ones' words, shapes and exit codes, over the demo's state."""

import json
import re
from typing import Any

import pytest

from .stage import DEMO, Stage

# Target: number of functions, as the shell of Omarchy 4 lists them.
TARGETS = {
    "background": 5, "idle": 5, "image-selector": 4, "lock": 5, "media": 11, "nightlight": 5, "notifications": 13,
    "omarchy.audio": 5, "omarchy.bluetooth": 5, "omarchy.clock": 1, "omarchy.indicators": 1, "omarchy.monitor": 7,
    "omarchy.network": 5, "omarchy.power": 5, "omarchy.system-update": 2, "omarchy.weather": 6, "osd": 4, "shell": 12,
}  # fmt: skip
LINE = re.compile(r"target \S+|  function \w+\((\w+: string(, \w+: string)*)?\): (string|void)")


def hyprctl(stage: Stage, *words: str) -> Any:
    return json.loads(stage.run("hyprctl", "-j", *words).stdout)


def test_the_listing_of_functions_is_in_the_real_notation(stage: Stage) -> None:
    lines = stage.run("qs", "ipc", "-n", "-p", f"{DEMO}/shell", "show").stdout.splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    found: dict[str, int] = {}
    for line in lines:
        if line.startswith("target "):
            target = line.removeprefix("target ")
            found[target] = 0
        else:
            found[target] += 1
    assert found == TARGETS


def test_errors_are_told_on_standard_output_with_success(stage: Stage) -> None:
    assert stage.shell("nothing", "x") == "Target not found.\n"
    assert stage.shell("media", "x") == "Function not found.\n"
    assert stage.shell("osd", "show").startswith("Too few arguments provided (1 required but 0 were provided.)\n")
    assert stage.shell("media", "next", "x").startswith("Too many arguments provided")


def test_the_wrapper_turns_them_into_failures(stage: Stage) -> None:
    done = stage.run("omarchy-shell", "media", "x", check=False)
    assert (done.returncode, done.stderr) == (1, "Function not found.\n")
    assert stage.run("omarchy-shell", "-q", "media", "x").stdout == ""
    done = stage.run("omarchy-shell", "shell", "ping", environment={"OMARCHY_PATH": ""}, check=False)
    assert (done.returncode, done.stderr) == (1, "OMARCHY_PATH is not set\n")


def test_a_shell_that_does_not_run_is_an_error(stage: Stage) -> None:
    stage.run("qs", "kill", "-p", f"{DEMO}/shell")
    done = stage.run("qs", "ipc", "-n", "-p", f"{DEMO}/shell", "call", "--", "shell", "ping", check=False)
    assert done.returncode == 255
    assert "No running instances" in done.stderr
    assert stage.run("omarchy-shell", "shell", "ping", check=False).stderr == "omarchy-shell is not running\n"
    stage.run("demo-desktop", "set", "shell", "running")
    assert stage.shell("shell", "ping") == "ok\n"


def test_a_strict_demo_wants_the_session_s_environment(stage: Stage) -> None:
    strict = {"OMARCHY_DEMO_STRICT": "1"}
    assert stage.run("omarchy-shell", "shell", "ping", environment=strict, check=False).returncode == 1
    assert stage.run("hyprctl", "monitors", environment=strict, check=False).returncode == 1
    strict |= {"WAYLAND_DISPLAY": "wayland-1", "HYPRLAND_INSTANCE_SIGNATURE": "demo"}
    assert stage.run("omarchy-shell", "shell", "ping", environment=strict).stdout == "ok\n"
    assert stage.run("hyprctl", "monitors", environment=strict).returncode == 0


def test_the_music_player_has_a_state(stage: Stage) -> None:
    assert json.loads(stage.shell("media", "status"))["playing"] is False
    assert stage.shell("media", "playPause") == "ok\n"
    first = json.loads(stage.shell("media", "status"))
    stage.shell("media", "next")
    second = json.loads(stage.shell("media", "status"))
    assert first["playing"] is second["playing"] is True
    assert first["title"] != second["title"]
    assert stage.shell("media", "sourceNext") == "unhandled\n"


SWITCHES = [
    (("nightlight", "enable"), "enabled", "nightlight", "on"),
    (("nightlight", "toggle"), "enabled", "nightlight", "on"),
    (("idle", "disable"), "disabled", "idle", "awake"),
    (("idle", "toggle"), "disabled", "idle", "awake"),
    (("notifications", "setDnd", "true"), "on", "dnd", "on"),
    (("notifications", "toggleDnd"), "on", "dnd", "on"),
    (("lock", "lock"), "ok", "session", "locked"),
    (("omarchy.monitor", "brightness", "250"), "got 100", "brightness", "100"),
    (("osd", "show", '{"message":"hi"}'), "ok", "osd", "hi"),
    (("omarchy.weather", "open"), "", "panel", "omarchy.weather"),
    (("shell", "toggle", "omarchy.audio", "{}"), "", "panel", "omarchy.audio"),
]


@pytest.mark.parametrize(("call", "answer", "fact", "value"), SWITCHES, ids=[" ".join(row[0]) for row in SWITCHES])
def test_functions_change_the_desktop(call: tuple[str, ...], answer: str, fact: str, value: str, stage: Stage) -> None:
    assert stage.shell(*call).strip() == answer
    assert stage.fact(fact) == value


def test_a_dialog_waits_for_its_answer(stage: Stage) -> None:
    with stage.start("omarchy-menu-select", "Format", "png", "jpg") as asking:
        stage.until(lambda: stage.fact("dialog") == "Format", "the dialog")
        assert asking.poll() is None
        stage.omarchy("demo", "answer", "jpg")
        out, _ = asking.communicate(timeout=30)
    assert out == b"jpg\n"
    stage.until(lambda: stage.fact("dialog") == "", "the end of the dialog")


def test_a_prepared_answer_replaces_what_they_say(stage: Stage) -> None:
    stage.plant("hyprctl-answers", "adding monitors\n[{]")
    stage.plant("qs-answers", "nonsense")
    assert stage.run("hyprctl", "-j", "monitors").stdout == "adding monitors\n[{]"
    assert stage.shell("shell", "ping") == "nonsense"


def test_the_compositor_answers_in_hyprland_s_shape(stage: Stage) -> None:
    (monitor,) = hyprctl(stage, "monitors")
    assert monitor["name"] == "DEMO-1"
    assert monitor["focused"] is monitor["dpmsStatus"] is True
    assert monitor["activeWorkspace"] == {"id": 1, "name": "1"}
    assert [client["class"] for client in hyprctl(stage, "clients")] == ["terminal", "editor"]
    assert hyprctl(stage, "activewindow")["title"] == "notes.md — editor"
    assert hyprctl(stage, "activeworkspace")["windows"] == 2
    assert stage.run("hyprctl", "nonsense", check=False).stdout == "unknown request\n"


def test_windows_can_be_moved_and_closed(stage: Stage) -> None:
    assert stage.run("hyprctl", "dispatch", "focuswindow", "class:terminal").stdout == "ok\n"
    assert hyprctl(stage, "activewindow")["class"] == "terminal"
    stage.run("hyprctl", "dispatch", "closewindow", "class:terminal")
    assert [client["class"] for client in hyprctl(stage, "clients")] == ["editor"]
    stage.omarchy("hyprland", "window", "close", "all")
    assert hyprctl(stage, "clients") == []
    assert hyprctl(stage, "activewindow") == {}


def test_more_monitors_can_be_plugged_in(stage: Stage) -> None:
    stage.plant("monitors", "eDP-1 2560 1600 2.00\nDP-2 3840 2160 1.50\n")
    assert [(m["name"], m["x"], m["focused"]) for m in hyprctl(stage, "monitors")] == [
        ("eDP-1", 0, True),
        ("DP-2", 2560, False),
    ]


def test_plugins_are_listed_and_switched(stage: Stage) -> None:
    stage.plant("plugins/some.widget/manifest.json", "{}")
    assert stage.shell("shell", "setPluginEnabled", "some.widget", "true") == "ok\n"
    assert stage.shell("shell", "setPluginEnabled", "no.widget", "true") == "unknown\n"
    rows = {row["id"]: row for row in json.loads(stage.omarchy("plugin", "list"))}
    assert rows["some.widget"]["enabled"] is True
    assert rows["some.widget"]["firstParty"] is False
    assert rows["omarchy.clock"]["enabled"] is True
