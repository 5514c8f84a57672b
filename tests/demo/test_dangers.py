"""The dangers of the demo are real, so that a test which sees none of them proves something, and they stay inside."""

import os
from pathlib import Path

import pytest

from .escapes import ESCAPES, PLUGIN, Escape
from .routes import ROUTES, Kind
from .stage import BIN, Stage, notification_server, private_bus


def fill(text: str, stage: Stage) -> str:
    return (
        text.replace("{{", "{")
        .replace("}}", "}")
        .replace("{state}", str(stage.state))
        .replace("{canary}", str(stage.state / "canary"))
        .replace("{plugin}", PLUGIN)
    )


def take(step: tuple[str, ...], stage: Stage) -> None:
    how, *call = (fill(word, stage) for word in step)
    if how == "ipc":
        stage.shell(*call)
    elif how == "words":
        stage.omarchy(*call, check=False)
    else:
        stage.route(*call)


def happened(escape: Escape, stage: Stage) -> bool:
    if escape.appears:
        return Path(fill(escape.appears, stage)).exists()
    if escape.vanishes:
        return not (stage.state / escape.vanishes).exists()
    name, text = escape.holds
    return stage.fact(name) == text


def outside(stage: Stage) -> set[Path]:
    """Every file of the test's folder that is not in the state folder or in one a program may write its cache to."""
    skipped = {stage.state, stage.folder / "cache", stage.folder / "run", stage.folder / "out", stage.folder / "err"}
    found: set[Path] = set()
    for folder, names, files in os.walk(stage.folder):
        names[:] = [name for name in names if Path(folder, name) not in skipped]
        found |= {Path(folder, file) for file in files}
    return found - skipped


@pytest.mark.parametrize("escape", [e for e in ESCAPES if not e.needs_bus], ids=str)
def test_every_way_out_works_where_nobody_stands_in_it(escape: Escape, stage: Stage) -> None:
    prove(escape, stage)


@pytest.mark.parametrize("escape", [e for e in ESCAPES if e.needs_bus], ids=str)
def test_every_way_out_through_notifications_works(escape: Escape, stage: Stage) -> None:
    with private_bus(stage), notification_server(stage):
        prove(escape, stage)


def prove(escape: Escape, stage: Stage) -> None:
    for path, text in escape.plants.items():
        stage.plant(fill(path, stage), fill(text, stage))
    for name in escape.stubs:
        stage.stub(name)
    if not escape.needs_bus:
        assert not happened(escape, stage)
    before = outside(stage)
    for step in escape.steps:
        take(step, stage)
    stage.until(lambda: happened(escape, stage), f"{escape}: the sign of it")
    assert outside(stage) == before


def test_every_escape_names_commands_that_exist() -> None:
    routes = {step[1] for escape in ESCAPES for step in escape.steps if step[0] == "run"}
    assert routes <= ROUTES.keys()
    assert len({escape.id for escape in ESCAPES}) == len(ESCAPES)


@pytest.mark.parametrize(
    "route", sorted(row.route for row in ROUTES.values() if row.tier == "blocked"), ids=lambda r: str(r)
)
def test_no_command_calls_the_real_programs_that_need_root(route: str, stage: Stage) -> None:
    """sudo and its like are called by name; when that would be the machine's own, the command gives up first."""
    arguments = {"omarchy channel set": ["edge"], "omarchy install browser": ["zen"], "omarchy update": ["-y"]}
    record = next(record for record in stage.records() if record["route"] == route)
    words = arguments.get(route, ["go"] if "<" in record["args"] or route == "omarchy dns" else [])
    done = stage.route(route, *words)
    assert done.returncode != 0
    assert "only calls a stand-in" in done.stderr or "would call the real" in done.stderr
    assert not (stage.state / "canary").exists()


OUTSIDE = [
    ("omarchy toggle", "../../outside/file", "off"),
    ("omarchy toggle", "../../outside/new", "on"),
    ("omarchy theme remove", "../../outside"),
    ("omarchy hook", "../../outside/file"),
    ("omarchy hook install", "../../outside/type", "/etc/hostname"),
    ("omarchy mise install", "x", "../../outside/tool"),
    ("omarchy webapp install", "../../outside/app", "https://x", "i"),
    ("omarchy webapp remove", "../../outside/app"),
    ("omarchy tui install", "../../outside/app", "x"),
    ("omarchy refresh config", "../../outside/file"),
    ("omarchy transcode", "../outside/file", "png"),
    ("omarchy plugin", "remove", "../../outside"),
]


@pytest.mark.parametrize("call", OUTSIDE, ids=lambda call: f"{call[0]} {call[1]}"[8:])
def test_what_lies_outside_the_state_folder_is_never_touched(call: tuple[str, ...], stage: Stage) -> None:
    folder = stage.folder / "outside"
    folder.mkdir()
    (folder / "file").write_text(f"touch {stage.state}/canary\n", encoding="utf-8")
    (folder / "app.desktop").write_text("x", encoding="utf-8")
    before = {file: file.read_bytes() for file in folder.iterdir()}
    done = stage.route(*call)
    assert done.returncode != 0
    assert {file: file.read_bytes() for file in folder.iterdir()} == before
    assert not (stage.state / "canary").exists()


def test_the_shell_writes_nothing_outside_either(stage: Stage) -> None:
    victim = stage.folder / "victim"
    victim.write_text("precious", encoding="utf-8")
    stage.shell("image-selector", "cancel", str(victim))
    stage.shell(
        "shell", "summon", "omarchy.menu", f'{{"mode":"input","selectionFile":"{victim}","doneFile":"{victim}"}}'
    )
    stage.shell("shell", "call", "omarchy.menu", "applyDmenuSelection", "gone")
    assert victim.read_text(encoding="utf-8") == "precious"


def test_the_screensaver_multiplies_and_then_stops(stage: Stage) -> None:
    stage.run(str(BIN / "omarchy-screensaver"), environment={"OMARCHY_DEMO_DEPTH": "36"})
    stage.until(lambda: "screensaver 40" in stage.fact("log"), "the last screensaver")
    assert "screensaver 41" not in stage.fact("log")
    assert Kind.SPAWNS in ROUTES["omarchy screensaver"].kinds
