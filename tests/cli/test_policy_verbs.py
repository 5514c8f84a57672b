"""`tiers` and `preview`, with no session at all: no bus, no manager, no service."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
CTL = REPO / "bin" / "omarchy-mcpctl"
KEYS = {
    "route", "tier", "allowed", "askable", "would_ask", "reason", "rule", "capabilities", "argv", "binary", "target",
}  # fmt: skip


@pytest.fixture(name="home", scope="module")
def home_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def ctl(home: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    base = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "OMARCHY_PATH": str(REPO / "demo"),
        "OMARCHY_MCP_VENV": os.environ.get("OMARCHY_MCP_VENV") or sys.prefix,
    }
    return subprocess.run(
        [CTL, *words], env=base | env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )


def test_tiers_are_printed_for_every_route(home: Path) -> None:
    done = ctl(home, "tiers", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["route"]: row for row in json.loads(done.stdout)}
    assert all(set(row) == {"route", "tier", "capabilities", "reason", "rule"} for row in rows.values())
    assert rows["omarchy theme list"]["tier"] == "safe"
    assert rows["omarchy launch or focus"]["tier"] == "guarded"
    assert rows["omarchy update"]["tier"] == "blocked"
    assert rows["omarchy dns"]["tier"] == "blocked", "it needs root and does not say so"
    hidden = {row["route"] for row in json.loads(ctl(home, "tiers", "--hidden", "--json").stdout)}
    assert hidden > set(rows)
    lines = ctl(home, "tiers").stdout.splitlines()
    assert len(lines) == len(rows)


@pytest.mark.parametrize(
    ("call", "tier", "allowed", "rule"),
    [
        (["omarchy theme set", "nord"], "safe", True, "arguments:theme set"),
        (["theme set", "../x"], "guarded", False, "argument-parent-folder"),
        (["theme set", "nope"], "guarded", False, "not-found"),
        (["omarchy launch or focus", "x", "touch f"], "guarded", False, None),
        (["omarchy update"], "blocked", False, None),
        (["omarchy nothing"], "blocked", False, "unknown-route"),
        (["--ipc", "media", "playPause"], "safe", True, "ipc-table"),
        (["--ipc", "notifications", "invokeLast"], "blocked", False, "ipc-never"),
    ],
)
def test_a_preview_says_what_would_happen_and_runs_nothing(
    home: Path, tmp_path: Path, call: list[str], tier: str, allowed: bool, rule: str | None
) -> None:
    options = ["--ipc"] if call[0] == "--ipc" else []
    words = ["preview", "--json", *options, "--", *call[len(options) :]]
    done = ctl(home, *words, OMARCHY_DEMO_STATE=str(tmp_path / "state"))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer) == KEYS
    assert (answer["tier"], answer["allowed"]) == (tier, allowed)
    assert rule is None or answer["rule"] == rule
    if answer["binary"] and not options:
        assert answer["argv"] == [str(REPO / "demo" / "bin" / answer["binary"]), *call[1:]]
    log = tmp_path / "state" / "log"
    assert not log.exists() or "theme set" not in log.read_text(encoding="utf-8")


def test_the_configuration_counts(home: Path, tmp_path: Path) -> None:
    config = tmp_path / "omarchy" / "mcp" / "config.toml"
    config.parent.mkdir(parents=True)
    words = ("preview", "--json", "--", "omarchy launch or focus", "x", "y")

    def asked(text: str) -> dict[str, object]:
        config.write_text(text, encoding="utf-8")
        answer: dict[str, object] = json.loads(ctl(home, *words, XDG_CONFIG_HOME=str(tmp_path)).stdout)
        return answer

    assert asked("[policy]\nask = true\n")["would_ask"] is True
    assert asked('[policy]\nallow = ["omarchy launch or focus"]\n')["allowed"] is True
    assert asked("[policy]\n[policy]\n")["rule"] == "restrictive"


def test_bad_words_and_a_missing_omarchy_are_one_clear_line(home: Path) -> None:
    for words in (["preview"], ["preview", "--ipc", "--", "media"], ["tiers", "x"], ["recent", "--hidden"]):
        done = ctl(home, *words)
        assert done.returncode == 2, words
        assert done.stdout == ""
    gone = ctl(home, "tiers", OMARCHY_PATH="/nonexistent")
    assert gone.returncode == 5
    assert "OMARCHY_PATH" in gone.stderr


def test_a_bare_json_swallows_no_verb(home: Path) -> None:
    assert json.loads(ctl(home, "--json", "tiers").stdout)
    assert len(ctl(home, "--json", "pretty", "tiers").stdout.splitlines()) > 10
