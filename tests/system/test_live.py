"""The configuration while the server serves: what is saved is in force, clients are told, the person is told."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from system import desktop, journal, wire
from system.client import Era, Rpc, headers
from system.product import SERVICE, Product
from system.streams import Held
from system.world import wait_until

IN_FORCE_S = 3.0
"""Two seconds are promised; a loaded machine takes its time to be asked."""

DENY = f'deny = ["{desktop.TRUE}"]\n'
HIDE = '[tools]\ndisabled = ["omarchy_shell_call"]\n'
TOLD = b"notifications/tools/list_changed"
TOOLS = 19


def allowed(rpc: Rpc) -> bool:
    return rpc.do(desktop.TRUE).outcome == "ok"


def tools(rpc: Rpc) -> list[str]:
    return [tool["name"] for tool in rpc.ask("tools/list", {})["tools"]]


@pytest.fixture(name="config")
def person_at_work(product: Product) -> Iterator[Path]:
    """The person's file while the server serves; afterwards it is as it was, and in force."""
    product.wake()
    folder, kept = product.desktop.config.parent, product.desktop.config.read_bytes()
    yield product.desktop.config
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder.with_name("old"), ignore_errors=True)
    folder.mkdir(exist_ok=True)
    product.desktop.config.write_bytes(kept)
    rpc = product.rpc()
    wait_until(lambda: allowed(rpc) and len(tools(rpc)) == TOOLS, "the old configuration is back", 10)
    wait_until(lambda: product.control.status()["config_ok"], "its state is told")


def edit(product: Product, _: Path) -> None:
    product.desktop.write_config(DENY)


def replace(product: Product, scratch: Path) -> None:
    new = scratch / "new"
    new.write_text(f"[policy]\n{DENY}", encoding="utf-8")
    shutil.move(new, product.desktop.config)


def link(product: Product, scratch: Path) -> None:
    (scratch / "config.toml").write_text(f"[policy]\n{DENY}", encoding="utf-8")
    product.desktop.config.unlink()
    product.desktop.config.symlink_to(scratch / "config.toml")


def link_the_folder(product: Product, scratch: Path) -> None:
    (scratch / "config.toml").write_text(f"[policy]\n{DENY}", encoding="utf-8")
    product.desktop.config.parent.rename(product.desktop.config.parent.with_name("old"))
    product.desktop.config.parent.symlink_to(scratch)


@pytest.mark.parametrize("save", [edit, replace, link, link_the_folder])
def test_what_is_saved_is_in_force_within_two_seconds(
    product: Product, config: Path, tmp_path: Path, save: Callable[[Product, Path], None]
) -> None:
    rpc = product.rpc()
    server = product.pid()
    assert allowed(rpc)
    save(product, tmp_path)
    wait_until(lambda: not allowed(rpc), "the deny is in force", IN_FORCE_S)
    if save in (link, link_the_folder):  # and what it leads to is followed from now on
        (tmp_path / "config.toml").write_text(f'[policy]\nallow = ["{desktop.TRUE}"]\n', encoding="utf-8")
        wait_until(lambda: allowed(rpc), "the link's target is followed", IN_FORCE_S)
    assert product.pid() == server


def test_a_file_that_cannot_be_read_keeps_the_rules_and_is_recorded_once(audit: Product, config: Path) -> None:
    rpc, since = audit.rpc(), journal.moment()
    audit.desktop.write_config(DENY)
    wait_until(lambda: not allowed(rpc), "the deny is in force", IN_FORCE_S)
    config.write_bytes(b"[policy]\n# \xe9\nallow = []\n")
    wait_until(lambda: not audit.control.status()["config_ok"], "it is told", IN_FORCE_S)
    assert "UTF-8" in audit.control.status()["config_problem"]
    os.utime(config)
    assert not allowed(rpc)

    def rejected() -> list[journal.Entry]:
        found = journal.records(audit.world, "config", since=since)
        return [entry for entry in found if entry["OMARCHY_MCP_ACTION"] == "rejected"]

    wait_until(rejected, "the record")
    config.write_text(f"[policy]\n{DENY}", encoding="utf-8")
    wait_until(lambda: audit.control.status()["config_ok"], "it is in order again", IN_FORCE_S)
    assert len(rejected()) == 1


def test_touching_the_file_makes_no_record(audit: Product, config: Path) -> None:
    since = journal.moment()
    os.utime(config)
    config.write_bytes(config.read_bytes())
    audit.desktop.write_config(DENY)
    wait_until(lambda: not allowed(audit.rpc()), "a real change is in force", IN_FORCE_S)

    def actions() -> list[str]:
        found = journal.records(audit.world, "config", since=since)
        return [entry["OMARCHY_MCP_ACTION"] for entry in found]

    both = ["announced", "reloaded"]  # two services write them, in no order that means anything
    assert wait_until(lambda: len(actions()) >= len(both) and sorted(actions()), "the records") == both


def test_a_deleted_file_means_the_defaults_after_a_moment(audit: Product, config: Path) -> None:
    rpc = audit.rpc()
    config.write_text(f"[policy]\n{DENY}", encoding="utf-8")
    wait_until(lambda: not allowed(rpc), "the deny is in force", IN_FORCE_S)
    since = journal.moment()
    config.unlink()
    assert not allowed(rpc)
    wait_until(lambda: allowed(rpc), "the defaults hold", IN_FORCE_S + 2)

    def said() -> list[str]:
        return [entry["MESSAGE"] for entry in journal.records(audit.world, "config", since=since)]

    wait_until(
        lambda: [text for text in said() if text == "Agents may do more: no longer denied: theme probe true"],
        "it is announced",
    )
    assert "config.toml is gone, so the defaults hold: changed" in said()


@pytest.mark.parametrize("member", ["Reload", "HUP"])
def test_who_asks_does_not_wait(product: Product, config: Path, member: str) -> None:
    product.desktop.write_config(DENY)
    wait_until(lambda: not allowed(product.rpc()), "the deny is in force", IN_FORCE_S)
    config.unlink()
    if member == "Reload":
        product.control.call("Reload")
    else:
        product.world.systemctl("kill", "--signal=HUP", SERVICE)
    wait_until(lambda: allowed(product.rpc()), "the defaults hold", 1.5)


def test_a_change_of_the_tools_is_told_once_to_every_client_and_a_change_of_policy_to_none(
    product: Product, config: Path
) -> None:
    without_stream = product.rpc(Era.HANDSHAKE)
    assert without_stream.initialize()["capabilities"]["tools"]["listChanged"] is True
    assert product.rpc(Era.MODERN).initialize()["capabilities"]["tools"]["listChanged"] is True
    with Held(product, Era.HANDSHAKE, again=False) as old, Held(product, Era.MODERN, again=False) as new:
        product.desktop.write_config(HIDE)
        wait_until(lambda: TOLD in old.received and TOLD in new.received, "both are told", IN_FORCE_S)
        assert len(tools(without_stream)) == TOOLS - 1
        product.desktop.write_config(f"{DENY}{HIDE}")
        wait_until(lambda: not allowed(product.rpc()), "the deny is in force", IN_FORCE_S)
        product.desktop.write_config()
        wait_until(lambda: old.received.count(TOLD) == new.received.count(TOLD) == 2, "both again", IN_FORCE_S)
        assert len(tools(without_stream)) == TOOLS
        wait_until(lambda: allowed(product.rpc()), "the deny is gone", IN_FORCE_S)
        assert (old.received.count(TOLD), new.received.count(TOLD)) == (2, 2)


@pytest.mark.parametrize("era", Era)
def test_a_disabled_tool_is_an_unknown_tool_also_after_a_restart(product: Product, config: Path, era: Era) -> None:
    def refusal(tool: str, **arguments: Any) -> str:
        rpc = product.rpc(era)
        rpc.initialize()
        answer = rpc.call(tool, **arguments)
        assert answer.failed
        return answer.text.replace(tool, "…")

    offered = tools(product.rpc())
    product.desktop.write_config('[tools]\ndisabled = ["omarchy_run"]\n')
    wait_until(lambda: "omarchy_run" not in tools(product.rpc()), "it is not listed", IN_FORCE_S)
    assert refusal("omarchy_run", route=desktop.TRUE) == refusal("omarchy_nothing")
    wait_until(lambda: product.control.status()["tools"] == TOOLS - 1, "the count is told")
    assert product.control.status()["tools_declared"] == TOOLS
    product.restart()
    assert tools(product.rpc()) == [name for name in offered if name != "omarchy_run"]
    assert refusal("omarchy_run", route=desktop.TRUE) == refusal("omarchy_nothing")
    product.desktop.write_config()
    wait_until(lambda: tools(product.rpc()) == offered, "the order is as it was", IN_FORCE_S)


def test_attached_clients_are_counted_when_they_come_and_go(product: Product) -> None:
    product.wake()
    wait_until(lambda: product.control.status()["clients"] == 0, "nobody is attached")
    with Held(product, Era.HANDSHAKE, again=False), Held(product, Era.MODERN, again=False):
        wait_until(lambda: product.control.status()["clients"] == 2, "both are counted")
    wait_until(lambda: product.control.status()["clients"] == 0, "nobody is any more")


def test_a_stream_without_a_session_is_refused_and_counts_for_nobody(product: Product) -> None:
    product.wake()
    own = headers(product.token(), Era.HANDSHAKE, "")
    statuses = {wire.request(product.port, "GET", "/mcp", headers=own).status for _ in range(50)}
    assert statuses <= {400, 404, 405, 406}
    assert product.control.status()["clients"] == 0


def test_an_ended_session_is_forgotten(product: Product) -> None:
    with Held(product, Era.HANDSHAKE, again=False) as held:
        own = headers(product.token(), Era.HANDSHAKE, "", session=held.session)
        assert wire.request(product.port, "DELETE", "/mcp", headers=own).status in (200, 204)
        wait_until(lambda: not held.connected.is_set(), "its stream has ended")
        assert wire.request(product.port, "GET", "/mcp", headers=own).status == 404


def test_without_inotify_the_file_is_looked_at_and_status_says_so(product: Product, config: Path) -> None:
    with product.changed(SERVICE, "[Service]\nSystemCallFilter=~inotify_init1\n"):
        product.wake()
        wait_until(lambda: "inotify" in product.control.status()["config_watch"], "it is said")
        assert product.control.status()["config_ok"]
        product.desktop.write_config(DENY)
        wait_until(lambda: not allowed(product.rpc()), "the deny is in force", IN_FORCE_S)
    product.wake()
    wait_until(lambda: product.control.status()["config_watch"] == "", "it is watched again")


def test_an_idle_exit_that_is_set_while_it_serves_counts(product: Product, config: Path) -> None:
    product.desktop.write_config("[server]\nidle_exit_s = 1\n")
    wait_until(lambda: product.show(SERVICE, "ActiveState") == "inactive", "it leaves", 10)
    assert product.rpc().do(desktop.TRUE).outcome == "ok"
