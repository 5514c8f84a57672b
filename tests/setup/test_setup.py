"""omarchy-mcp-setup: quick when all is there, one line naming the cure when it is not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
SETUP = str(REPO / "bin/omarchy-mcp-setup")
BUILT = Path(sys.prefix).resolve()  # the environment these tests run in, which set-up built


def setup(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMARCHY_MCP_")}
    return subprocess.run(
        [SETUP, *words],
        env={**environment, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def lines_of(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return done.stderr.strip().splitlines()


@pytest.fixture
def without_gcc(tmp_path: Path) -> str:
    """A PATH that has every program of this machine but a compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in ("/bin", "/usr/bin"):
        for program in Path(place).iterdir():
            if program.name != "gcc" and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return str(folder)


@pytest.mark.skipif(not BUILT.name.startswith("dev-"), reason="these tests do not run in an environment of set-up's")
def test_a_good_environment_is_recognised_at_once_and_without_a_network() -> None:
    fastest = 10.0
    for _ in range(3):
        begun = time.monotonic()
        done = setup("environment", "--dev", XDG_DATA_HOME=str(BUILT.parents[1]), https_proxy="http://127.0.0.1:9")
        fastest = min(fastest, time.monotonic() - begun)
        assert done.stdout.strip() == str(BUILT.parent / "dev"), done.stderr
        assert done.stderr == ""
    assert fastest < 0.5


def test_a_missing_compiler_is_one_line_with_the_command_that_brings_it(tmp_path: Path, without_gcc: str) -> None:
    done = setup("environment", XDG_DATA_HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path), PATH=without_gcc)
    assert done.returncode == 1
    (line,) = lines_of(done)
    assert line.startswith("omarchy-mcp-setup: missing: gcc; install with: ")
    assert line.endswith(("install --yes --no-install-recommends gcc", "--noconfirm gcc"))


def test_no_files_to_install_from_is_one_line_and_leaves_no_environment(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    own = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = setup("environment", OMARCHY_MCP_WHEELS=str(wheels), **own)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"put the files uv.lock names into {wheels}" in lines_of(done)[-1]
    assert not list((tmp_path / "data").glob("*/runtime*"))


def test_two_at_once_take_turns(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OMARCHY_MCP_WHEELS": str(wheels),
    }
    both = [
        subprocess.Popen([SETUP, "environment"], env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [1, 1]
    assert sum("waiting for another set-up to end" in text for text in said) == 1


@pytest.mark.parametrize("words", [(), ("frobnicate",), ("packages", "--frobnicate")])
def test_a_wrong_word_changes_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    done = setup(*words, XDG_DATA_HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode != 0
    assert not list(tmp_path.iterdir())


def test_a_relative_folder_in_the_environment_counts_as_unset(tmp_path: Path) -> None:
    done = setup("environment", HOME=str(tmp_path), XDG_DATA_HOME="here", OMARCHY_MCP_WHEELS=str(tmp_path / "none"),
                 XDG_CACHE_HOME=str(tmp_path), OMARCHY_MCP_PYTHON="/nonexistent")  # fmt: skip
    assert done.returncode == 1
    assert "missing: python" in lines_of(done)[-1]
    assert not (REPO / "here").exists()
