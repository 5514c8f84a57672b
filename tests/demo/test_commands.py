"""The demo's commands: listed in the real one's shape, described, of every kind, and clean Bash."""

import shutil
import subprocess
import time

import pytest

from .routes import ROUTES, Kind
from .stage import BIN, DEMO, Stage

# Key and type of a record in "omarchy commands --json" of Omarchy 4.
SHAPE = {
    "route": str,
    "binary": str,
    "group": str,
    "name": str,
    "summary": str,
    "requires_sudo": bool,
    "hidden": bool,
    "args": str,
    "examples": list,
    "aliases": list,
    "filename_route": str,
    "routes": list,
}
COMMANDS = sorted(BIN.glob("omarchy-*"))


def test_the_listing_has_the_keys_and_types_of_the_real_one(stage: Stage) -> None:
    for record in stage.records():
        assert {key: type(value) for key, value in record.items()} == SHAPE
        assert all(isinstance(item, str) for key in ("examples", "aliases", "routes") for item in record[key])
        assert record["routes"] == sorted({record["route"], record["filename_route"], *record["aliases"]})
        assert record["route"] == " ".join(["omarchy", record["group"], record["name"]]).strip()
        assert (BIN / record["binary"]).is_file()


def test_hidden_commands_are_listed_only_on_request(stage: Stage) -> None:
    shown = {record["route"] for record in stage.records(hidden=False)}
    everything = {record["route"]: record["hidden"] for record in stage.records()}
    assert shown == {route for route, hidden in everything.items() if not hidden}
    assert len(shown) < len(everything)


def test_every_route_is_told_apart(stage: Stage) -> None:
    routes = [route for record in stage.records() for route in record["routes"]]
    assert len(routes) == len(set(routes))


def test_every_command_has_a_row_that_says_what_it_is_for(stage: Stage) -> None:
    records = {record["route"]: record for record in stage.records()}
    assert records.keys() == ROUTES.keys()
    for route, row in ROUTES.items():
        record = records[route]
        assert record["hidden"] is (Kind.HIDDEN in row.kinds)
        assert bool(record["aliases"]) is (Kind.ALIAS in row.kinds)
        assert record["requires_sudo"] is (Kind.ROOT in row.kinds)
        assert (record["filename_route"] != route) is (Kind.RENAMED in row.kinds)
        assert (row.tier == "blocked") is bool(row.kinds & {Kind.ROOT, Kind.SECRET_ROOT, Kind.HELPER_ROOT}), route


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
def test_every_kind_is_there(kind: Kind) -> None:
    assert any(kind in row.kinds for row in ROUTES.values())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_says_its_group_and_what_it_does(command: object) -> None:
    text = (BIN / str(command)).read_text(encoding="utf-8")
    head = [line for line in text.splitlines() if line.startswith("# omarchy:")]
    keys = {line.removeprefix("# omarchy:").partition("=")[0] for line in head}
    assert {"group", "summary"} <= keys
    assert keys <= {"group", "name", "summary", "args", "examples", "aliases", "requires-sudo", "hidden"}


def test_names_that_extend_another_command_are_marked(stage: Stage) -> None:
    names = {record["binary"]: record["route"] for record in stage.records()}
    for binary, route in names.items():
        extends = any(binary.startswith(f"{other}-") for other in names)
        assert extends is (Kind.EXTENDS in ROUTES[route].kinds), route


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_bash_is_clean() -> None:
    files = [*BIN.iterdir(), *(DEMO / "lib").glob("*.bash")]
    bash = [str(file) for file in files if "bash" in file.read_text(encoding="utf-8").partition("\n")[0]]
    done = subprocess.run(["shellcheck", "-x", *bash], cwd=DEMO.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_in_the_demo_is_left_out_of_a_copy() -> None:
    files = [file for file in DEMO.rglob("*") if "__pycache__" not in file.parts]
    assert not [file for file in files if file.is_symlink()]
    assert all(file.stat().st_mode & 0o111 for file in BIN.iterdir())


def test_the_listing_is_quick(stage: Stage) -> None:
    def once() -> float:
        start = time.monotonic()
        stage.omarchy("commands", "--json", "--all")
        return time.monotonic() - start

    assert min(once() for _ in range(5)) < 0.5  # 0.12 s on two idle cores; a test machine is not idle


def test_words_run_the_command_with_the_longest_name(stage: Stage) -> None:
    assert stage.omarchy("debug", "arguments", "a b", "$HOME", "--x").splitlines() == ["3", r"a\ b", r"\$HOME", "--x"]
    assert stage.omarchy("version") == "demo 1.0\n"


def test_a_declared_route_and_an_alias_work_too(stage: Stage) -> None:
    assert stage.omarchy("demo", "show") == stage.omarchy("show", "desktop")
    refused = stage.run(str(BIN / "omarchy"), "share", "file", "x", check=False)
    assert refused.returncode == 1
    assert "localsend" in refused.stderr


def test_a_command_without_its_arguments_explains_itself(stage: Stage) -> None:
    assert "<theme-name>" in stage.omarchy("theme", "set")
    assert "Usage" in stage.omarchy("theme", "list", "--help")
    assert "theme current" in stage.omarchy("theme")


def test_an_unknown_command_is_an_error(stage: Stage) -> None:
    done = stage.run(str(BIN / "omarchy"), "no", "such", "thing", check=False)
    assert done.returncode == 127
    assert "Unknown" in done.stderr
    assert stage.run(str(BIN / "omarchy"), "../../bin/sh", "-c", "true", check=False).returncode == 127
