"""The drawn desktop: what a command changes can be seen, and nothing it is told breaks the picture."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from .stage import BIN, DEMO, Stage

THEMES = sorted(path.name for path in (DEMO / "themes").iterdir())
BACKGROUNDS = sorted(path.stem for path in (DEMO / "backgrounds").iterdir())
COLOURS = {"ground", "panel", "ink", "muted", "accent", "red", "green", "yellow", "blue"}


def picture(stage: Stage) -> str:
    text = (stage.state / "desktop.svg").read_text(encoding="utf-8")
    ET.fromstring(text)
    return text


def test_a_new_desktop_is_drawn_at_once(stage: Stage) -> None:
    assert "Harbour" in picture(stage)
    assert "desktop.svg" in stage.fact("desktop.html")


def test_setting_a_theme_changes_the_picture(stage: Stage) -> None:
    before = picture(stage)
    stage.omarchy("theme", "set", "Tokyo Night")
    after = picture(stage)
    assert stage.omarchy("theme", "current") == "Tokyo Night\n"
    assert "#82a5f5" in after
    assert "#82a5f5" not in before


def test_there_are_eight_themes_and_more_each_with_a_palette_of_its_own() -> None:
    palettes = {(DEMO / "themes" / theme / "colors.toml").read_text(encoding="utf-8") for theme in THEMES}
    assert len(palettes) == len(THEMES) >= 8
    for palette in palettes:
        assert {line.partition(" = ")[0] for line in palette.splitlines()} == COLOURS | {"mode", "background"}


@pytest.mark.parametrize("theme", THEMES)
def test_every_theme_can_be_set_by_its_label(theme: str, stage: Stage) -> None:
    label = theme.replace("-", " ").title()
    assert label in stage.omarchy("theme", "list").splitlines()
    stage.omarchy("theme", "set", label)
    assert label in picture(stage)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_background_is_coloured_by_the_theme(background: str, stage: Stage) -> None:
    ET.parse(DEMO / "backgrounds" / f"{background}.svg")
    stage.run("demo-desktop", "set", "theme", "paper", "background", background)
    assert "var(" not in picture(stage)
    assert stage.omarchy("theme", "bg", "current").strip() == str(DEMO / "backgrounds" / f"{background}.svg")


def test_the_next_background_goes_round(stage: Stage) -> None:
    seen = [stage.omarchy("theme", "bg", "next").strip() for _ in BACKGROUNDS]
    assert sorted(seen) == BACKGROUNDS


def test_a_picture_of_ones_own_can_be_the_background(stage: Stage) -> None:
    stage.plant('pictures/a & "b".png', "not really")
    stage.omarchy("theme", "bg", "set", str(stage.state / 'pictures/a & "b".png'))
    assert "a &amp; &quot;b&quot;.png" in picture(stage)


VISIBLE = [
    (("audio", "output", "volume", "+20"), "75%"),
    (("audio", "output", "volume", "mute-toggle"), "muted"),
    (("brightness", "display", "35%"), "35%"),
    (("toggle", "nightlight"), "#ff8a20"),
    (("toggle", "idle", "stay-awake"), "awake"),
    (("font", "set", "Harbour Code"), "font: Harbour Code"),
    (("notification", "send", "Tea <is> ready", "Go & drink"), "Tea &lt;is&gt; ready"),
    (("osd", "-m", "Charging", "-p", "40"), "Charging 40%"),
    (("launch", "about"), ">About</text>"),
    (("system", "lock"), "Locked"),
    (("system", "shutdown"), "Powered off"),
]


@pytest.mark.parametrize(("words", "sign"), VISIBLE, ids=[" ".join(words) for words, _ in VISIBLE])
def test_what_a_command_does_can_be_seen(words: tuple[str, ...], sign: str, stage: Stage) -> None:
    assert sign not in picture(stage)
    stage.omarchy(*words)
    assert sign in picture(stage)


def test_the_bar_can_go_and_come_back(stage: Stage) -> None:
    stage.omarchy("toggle", "bar", "off")
    assert "80%" not in picture(stage)
    stage.omarchy("toggle", "bar")
    assert "80%" in picture(stage)


HOSTILE = ["a\0b", "\x1b[31m", "\r\n\t", "<script>", "&amp;", '"><g>', "$(touch x)", "é" * 5000, "\ud800", "]]>"]


@pytest.mark.parametrize("text", [t for t in HOSTILE if "\0" not in t and "\ud800" not in t], ids=ascii)
def test_odd_text_never_breaks_the_picture(text: str, stage: Stage) -> None:
    for fact in ("theme", "font", "headline", "osd", "session", "volume", "background"):
        stage.run("demo-desktop", "set", fact, text)
        picture(stage)
    assert stage.omarchy("demo", "show")


def test_odd_files_never_break_the_picture(stage: Stage) -> None:
    for fact in ("theme", "volume", "brightness", "windows", "workspace"):
        (stage.state / fact).write_bytes(b"\xff\xfe a[$(touch x)] \x01\n\n")
    stage.run("demo-desktop", "draw")
    ET.fromstring((stage.state / "desktop.svg").read_bytes().decode("utf-8", "replace"))
    assert not list(stage.folder.rglob("x"))


def test_only_known_facts_can_be_set(stage: Stage) -> None:
    for name in ("../escape", "desktop.svg", "nonsense", ""):
        assert stage.run("demo-desktop", "set", name, "x", check=False).returncode == 1
    assert not (stage.folder / "escape").exists()


def test_the_picture_in_the_terminal_is_plain_for_programs_and_coloured_on_request(stage: Stage) -> None:
    plain = stage.omarchy("demo", "show")
    assert "\x1b" not in plain
    assert len({len(line) for line in plain.splitlines()}) == 1
    assert "\x1b[38;2;" in stage.omarchy("demo", "show", "--colour")


def test_reset_brings_everything_back(stage: Stage) -> None:
    stage.omarchy("theme", "set", "ember")
    stage.omarchy("system", "shutdown")
    stage.omarchy("demo", "reset")
    assert stage.fact("theme") == "harbour"
    assert "Powered off" not in picture(stage)
    assert len(stage.fact("windows").splitlines()) == 2


def test_the_state_folder_follows_the_usual_rules(stage: Stage, tmp_path: Path) -> None:
    del stage.environment["OMARCHY_DEMO_STATE"]
    assert stage.run("demo-desktop", "path").stdout.strip() == f"{stage.folder}/home/.local/state/omarchy-demo"
    stage.environment["XDG_STATE_HOME"] = str(tmp_path / "xdg")
    assert stage.run("demo-desktop", "path").stdout.strip() == f"{tmp_path}/xdg/omarchy-demo"


def test_the_odd_commands_behave_oddly_as_promised(stage: Stage) -> None:
    assert stage.omarchy("debug", "input") == "0 bytes, no terminal\n"
    failed = stage.route("omarchy debug exit", "7")
    assert (failed.returncode, failed.stdout, failed.stderr) == (7, "to standard output\n", "to standard error\n")
    assert stage.route("omarchy debug signal").returncode == -11
    assert len(stage.omarchy("debug", "flood", "5000")) > 250_000
    assert stage.omarchy("show", "countdown", "1") == "1\nLift-off\n"
    raw = (stage.folder / "out", stage.run(str(BIN / "omarchy-debug-bytes")))[0].read_bytes()
    assert b"\x00" in raw
    assert b"\xc3\n" in raw
