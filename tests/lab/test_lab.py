"""The product in a machine of its own: the newest systemd and Python, an ordinary user, a real login.

The lab is built once, from Debian packages and uv.lock, into the cache folder (build-lab); each run boots it in
kernel namespaces and leaves nothing behind (run-lab).  It needs root.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
INSIDE = "/srv/omarchy-mcp"
VENV = "/opt/omarchy-mcp/io.github.bruce-forte.mcp-server/dev"
PYTHON = f"{VENV}/bin/python"
# Tests of what is decided above systemd, bus and journal, whichever these are: seen on this machine.
ABOVE = ("clients", "curated", "perception", "resources", "review", "tools")


def missing() -> str:
    """What this machine lacks for a lab; empty when nothing."""
    if os.geteuid() != 0:
        return "a lab needs root"
    lacking = [name for name in ("mmdebstrap", "unshare", "nsenter", "ip") if not shutil.which(name)]
    if lacking:
        return f"a lab needs {', '.join(lacking)}: bin/omarchy-mcp-setup packages --lab"
    if " cgroup2 " not in Path("/proc/self/mounts").read_text(encoding="utf-8"):
        return "a lab needs a cgroup2 hierarchy"
    return ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def cache() -> Path:
    told = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(told) if told.startswith("/") else Path.home() / ".cache") / "io.github.bruce-forte.mcp-server/lab"


@pytest.fixture(scope="session")
def root() -> Path:
    """The lab's root, built when it is not there or not of this build-lab and uv.lock."""
    target = cache() / "minimal"
    built = subprocess.run(
        [HERE / "build-lab", "--minimal", "--environment", REPO, target], check=False, text=True, capture_output=True
    )
    assert built.returncode == 0, f"no lab could be built:\n{built.stdout}{built.stderr}"
    return target


def in_lab(root: Path, command: Sequence[str], *options: str, seconds: float) -> "subprocess.CompletedProcess[str]":
    """Boot the lab, run a command in the user's session, power it off."""
    own = [
        "--bind",
        f"{REPO}:{INSIDE}",
        "--setenv",
        f"OMARCHY_MCP_VENV={VENV}",
        "--setenv",
        "PYTHONDONTWRITEBYTECODE=1",
    ]
    whole = [str(HERE / "run-lab"), "--root", str(root), "--no-shell", *own, *options, "--", *command]
    outside = {name: value for name, value in os.environ.items() if name != "OMARCHY_PATH"}
    with subprocess.Popen(
        whole, env=outside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as lab:
        try:
            said = lab.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            lab.terminate()  # it powers the lab off
            said = f"{lab.communicate(timeout=60)[0]}\nended after {seconds} s"
    return subprocess.CompletedProcess(whole, lab.returncode, said)


def test_the_lab_is_newer_than_this_project_needs_and_its_user_is_ordinary(root: Path) -> None:
    script = f"id -u; systemctl --version | head -n 1; {PYTHON} --version; systemctl --user is-system-running"
    done = in_lab(root, ["sh", "-c", script], seconds=60)
    uid, systemd, python, state = done.stdout.strip().splitlines()[:4]
    assert uid == "1000"
    assert int(re.findall(r"\d+", systemd)[0]) >= 257
    assert tuple(map(int, re.findall(r"\d+", python)[:2])) >= (3, 14)
    assert state == "running"


def test_the_units_are_good_for_its_systemd(root: Path) -> None:
    command = [PYTHON, f"{INSIDE}/tests/tools/verify_units.py", f"{INSIDE}/systemd"]
    done = in_lab(root, command, seconds=60)
    assert done.returncode == 0, done.stdout


def test_make_run_uses_the_users_own_manager_and_leaves_nothing_behind(root: Path) -> None:
    passing = r"/systemd/\(units\|transient\|invocation\)"  # the manager's own notes about what runs now
    look = f"find ~ $XDG_RUNTIME_DIR -not -path '*/.cache*' 2>/dev/null | grep -v '{passing}' | sort"
    script = f"""
      {look} >/tmp/before
      {PYTHON} {INSIDE}/demo/run.py --once || exit
      {look} | diff /tmp/before - || exit 9
      if systemctl --user list-unit-files --no-legend 'omarchy-mcp*' | grep .; then exit 10; fi
      if systemctl --user list-units --all --no-legend 'omarchy-mcp*' 'app-omarchymcp*' | grep .; then exit 11; fi
    """
    done = in_lab(root, ["sh", "-c", script], seconds=120)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}"
    assert "in your session" in done.stdout


def test_the_system_tests_pass_there(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is in tests/system and not above it all, black box, in the lab; what it said is in its system.log."""
    journal, log = cache() / "system.journal", cache() / "system.log"
    hang = ["-o", "faulthandler_timeout=180", "-o", "faulthandler_exit_on_timeout=true"]
    command = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--color=no", *hang, f"{INSIDE}/tests/system"]
    command += [f"--ignore={INSIDE}/tests/system/test_{name}.py" for name in ABOVE]
    done = in_lab(root, command, "--journal", str(journal), seconds=1500)
    log.write_text(done.stdout, encoding="utf-8")
    closing = done.stdout.strip().splitlines()[-1:] or ["nothing"]
    with capsys.disabled():
        print(f"\nin the lab: {closing[0]}", file=sys.stderr)
    assert done.returncode == 0, done.stdout[-6000:]
