"""The port is held before the server runs, and the first caller starts it."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp import Client

from system import client, wire
from system.client import Era, Rpc
from system.product import SERVICE, SOCKET, START_SECONDS, Product
from system.world import wait_until

TOOLS = {"omarchy_search_commands", "omarchy_run", "omarchy_shell_targets", "omarchy_shell_call"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_first_client_starts_a_sleeping_server_and_is_served(product: Product, mode: str) -> None:
    token = product.token()
    product.sleep()
    assert product.show(SOCKET, "ActiveState") == "active"
    assert product.show(SERVICE, "ActiveState") == "inactive"

    async def list_tools(agent: Client) -> set[str]:
        return {tool.name for tool in (await agent.list_tools()).tools}

    names = client.with_sdk(product.url, token, mode, list_tools)
    assert product.show(SERVICE, "ActiveState") == "active"
    assert names >= TOOLS


def test_systemd_shows_a_line_for_people_once_the_server_is_ready(product: Product) -> None:
    product.sleep()
    product.wake()
    assert product.show(SERVICE, "StatusText")
    assert product.show(SERVICE, "NotifyAccess") in {"main", "exec"}


def test_callers_that_arrive_while_the_server_starts_are_all_answered(product: Product) -> None:
    product.wake()
    product.sleep()
    with ThreadPoolExecutor(8) as callers:
        replies = list(
            callers.map(lambda _: wire.request(product.port, "GET", "/health", seconds=START_SECONDS), range(8))
        )
    assert [reply.status for reply in replies] == [200] * 8


@pytest.mark.parametrize("era", list(Era))
def test_each_era_of_the_protocol_lists_the_same_tools(product: Product, era: Era) -> None:
    listed = product.rpc(era).ask("tools/list", {})["tools"]
    assert {tool["name"] for tool in listed} >= TOOLS
    assert listed[0]["annotations"]["readOnlyHint"] is True, "probing clients call the first tool with no arguments"
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in listed)


def test_the_first_tool_listed_can_be_called_with_nothing_at_all(rpc: Rpc) -> None:
    first = rpc.ask("tools/list", {})["tools"][0]["name"]
    reply = rpc.post("tools/call", {"name": first, "arguments": {}}, name=first)
    assert reply.status == 200


def test_an_argument_no_tool_knows_is_refused_by_name(product: Product, rpc: Rpc) -> None:
    answer = rpc.call("omarchy_run", route="omarchy install probe", args=[], sudo=True)
    assert answer.failed
    assert "sudo" in answer.text
    assert not product.desktop.ran("guarded")


def test_nothing_listens_but_the_loopback_address(product: Product) -> None:
    product.wake()
    port = f":{product.port:04X}"
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path("/proc/net", table).read_text(encoding="utf-8").splitlines()[1:]
        if line.split()[1].endswith(port) and line.split()[3] == "0A"
    ]
    assert listening == [f"0100007F{port}"]


def test_the_token_is_made_at_the_first_start_and_is_nobody_elses_to_read(product: Product) -> None:
    product.sleep()
    file = product.state / "token"
    file.unlink(missing_ok=True)
    product.wake()
    wait_until(file.exists, "the token is written")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(product.state.stat().st_mode) == 0o700
    assert len(product.token()) >= 32
    assert product.rpc().ask("tools/list", {})["tools"]


def test_health_tells_that_it_serves_and_no_secret(product: Product) -> None:
    product.wake()
    reply = wire.request(product.port, "GET", "/health")
    assert reply.status == 200
    assert product.token().encode() not in reply.body
