"""The installed Omarchy as the server knows it: the real spawner and manager, and small Omarchys of the test's own."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from omarchy_mcp.desktop.listings import look
from omarchy_mcp.desktop.omarchy import NoOmarchyError, Omarchy
from omarchy_mcp.desktop.session import Session
from omarchy_mcp.policy.listings import Kind
from omarchy_mcp.policy.registry import find
from omarchy_mcp.policy.tiers import Tier, rating_of
from omarchy_mcp.session import environment
from omarchy_mcp.session.bus import Bus
from omarchy_mcp.session.jobs import Environment, Jobs
from omarchy_mcp.session.manager import Manager
from system.product import Product
from system.world import REPO


@pytest.fixture(autouse=True)
def in_the_session(installed: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INVOCATION_ID", raising=False)
    for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, installed.world.env[name])


class Small:
    """An Omarchy of two commands in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        (folder / "bin").mkdir(parents=True)
        self.say("omarchy-show-one", "echo one")
        self.say("omarchy-theme-set", 'echo "$1"')
        self.say("omarchy-theme-list", "echo Nord; echo Rosé Pine")
        self.list(["omarchy show one", "omarchy theme set"])

    def say(self, name: str, line: str) -> None:
        path = self.path / "bin" / name
        path.write_text(f"#!/bin/bash\n{line}\n", encoding="utf-8")
        path.chmod(0o755)

    def list(self, routes: list[str], after: str = "") -> None:
        commands = [
            {
                "route": route, "binary": route.replace(" ", "-"), "group": route.split()[1], "name": route.split()[-1],
                "summary": "", "requires_sudo": False, "hidden": False, "args": "", "examples": [], "aliases": [],
                "filename_route": route, "routes": [route],
            }
            for route in routes
        ]  # fmt: skip
        text = json.dumps({"ok": True, "commands": commands})
        (self.path / "commands.json").write_text(text, encoding="utf-8")
        self.say("omarchy", f'cat "{self.path}/commands.json"{after}')

    @property
    def session(self) -> Session:
        env = {"PATH": f"{self.path}/bin:/usr/bin:/bin", "OMARCHY_PATH": str(self.path)}
        return Session(env=Environment(add=env, unset=[]), omarchy=self.path)


@asynccontextmanager
async def knowing(folder: Path) -> AsyncIterator[tuple[Omarchy, Jobs]]:
    bus = await Bus.connect()
    try:
        manager = await Manager.connect(bus)
        jobs = Jobs(manager, folder / "jobs", lambda _name, _fd: None)
        yield Omarchy(manager, jobs, folder / "cache"), jobs
    finally:
        await bus.close()


def routes(installed: object) -> list[str]:
    return sorted(command.route for command in installed.registry.commands)  # type: ignore[attr-defined]  # Installed


def test_commands_are_listed_rated_and_cached(tmp_path: Path) -> None:
    small = Small(tmp_path / "omarchy")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, _):
            first = await omarchy.installed(small.session)
            assert routes(first) == ["omarchy show one", "omarchy theme set"]
            assert await omarchy.installed(small.session) is first
        cache = sorted(path.name for path in (tmp_path / "cache").iterdir())
        assert cache == ["ratings.json", "registry.json"]
        assert all((tmp_path / "cache" / name).stat().st_mode & 0o077 == 0 for name in cache)
        # the stamps of the files are the cache's key, so replacing the lister keeps what was cached only if they stay
        stamps = os.stat(small.path / "bin" / "omarchy")
        with open(small.path / "bin" / "omarchy", "r+b") as file:  # the same file, as long, and it would fail if it ran
            file.write(b"#!/bin/false")
        os.utime(small.path / "bin" / "omarchy", ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
        async with knowing(tmp_path) as (omarchy, _):
            again = await omarchy.installed(small.session)
            assert routes(again) == routes(first)
            assert again.ratings.by_binary == first.ratings.by_binary

    asyncio.run(scenario())


def test_a_command_that_comes_with_an_update_is_there_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omarchy_mcp.desktop.omarchy.LOOK_AGAIN_S", 0.0)
    small = Small(tmp_path / "omarchy")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, _):
            await omarchy.installed(small.session)
            small.say("omarchy-show-two", "echo two")
            small.list(["omarchy show one", "omarchy show two"])
            assert routes(await omarchy.installed(small.session)) == ["omarchy show one", "omarchy show two"]

    asyncio.run(scenario())


@pytest.mark.parametrize("after", ["| head -c 40", "; exit 1", " | head -c 0"])
def test_a_listing_that_breaks_keeps_the_old_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    monkeypatch.setattr("omarchy_mcp.desktop.omarchy.LOOK_AGAIN_S", 0.0)
    small = Small(tmp_path / "omarchy")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, _):
            before = await omarchy.installed(small.session)
            small.list(["omarchy show one"], after)
            assert await omarchy.installed(small.session) is before
            assert omarchy.problem

    asyncio.run(scenario())


@pytest.mark.parametrize("state", ["missing", "no lister", "broken lister"])
def test_without_a_usable_omarchy_the_reason_is_given(tmp_path: Path, state: str) -> None:
    small = Small(tmp_path / "omarchy")
    lister = small.path / "bin" / "omarchy"
    if state == "missing":
        lister.unlink()
        small.path.rename(tmp_path / "elsewhere")
    elif state == "no lister":
        lister.unlink()
    else:
        lister.write_text("#!/bin/bash\necho '{'\n", encoding="utf-8")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, _):
            with pytest.raises(NoOmarchyError, match="cannot list the commands"):
                await omarchy.installed(small.session)

    asyncio.run(scenario())


def test_a_script_that_was_changed_after_its_rating_is_noticed_before_it_runs(tmp_path: Path) -> None:
    small = Small(tmp_path / "omarchy")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, _):
            known = await omarchy.installed(small.session)
            command = find(known.registry, "omarchy show one")
            assert command is not None
            assert rating_of(known.ratings, command).tier is Tier.SAFE
            assert not omarchy.stale(known, command.binary)
            small.say("omarchy-show-one", 'eval "$1"')
            assert omarchy.stale(known, command.binary)
            omarchy.forget()
            assert rating_of((await omarchy.installed(small.session)).ratings, command).tier is Tier.GUARDED

    asyncio.run(scenario())


def test_what_is_there_to_be_named_is_looked_up_and_could_not_look_is_told_apart(tmp_path: Path) -> None:
    small = Small(tmp_path / "omarchy")
    demo = Session(env=small.session.env, omarchy=REPO / "demo")

    async def scenario() -> None:
        async with knowing(tmp_path) as (omarchy, jobs):
            real = await omarchy.installed(demo)
            theme_set = find(real.registry, "theme set")
            assert theme_set is not None
            names = (await look(jobs, small.session, theme_set, ["Nord"]))[Kind.THEME]
            assert names == ("Nord", "Rosé Pine")
            small.say("omarchy-theme-list", "exit 1")
            assert (await look(jobs, small.session, theme_set, ["Nord"]))[Kind.THEME] is None
            assert await look(jobs, small.session, theme_set, ["../x"]) == {}

    asyncio.run(scenario())


def test_a_desktops_variables_are_found_from_its_sockets(tmp_path: Path) -> None:
    (tmp_path / "hypr" / "b").mkdir(parents=True)
    (tmp_path / "hypr" / "a").mkdir()
    (tmp_path / "wayland-1.lock").touch()
    (tmp_path / "wayland-0").touch()
    assert environment.live_sockets(tmp_path) == {}
    with (
        socket.socket(socket.AF_UNIX) as wayland,
        socket.socket(socket.AF_UNIX) as hypr,
        socket.socket(socket.AF_UNIX) as dead,
    ):
        wayland.bind(str(tmp_path / "wayland-1"))
        wayland.listen()
        hypr.bind(str(tmp_path / "hypr" / "b" / ".socket.sock"))
        hypr.listen()
        dead.bind(str(tmp_path / "hypr" / "a" / ".socket.sock"))
        found = environment.live_sockets(tmp_path)
    assert found == {"WAYLAND_DISPLAY": "wayland-1", "HYPRLAND_INSTANCE_SIGNATURE": "b"}
