"""The server by itself, as somebody who debugs it starts it: no units, no bus, no service manager."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from system import desktop
from system.client import Rpc
from system.product import START_SECONDS, Product, free_port
from system.world import REPO, wait_until

PROGRAM = REPO / "bin" / "omarchy-mcpd"


@pytest.fixture(name="alone")
def alone_fixture(installed: Product, tmp_path: Path) -> Iterator[tuple[Rpc, "subprocess.Popen[str]"]]:
    """A client of a server behind systemd-socket-activate, with nobody else on the machine."""
    if not shutil.which("systemd-socket-activate"):
        pytest.skip("systemd-socket-activate is not installed")
    port = free_port()
    variables = ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    folders = dict.fromkeys(variables, str(tmp_path))
    own = {**folders, **installed.manager_environment, "PATH": "/usr/bin:/bin"}
    setenv = [f"--setenv={name}={value}" for name, value in own.items()]
    with subprocess.Popen(
        ["systemd-socket-activate", f"--listen=127.0.0.1:{port}", "--fdname=mcp", *setenv, str(PROGRAM), "serve"],
        env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        client = Rpc(port, "")
        try:
            wait_until(lambda: _answers(client), "it answers", START_SECONDS)
            client.token = next(tmp_path.rglob("token")).read_text(encoding="utf-8").strip()
            yield client, process
        finally:
            process.terminate()


def test_it_serves_and_says_why_it_can_run_nothing(alone: tuple[Rpc, "subprocess.Popen[str]"]) -> None:
    client, _ = alone
    assert len(client.ask("tools/list", {})["tools"]) >= 4
    answer = client.do(desktop.TRUE)
    assert answer.failed
    assert answer.outcome in {"error", "refused", "not_installed"}
    assert answer.data["reason"]
    assert "Traceback" not in answer.text
    assert answer.seconds < 5


def test_it_ends_when_it_is_told_to(alone: tuple[Rpc, "subprocess.Popen[str]"]) -> None:
    _, process = alone
    process.terminate()
    assert process.wait(5) == 0


def _answers(client: Rpc) -> bool:
    try:
        return client.post("tools/list", {}).status == 401
    except OSError:
        return False
