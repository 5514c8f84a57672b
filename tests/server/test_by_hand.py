"""The server started by hand, as for debugging: a socket from systemd-socket-activate, no bus, no service manager."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.world import REPO, wait_until

ACTIVATE = shutil.which("systemd-socket-activate")
VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture(name="port")
def server_by_hand(tmp_path: Path) -> Iterator[int]:
    if ACTIVATE is None:
        pytest.skip("systemd-socket-activate is missing: it comes with systemd")
    port = free_port()
    env = {
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(REPO / "src"),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "pycache"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "OMARCHY_PATH": str(REPO / "demo"),
    }
    (tmp_path / "run").mkdir(mode=0o700)
    command = [ACTIVATE, "--listen", f"127.0.0.1:{port}", *(f"--setenv={name}" for name in env)]
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(
            [*command, sys.executable, "-m", "omarchy_mcp.server"], env=env, cwd=tmp_path, stdout=log, stderr=log
        )
        yield port
        server.terminate()
        assert server.wait(10) in (0, -15), "SIGTERM before the first connection ends systemd-socket-activate itself"


def call(port: int, token: str, name: str, arguments: dict[str, Any]) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    params = {"name": name, "arguments": arguments, "_meta": META}
    headers = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": "tools/call",
        "mcp-name": name,
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", body, headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer["result"]


def test_without_a_service_manager_the_server_answers_and_every_run_says_why_it_cannot(
    port: int, tmp_path: Path
) -> None:
    def reachable() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    wait_until(reachable, "systemd-socket-activate listens")
    token_file = tmp_path / ".local/state/io.github.bruce-forte.mcp-server/token"
    wait_until(token_file.exists, "the server has made its token", 20)
    token = token_file.read_text(encoding="ascii").strip()
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("omarchy_run", {"route": "omarchy theme list"}),
        ("omarchy_search_commands", {}),
        ("omarchy_shell_call", {"target": "media", "function": "status"}),
    )
    for name, arguments in calls:
        result = call(port, token, name, arguments)
        assert result["isError"] is True
        assert result["structuredContent"]["outcome"] == "error"
        assert "session bus" in result["structuredContent"]["reason"]


def test_without_a_socket_one_line_says_how_to_give_it_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "omarchy_mcp.server"],
        env={"PYTHONPATH": str(REPO / "src"), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "systemd-socket-activate -l 127.0.0.1:8765" in done.stderr
    assert "Traceback" not in done.stderr
