"""The configuration in force, and how another comes into force."""

import asyncio
import hashlib
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.policy.config import MAX_BYTES, RESTRICTIVE, Config, ParsedConfig, parse_config
from omarchy_mcp.session.files import read_small
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event

AGAIN_S = 2.0
"""A file that is gone counts as gone once it still is after this time: editors take it away to put another there."""

SETTLE_S = 0.1
SETTLING = 10
"""How often, and how many times at most, a file that has changed is read until it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The file at one moment; without a digest it could not be read, and without a problem it is not there."""

    digest: str = ""
    parsed: ParsedConfig | None = None
    problem: str = ""


def read(path: Path) -> Reading:
    """Read and parse the file."""
    try:
        text = read_small(path, MAX_BYTES)
    except FileNotFoundError:
        broken = next((each for each in (path, *path.parents) if each.is_symlink() and not each.exists()), None)
        return Reading(problem=f"cannot read config.toml: {broken} is a link to nothing" if broken else "")
    except OSError as error:
        return Reading(problem=f"cannot read config.toml: {error.strerror or error}")
    parsed = parse_config(text)
    if not parsed.parsed:
        return Reading(problem="; ".join(parsed.problems))
    return Reading(digest=hashlib.sha256(text).hexdigest(), parsed=parsed)


NOT_THERE = ParsedConfig(config=Config(), problems=(), parsed=True)


class Settings:
    """Holds the configuration; whoever decides a call reads `current` once and keeps to it."""

    def __init__(self, path: Path, audit: Writer, tools: Collection[str] = ()) -> None:
        """`tools` are the names tools.disabled may have."""
        self.path = path
        self._audit = audit
        self._tools = tools
        self._digest = "not read yet"
        self._gone_since: float | None = None
        self.current: Config = RESTRICTIVE
        self.problem = "not read yet"
        """What is wrong with the file, or ""."""
        self.rejected = False
        """Whether nothing in the file counts, and not only what is wrong in it."""

    @property
    def gone(self) -> bool:
        """Whether the file was not there when looked at last, and its rules still hold."""
        return self._gone_since is not None

    def load(self) -> None:
        """Read at the start: a file that cannot be read means the most restrictive reading, never the defaults."""
        self.problem = ""
        found = read(self.path)
        if found.problem:
            self._reject(found.problem)
        else:
            self._accept(found)

    async def reload(self) -> None:
        """Read again because somebody asks, and record it: a file that cannot be read changes nothing."""
        before = self.current
        await self._look(asked=True)
        changed = "changed" if self.current != before else "unchanged"
        self._audit.write(Event.CONFIG, f"configuration read again: {changed}", action="reloaded", outcome=changed)

    async def look(self) -> None:
        """Read again because the file may have changed; what is as it was makes no record."""
        before, problem = self.current, self.problem
        gone = not await self._look(asked=False)
        if self.current == before and self.problem == problem:
            return
        if not self.problem or self.current != before:
            changed = "changed" if self.current != before else "unchanged"
            how = "config.toml is gone, so the defaults hold" if gone else "configuration read again"
            self._audit.write(
                Event.CONFIG, f"{how}: {changed}", action="reset" if gone else "reloaded", outcome=changed
            )

    async def _look(self, *, asked: bool) -> bool:
        """Read and take over; returns whether the file is there."""
        found = await (self._read() if asked else self._settled())
        if found.problem:
            self._gone_since = None
            self._reject(found.problem)
            return True
        if found.parsed is None and not asked and self._wait_for_it():
            return True
        self._accept(found)
        return found.parsed is not None

    async def _read(self) -> Reading:
        return await asyncio.to_thread(read, self.path)  # a large file takes its time

    async def _settled(self) -> Reading:
        """The file once two readings agree: one that is being written in place is empty first, then half there.

        Half a file can be sound TOML, without the line that denies something.
        """
        found = await self._read()
        for _ in range(SETTLING):
            if (found.problem or found.digest) == (self.problem if found.problem else self._digest):
                break
            await asyncio.sleep(SETTLE_S)
            before, found = found, await self._read()
            if found == before:
                break
        return found

    def _wait_for_it(self) -> bool:
        """Whether a file that is not there may be about to come back."""
        if not self._digest and not self.problem:
            return False  # there was none before
        now = time.monotonic()
        self._gone_since = self._gone_since or now
        return now - self._gone_since < AGAIN_S

    def _accept(self, found: Reading) -> None:
        self._gone_since = None
        self.rejected = False
        same = found.digest == self._digest
        self._digest = found.digest
        parsed = found.parsed or NOT_THERE
        unknown = sorted(parsed.config.disabled_tools - set(self._tools)) if self._tools else []
        problems = (*parsed.problems, *(f"config.toml: tools.disabled: no tool is called {name!r}" for name in unknown))
        if parsed.config != self.current:  # an equal one is not another: what was made for it stays
            self.current = parsed.config
        self.problem = "; ".join(problems)
        for problem in () if same else problems:
            self._audit.write(Event.CONFIG, problem, action="problem")

    def _reject(self, why: str) -> None:
        """Keep what is in force; said once, however often the file is looked at."""
        self.rejected = True
        if why == self.problem:
            return
        self.problem = why
        self._audit.write(Event.CONFIG, f"configuration rejected: {why}", action="rejected", outcome="refused")
