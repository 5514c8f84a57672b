"""demo/private_session.py: a real session, and nothing of it afterwards."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "demo/private_session.py"
LASTING = "systemd-run --user --quiet --unit=lasting sleep 1234; echo ready; exec sleep 1235"
SECONDS = 20.0


def argv(*words: str) -> list[str]:
    return [sys.executable, str(PROGRAM), *words]


def call(*words: str, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv(*words), capture_output=True, text=True, check=False, timeout=seconds)


def becomes(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


def traces(folder: Path) -> list[str]:
    """Processes and control groups of the session in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"XDG_RUNTIME_DIR={folder}/".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().decode().replace("\0", " "))
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    parent = Path(tempfile.mkdtemp(prefix="omp-", dir="/tmp"))  # short: a socket's path ends at 107 bytes
    yield parent / "s"
    if (parent / "s/state.json").exists():
        call("down", "--dir", str(parent / "s"))
    shutil.rmtree(parent, ignore_errors=True)


def test_the_commands_exit_status_and_environment_pass_through(folder: Path) -> None:
    script = 'test "$ODD" = "a b=\'c\'" && systemctl --user show-environment | grep -q ^ODD= && exit 7'
    done = call("run", "--dir", str(folder), "--setenv", "ODD=a b='c'", "--", "sh", "-c", script)
    assert (done.returncode, done.stderr) == (7, "")
    assert not folder.exists()


def test_units_run_in_control_groups_that_look_like_a_users(folder: Path) -> None:
    look = "systemd-run --user --quiet --wait --pipe --unit=looking cat /proc/self/cgroup"
    done = call("run", "--dir", str(folder), "--", "sh", "-c", look)
    assert f"/user@{os.getuid()}.service" in done.stdout
    assert "/app.slice/looking.service" in done.stdout


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
def test_a_signal_ends_the_session_and_all_that_runs_in_it(folder: Path, number: signal.Signals, status: int) -> None:
    command = argv("run", "--dir", str(folder), "--", "sh", "-c", LASTING)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n"
        keeper.send_signal(number)
        assert keeper.wait(SECONDS) == status
    assert becomes(lambda: not traces(folder)), traces(folder)
    if number is signal.SIGKILL:  # nobody was left to remove the folder: the next session there does
        assert call("run", "--dir", str(folder), "--", "true").returncode == 0
    assert not folder.exists()


def test_up_env_and_down_belong_together(folder: Path) -> None:
    up = call("up", "--dir", str(folder), "--setenv", "FOO=bar")
    assert f"export XDG_RUNTIME_DIR={folder}/run" in up.stdout.splitlines(), up.stderr
    assert call("env", "--dir", str(folder)).stdout == up.stdout
    again = call("run", "--dir", str(folder), "--", "true")
    assert again.returncode == 125
    assert "holds a session" in again.stderr
    assert call("down", "--dir", str(folder)).returncode == 0
    assert not traces(folder)
    assert not folder.exists()


def test_what_cannot_be_is_said_in_one_line(folder: Path) -> None:
    for words in (
        ("down", "--dir", str(folder)),
        ("run", "--dir", str(folder), "--", "no-such-program"),
        ("run", "--dir", str(folder / ("x" * 60)), "--", "true"),
        ("run", "--dir", str(folder), "--user", "nobody-here", "--", "true"),
    ):
        done = call(*words)
        assert done.returncode == 125, words
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert not (folder / "state.json").exists(), words


def test_two_sessions_overlap_and_the_second_keeps_its_journal(folder: Path) -> None:
    other = folder.with_name("other")
    script = "systemd-run --user --quiet --wait --unit=overlap echo written; cat"
    command = argv("run", "--dir", str(other), "--", "sh", "-c", f"echo ready; {script}")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout is not None
        assert second.stdout.readline() == "ready\n"
        assert call("run", "--dir", str(folder), "--", "true").returncode == 0
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            probe.connect("/run/systemd/journal/socket")  # refused when nobody listens
        second.communicate(timeout=SECONDS)
        assert second.returncode == 0
