"""The control service is killed while questions are answered and grants are written and taken back.

OMARCHY_MCP_KILLS=200 in the environment kills it so often; the suite does so less often.
"""

import asyncio
import json
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from system import asker, bus
from system.asker import DBUS, DBUS_PATH
from system.bus import Caller, connected, text
from system.product import CONTROL, SERVICE, Product
from system.world import REPO

KILLS = int(os.environ.get("OMARCHY_MCP_KILLS", "25"))
LONGEST_S = 0.3
"""A kill comes so long after the first answer at most: a few grants are written in that time."""

KEPT = 20
"""Grants that are not taken back again, so that there is a file worth spoiling."""

ASKER = """[Service]
Type=exec
ExecStart=
ExecStart={python} -X pycache_prefix={cache} -m system.asker
Environment=PYTHONPATH={tests}
WatchdogSec=0
"""
UNLIMITED = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=0\n"


@dataclass(slots=True, kw_only=True)
class Told:
    """What the control service has said of grants, each known by its argument."""

    granted: set[str] = field(default_factory=set)
    """Reported as stored, and not as taken back."""
    unknown: set[str] = field(default_factory=set)
    """Granted or taken back by a call that was never answered: they may be there or not."""
    answered: int = 0


@pytest.fixture(name="hammered")
def hammered_fixture(product: Product) -> Iterator[Product]:
    """A product whose server is the asker, and whose control service may be killed as often as one likes."""
    python, cache = f"{product.venv}/bin/python", product.world.scratch / "pycache"
    instead = ASKER.format(python=python, cache=cache, tests=REPO / "tests")
    with product.changed(CONTROL, UNLIMITED), product.changed(SERVICE, instead):
        product.world.systemctl("restart", CONTROL)
        product.world.systemctl("start", SERVICE)
        yield product
    (product.state / "consent.json").unlink(missing_ok=True)
    product.world.systemctl("restart", CONTROL)


class Person:
    """Answers for always, and takes back, as fast as the bus carries it."""

    def __init__(self, caller: Caller, told: Told) -> None:
        self._caller = caller
        self._told = told
        self.begun = asyncio.Event()
        self.stopped = False

    async def work(self) -> None:
        """Go on until stopped; what was called by then is waited for."""
        while not self.stopped:
            old = (await self._caller.ask("Grants") or [])[:-KEPT]
            rows = await self._caller.ask("Questions") or []
            acts = [self._revoke(row) for row in old] + [self._approve(row) for row in rows]
            random.shuffle(acts)
            await asyncio.gather(*acts)

    async def _approve(self, row: dict[str, Any]) -> None:
        if self.stopped:
            return
        (key,) = row["argv"]
        self._told.unknown.add(key)
        self.begun.set()
        options = {"digest": text(row["digest"]), "scope": text("args"), "life": text("always")}
        if await self._caller.ask("Approve", "sa{sv}", row["id"], options) is not None:
            self._told.unknown.discard(key)
            self._told.granted.add(key)
            self._told.answered += 1

    async def _revoke(self, row: dict[str, Any]) -> None:
        if self.stopped:
            return
        (key,) = row["args"]
        self._told.unknown.add(key)
        self._told.granted.discard(key)
        if await self._caller.ask("Revoke", "s", row["id"]) is not None:
            self._told.unknown.discard(key)
            self._told.answered += 1


def stored(file: Path) -> set[str]:
    """The grants in the file, which must be whole."""
    if not file.exists():
        return set()
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert whole["version"] == 1
    assert all(entry["route"] == asker.ROUTE and entry["life"] == "always" for entry in whole["grants"])
    keys = [entry["args"][0] for entry in whole["grants"]]
    assert len(set(keys)) == len(keys)
    return set(keys)


async def runs(caller: Caller) -> None:
    """See that the control service is there again: one that is being killed or started answers with an error."""
    while await caller.ask("Grants") is None:
        await asyncio.sleep(0.02)


async def kill_once(product: Product, caller: Caller, told: Told) -> None:
    """Answer and take back for a moment, kill, and compare."""
    await asyncio.wait_for(runs(caller), 15)
    pid = await caller.ask("GetConnectionUnixProcessID", "s", bus.NAME, peer=DBUS, path=DBUS_PATH)
    person = Person(caller, told)
    working = asyncio.ensure_future(person.work())
    await asyncio.wait_for(person.begun.wait(), 15)
    await asyncio.sleep(random.uniform(0, LONGEST_S))  # a point at random: nothing is waited for
    os.kill(pid, signal.SIGKILL)
    person.stopped = True
    await working
    there = stored(product.state / "consent.json")
    assert told.granted - there == set(), "reported and lost"
    assert there - told.granted - told.unknown == set(), "never granted"
    told.granted, told.unknown = there, set()


def test_a_kill_at_any_point_loses_no_grant_and_makes_none(hammered: Product) -> None:
    told = Told()

    async def whole() -> None:
        async with connected(hammered.world) as connection:
            for _ in range(KILLS):
                await kill_once(hammered, Caller(connection), told)

    asyncio.run(whole())
    rows = hammered.control.call("Grants")
    assert {row["args"][0] for row in rows} == told.granted
    assert told.answered > KILLS
    assert [path.name for path in hammered.state.glob(".consent.json.*")] == []
