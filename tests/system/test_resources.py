"""Resources: what a client may read, in both eras, made of what the gate decides with, and in the record."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.types import ResourceTemplateReference

from system import desktop, journal
from system.client import Rpc, with_sdk
from system.product import Product
from system.world import wait_until

RESOURCES = ["omarchy://commands", "omarchy://shell/targets", "omarchy://permissions"]
TOLD = {"omarchy://system/status": "omarchy_system_status", "omarchy://desktop/state": "omarchy_desktop_state"}
TEMPLATES = ["omarchy://command/{route}", "omarchy://commands/{group}", "omarchy://shell/target/{name}"]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def read(rpc: Rpc, uri: str) -> Any:
    """What a resource says."""
    (content,) = rpc.ask("resources/read", {"uri": uri}, name=uri)["contents"]
    assert content["mimeType"] == "application/json"
    assert content["uri"] == uri
    return json.loads(content["text"])


def refused(rpc: Rpc, uri: str) -> dict[str, Any]:
    """The error a read is answered with."""
    error: dict[str, Any] = rpc.post("resources/read", {"uri": uri}, name=uri).json()["error"]
    return error


@pytest.fixture(name="configured")
def configured_fixture(product: Product) -> Iterator[Product]:
    """A product whose configuration the test may change."""
    product.wake()
    yield product
    product.desktop.write_config()
    product.control.call("Reload")


@ERAS
def test_they_are_listed_and_read_by_a_real_client(product: Product, mode: str) -> None:
    async def scenario(client: Client) -> None:
        listed = (await client.list_resources()).resources
        tools = [tool.name for tool in (await client.list_tools()).tools]
        told = [uri for uri, tool in TOLD.items() if tool in tools]
        assert [str(each.uri) for each in listed] == [*RESOURCES, *told]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == TEMPLATES
        assert all(each.title and each.description for each in listed)
        assert all(each.title and each.description for each in templates)
        uris = [
            *RESOURCES,
            *told,
            "omarchy://command/theme-set",
            "omarchy://commands/theme",
            "omarchy://shell/target/media",
        ]
        for uri in uris:
            (content,) = (await client.read_resource(uri)).contents
            assert json.loads(content.text)  # type: ignore[union-attr]  # each of ours is text

    with_sdk(product.url, product.token(), mode, scenario)


@ERAS
def test_the_arguments_of_templates_are_completed(product: Product, mode: str) -> None:
    async def scenario(client: Client) -> None:
        async def offered(uri: str, name: str, start: str) -> list[str]:
            reference = ResourceTemplateReference(type="ref/resource", uri=uri)
            return (await client.complete(reference, {"name": name, "value": start})).completion.values

        assert "theme-set" in await offered(TEMPLATES[0], "route", "the")
        assert all(each.startswith("the") for each in await offered(TEMPLATES[0], "route", "the"))
        assert len(await offered(TEMPLATES[0], "route", "")) == 100
        assert "theme" in await offered(TEMPLATES[1], "group", "T")
        assert "media" in await offered(TEMPLATES[2], "name", "me")
        assert await offered("omarchy://nothing/{x}", "x", "") == []

    with_sdk(product.url, product.token(), mode, scenario)


def test_they_say_what_the_tools_say(product: Product) -> None:
    rpc = product.rpc()
    found = rpc.call("omarchy_search_commands", query="theme set", limit=100).data["commands"]
    row = next(each for each in found if each["route"] == "omarchy theme set")
    assert row.items() <= read(rpc, "omarchy://command/theme-set").items()
    assert read(rpc, "omarchy://command/omarchy%20theme%20set") == read(rpc, "omarchy://command/theme-set")
    assert row in read(rpc, "omarchy://commands/theme")["commands"]
    assert read(rpc, "omarchy://shell/targets") == rpc.call("omarchy_shell_targets").data
    assert read(rpc, "omarchy://shell/target/media") == rpc.call("omarchy_shell_targets", target="media").data
    whole = read(rpc, "omarchy://commands")
    assert whole["count"] == len(whole["commands"]) == sum(whole["groups"].values())
    assert {"route": row["route"], "tier": row["tier"]}.items() <= next(
        each for each in whole["commands"] if each["route"] == row["route"]
    ).items()


def test_the_rules_are_those_by_which_calls_are_decided(configured: Product) -> None:
    rpc = configured.rpc()
    assert read(rpc, "omarchy://permissions")["guarded"] == "refused"
    configured.desktop.write_config(f'deny = ["{desktop.TRUE}"]\nask = true\n')
    configured.control.call("Reload")
    wait_until(lambda: read(rpc, "omarchy://permissions")["guarded"] == "asked", "the rules are in force")
    rules = {each["rule"]: each["covers"] for each in read(rpc, "omarchy://permissions")["rules"]}
    (denying,) = (rule for rule in rules if rule.startswith("deny:"))
    assert rules[denying] == [desktop.TRUE]
    assert rpc.call("omarchy_run", route=desktop.TRUE, preview=True).data["rule"] == denying
    assert any(covers for rule, covers in rules.items() if rule.startswith("allow:"))
    for rule, covers in rules.items():
        for route in covers:
            assert read(rpc, f"omarchy://command/{route.replace(' ', '-')}")["rule"] == rule


@pytest.mark.parametrize(
    "uri",
    [
        "omarchy://command/no-such-thing", "omarchy://commands/nothing", "omarchy://shell/target/nothing",
        "omarchy://command/..%2f..%2fetc", "omarchy://command/a%00b", "omarchy://nothing", "file:///etc/passwd",
        "omarchy://command/" + "a" * 20_000,
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_to_be_not_there(product: Product, uri: str) -> None:
    error = refused(product.rpc(), uri)
    assert error["code"] == -32602, error
    assert "Traceback" not in str(error)


def test_every_reading_is_recorded_under_its_clients_name(audit: Product) -> None:
    rpc, since = audit.rpc(), journal.moment()
    read(rpc, "omarchy://permissions")
    refused(rpc, "omarchy://command/no-such-thing")

    def rows() -> dict[str, str]:
        records = [each for each in audit.records(since=since) if each["OMARCHY_MCP_TOOL"] == "resources/read"]
        assert all(each["OMARCHY_MCP_CLIENT"] == "default" for each in records)
        return {str(each["OMARCHY_MCP_ROUTE"]): str(each["OMARCHY_MCP_OUTCOME"]) for each in records}

    expected = {"omarchy://permissions": "ok", "omarchy://command/no-such-thing": "error"}
    wait_until(lambda: expected.items() <= rows().items(), "both are in the record")


def test_nothing_is_read_while_agents_are_paused(product: Product) -> None:
    rpc = product.rpc()
    product.control.call("Freeze")
    try:
        for uri in RESOURCES:
            assert "paused" in refused(rpc, uri)["message"]
    finally:
        product.control.call("Thaw")
    assert read(rpc, "omarchy://permissions")


def test_what_a_disabled_tool_tells_is_not_to_be_read_either(configured: Product) -> None:
    rpc = configured.rpc()
    configured.desktop.write_config('[tools]\ndisabled = ["omarchy_shell_targets"]\n')
    configured.control.call("Reload")
    wait_until(
        lambda: "omarchy_shell_targets" not in [tool["name"] for tool in rpc.ask("tools/list", {})["tools"]],
        "it is taken away",
    )
    for uri in ("omarchy://shell/targets", "omarchy://shell/target/media"):
        assert "disabled" in refused(rpc, uri)["message"]
    assert read(rpc, "omarchy://commands")
