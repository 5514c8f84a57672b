"""The store of grants: one file, one writer, on disk before anybody hears of success."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.control import grantfile
from omarchy_mcp.policy import grants
from omarchy_mcp.policy.grants import Grant
from omarchy_mcp.policy.questions import Asked, Scope
from omarchy_mcp.session.files import Stamp, forget_unfinished, read_small, stamp_of, write_private


class GrantError(Exception):
    """A grant cannot be stored or taken back; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The file as it was read last; it is read again once its stamp is another."""

    stamp: Stamp | None = None
    grants: tuple[Grant, ...] = ()
    parsed: bool = False


class GrantStore:
    """What the person has allowed for longer than one call.

    A file that cannot be read grants nothing, is left alone, and is said.
    """

    def __init__(self, path: Path, since: Callable[[Asked], int]) -> None:
        """`since` tells when the command of a call became what it is: no grant from before covers it (µs, 1970)."""
        self._path = path
        self._since = since
        forget_unfinished(path)  # nobody else writes it
        self._writing = asyncio.Lock()
        self.problem = ""
        """Why nothing, or not everything, in the file counts, or ""."""
        self._last = Seen()

    def read(self) -> tuple[Grant, ...]:
        """The grants as the file has them now; the person may have edited it."""
        parsed, _ = self._parse()
        return parsed

    def covering(self, call: Asked) -> Grant | None:
        """The grant that covers a call now, or None."""
        subject, since = call.subject, self._since(call)
        counts = [
            grant for grant in self.read() if grant.created_usec >= since and may_store(call, grant.scope) is None
        ]
        return grants.covering(counts, subject.client, subject.route, subject.argv, now_usec(), session_mark())

    def outdated(self, call: Asked, opened_usec: int) -> bool:
        """Whether the command of a call became what it is after somebody was asked about it."""
        return opened_usec < self._since(call)

    async def add(self, grant: Grant) -> None:
        """Store a grant; returns when it is on disk.

        Raises:
            GrantError: it is not stored.
        """
        async with self._writing:
            more = grants.add(grants.prune(self._own(), now_usec(), session_mark()), grant)
            if isinstance(more, str):
                raise GrantError(more)
            await self._write(more)

    async def revoke(self, grant_id: str) -> bool:
        """Take a grant back; returns whether there was one of that id.

        Raises:
            GrantError: it is not taken back.
        """
        async with self._writing:
            before = self._own()
            after = grants.revoke(before, grant_id)
            if after == before:
                return False
            await self._write(after)
            return True

    async def _write(self, kept: tuple[Grant, ...]) -> None:
        try:
            await asyncio.to_thread(write_private, self._path, grantfile.dump(kept))
        except OSError as error:
            raise GrantError(f"cannot write {self._path}: {error.strerror or error}") from error

    def _own(self) -> tuple[Grant, ...]:
        """The grants to be written again; a file that is not understood is not overwritten."""
        kept, parsed = self._parse()
        if not parsed:
            raise GrantError(f"{self.problem}; mend or remove {self._path} first")
        return kept

    def _parse(self) -> tuple[tuple[Grant, ...], bool]:
        """The grants in the file, and whether it could be read; sets `problem`."""
        try:
            now = stamp(self._path)
            if now != self._last.stamp:
                read = grantfile.parse(read_small(self._path, grantfile.MAX_BYTES) if now else None)
                self.problem = "; ".join(read.problems)
                self._last = Seen(stamp=now, grants=read.grants, parsed=read.parsed)
        except OSError as error:
            self.problem = f"cannot read {self._path}: {error.strerror or error}; nothing is granted"
            self._last = Seen()
        return self._last.grants, self._last.parsed


def stamp(path: Path) -> Stamp:
    """The stamp of a file, () when there is none.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        return stamp_of(path.stat())
    except FileNotFoundError:
        return ()


def may_store(call: Asked, scope: Scope) -> str | None:
    """Why a call may not be granted for longer, or None."""
    return grants.may_store(
        scope, tier=call.tier, rule=call.rule, askable=True,  # the gate tells of nothing else
        route=call.subject.route, capabilities=call.subject.capabilities,
    )  # fmt: skip


def now_usec() -> int:
    """This moment, in microseconds since 1970."""
    return time.time_ns() // 1000


def session_mark() -> str:
    """What tells this login session from every other: the boot, and when its service manager began."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    stat = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
    return f"{boot}-{stat.rpartition(')')[2].split()[19]}"
