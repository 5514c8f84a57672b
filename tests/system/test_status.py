"""What the status says of grants, jobs and the configuration, and what the person is told without asking."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from system import desktop
from system.bus import busctl
from system.consent import call, ended
from system.product import SERVICE, Product
from system.screen import Screen, Toast, screen
from system.world import REPO, wait_until


def by_program(product: Product) -> str:
    """The status as a person reads it."""
    program = str(REPO / "bin" / "omarchy-mcpctl")
    return product.world.run("env", f"OMARCHY_MCP_VENV={product.venv}", program, "status", check=False).stdout


@pytest.fixture(name="grants")
def grants_fixture(product: Product) -> Iterator[Path]:
    """Where the file of grants is, and nothing there."""
    product.wake()  # it makes the folder
    file = product.state / "consent.json"
    file.unlink(missing_ok=True)
    yield file
    if file.is_dir():
        file.rmdir()
    file.unlink(missing_ok=True)


@pytest.mark.parametrize("how", ["cut short", "no file", "a key too many"])
def test_a_file_of_grants_that_is_not_in_order_is_said(product: Product, grants: Path, how: str) -> None:
    assert product.control.status()["consent_problem"] == ""
    match how:
        case "cut short":
            grants.write_text('{"version": 1, "grants": [', encoding="utf-8")
        case "no file":
            grants.mkdir()
        case _:
            grants.write_text('{"version": 1, "grants": [], "granted": []}', encoding="utf-8")
    assert "consent.json" in product.control.status()["consent_problem"]
    assert "Problem: grants: " in by_program(product)
    if grants.is_dir():
        grants.rmdir()
    else:
        grants.write_text('{"version": 1, "grants": []}', encoding="utf-8")
    assert product.control.status()["consent_problem"] == ""
    assert "Problem: grants: " not in by_program(product)


def test_running_jobs_are_counted(product: Product) -> None:
    assert product.control.status()["jobs"] == 0
    answer = product.rpc().do(desktop.SLEEP, "60", "counted", timeout_ms=200)
    assert answer.outcome == "running"
    assert product.control.status()["jobs"] == 1
    assert "Jobs: 1 command running" in by_program(product)
    product.control.call("StopJob", "s", answer.data["job"])
    assert product.control.status()["jobs"] == 0


def faults(shown: Screen) -> list[Toast]:
    return [toast for toast in shown.toasts() if toast.summary == "config.toml is not in order"]


@pytest.mark.parametrize(
    ("text", "said", "instead"),
    [
        ("[policy\n", "cannot read config.toml", "it is not used: nothing changes"),
        ('[policy]\nclick = "perhaps"\n', "policy.click", "the rest of it holds"),
    ],
)
def test_a_configuration_that_is_not_in_order_is_one_notification(
    product: Product, text: str, said: str, instead: str
) -> None:
    product.wake()
    kept = product.desktop.config.read_bytes()
    with screen(product, "--keep") as shown:
        try:
            product.desktop.config.write_text(text, encoding="utf-8")
            (toast,) = wait_until(lambda: faults(shown), "it is shown", 15)
            assert said in toast.body
            assert instead in toast.body
            assert toast.actions == []
            product.desktop.config.write_text(text + "\n", encoding="utf-8")
            product.control.call("Reload")
            product.rpc().do(desktop.TRUE)
            assert len(faults(shown)) == 1
        finally:
            product.desktop.config.write_bytes(kept)
            wait_until(lambda: product.control.status()["config_ok"], "it is in order again", 10)


def test_a_configuration_that_cannot_be_read_at_the_start_is_shown(product: Product) -> None:
    kept = product.desktop.config.read_bytes()
    with screen(product, "--keep") as shown:
        try:
            product.sleep()
            product.desktop.config.write_text("[policy\n", encoding="utf-8")
            product.wake()
            (toast,) = wait_until(lambda: faults(shown), "it is shown", 15)
            assert "only safe commands run" in toast.body
        finally:
            product.desktop.config.write_bytes(kept)
            wait_until(lambda: product.control.status()["config_ok"], "it is in order again", 10)


def test_who_has_asked_and_gone_is_followed_no_more(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    stats = "org.freedesktop.DBus.Debug.Stats"
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
    whole = busctl(asked.world, "call", *bus, stats, "GetAllMatchRules", check=False)
    if whole is None:
        pytest.skip("this bus does not list its match rules: dbus-daemon does where it is built with its statistics")

    def followed() -> list[str]:
        owner = asked.control.owner()
        rules = busctl(asked.world, "call", *bus, stats, "GetAllMatchRules")[0][owner]
        return [rule for rule in rules if "NameOwnerChanged" in rule and "arg0=':" in rule]

    assert followed() == []
    for word in ("one", "two"):
        answer = call(asked, pool, word)
        shown.click("deny")
        assert answer.result().failed
    assert len(followed()) == 1
    asked.world.systemctl("stop", SERVICE)
    wait_until(lambda: followed() == [], "the rule is taken back")
    ended(asked, "declined", shown, besides=["declined"])
