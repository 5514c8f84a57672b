"""The Omarchy that is installed: where it is, what commands it has, and that both are looked at live."""

import asyncio
import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from omarchy_mcp import policy, scan
from omarchy_mcp.desktop.cache import dump, load
from omarchy_mcp.desktop.listings import LISTERS, listed, look
from omarchy_mcp.desktop.session import Session, look_at_session
from omarchy_mcp.policy.listings import Kind, Listings
from omarchy_mcp.policy.registry import Command, Registry, RegistryError, parse
from omarchy_mcp.policy.tiers import Ratings, changed, digest, rate
from omarchy_mcp.session.files import write_private
from omarchy_mcp.session.jobs import Jobs, Origin, SpawnError
from omarchy_mcp.session.manager import Manager

logger = logging.getLogger(__name__)

LIST_S = 20.0
LIST_BYTES = 8 * 1024 * 1024
LOOK_AGAIN_S = 2.0
"""How old a look at the installed files may be when a call is decided."""

MAX_SCRIPT_BYTES = 1024 * 1024


class NoOmarchyError(Exception):
    """The commands cannot be listed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The commands of one installed Omarchy, with their ratings."""

    path: Path
    fingerprint: str
    registry: Registry
    ratings: Ratings


class Omarchy:
    """Knows the installed Omarchy; a change of it is noticed at the next call, or when somebody has it looked at."""

    def __init__(self, manager: Manager, jobs: Jobs, cache: Path) -> None:
        self._manager = manager
        self._jobs = jobs
        self._cache = cache / "registry.json"
        self._ratings = cache / "ratings.json"
        self._installed: Installed | None = None
        self._looked = 0.0
        self._loading = asyncio.Lock()
        self.problem = ""
        """Why the commands could not be listed when last tried, or ""."""
        self.heard: Callable[[Installed], None] | None = None
        """Called with what is installed when it is found to be another than before."""

    @property
    def known(self) -> Installed | None:
        """What is known without looking."""
        return self._installed

    async def session(self) -> Session:
        """The login session as it is now."""
        return await look_at_session(self._manager)

    async def look(self) -> Installed:
        """The installed commands, looked at now because something has happened to them.

        Raises:
            NoOmarchyError, BusError: as `installed` and `session`.
        """
        self._looked = 0.0
        return await self.installed(await self.session())

    async def commands(self) -> Installed:
        """The installed commands for looking things up: what was known a moment ago will do.

        Raises:
            NoOmarchyError, BusError: as `installed` and `session`.
        """
        if self._installed is not None and time.monotonic() - self._looked < LOOK_AGAIN_S:
            return self._installed
        return await self.installed(await self.session())

    async def installed(self, session: Session) -> Installed:
        """The commands of the session's Omarchy, listed anew when its files changed.

        Raises:
            NoOmarchyError: they cannot be listed and none are known from before.
        """
        known = self._installed
        fresh = time.monotonic() - self._looked < LOOK_AGAIN_S
        if known is not None and known.path == session.omarchy and fresh:
            return known
        async with self._loading:
            fingerprint = await asyncio.to_thread(fingerprint_of, session.omarchy)
            known = self._installed
            if known is None or known.fingerprint != fingerprint:
                known = await self._load(session, fingerprint)
            self._looked = time.monotonic()
            return known

    async def _load(self, session: Session, fingerprint: str) -> Installed:
        text = await asyncio.to_thread(read_cache, self._cache, fingerprint)
        try:
            if text is None:
                text = await self._list(session)
                await asyncio.to_thread(write_cache, self._cache, fingerprint, text)
            registry = parse(text)
        except (RegistryError, NoOmarchyError) as error:
            self.problem = str(error)
            if self._installed is not None and self._installed.path == session.omarchy:
                logger.warning("keeping the commands known from before: %s", error)
                return self._installed
            raise NoOmarchyError(f"cannot list the commands of {session.omarchy}: {error}") from error
        ratings = await asyncio.to_thread(rated, registry, session.omarchy, fingerprint, self._ratings)
        self.problem = "; ".join(registry.problems[:3])
        self._installed = Installed(path=session.omarchy, fingerprint=fingerprint, registry=registry, ratings=ratings)
        if self.heard is not None:
            self.heard(self._installed)
        return self._installed

    def forget(self) -> None:
        """Have everything looked at anew: a script is not the one that was rated."""
        self._installed, self._looked = None, 0.0

    def stale(self, installed: Installed, binary: str) -> bool:
        """Whether a script behind a command is another one than when it was rated."""
        closure = installed.ratings.closures.get(binary, frozenset())
        return changed(installed.ratings, binary, digests_of(installed.path, closure))

    async def listings(self, session: Session, command: Command, args: Sequence[str]) -> Listings:
        """What has to be known of a command's arguments before it is decided."""
        return await look(self._jobs, session, command, args)

    async def names(self, session: Session, kind: Kind) -> tuple[str, ...]:
        """All names of a kind that a command of the desktop lists, none when it does not say."""
        return await listed(self._jobs, session, session.omarchy / "bin" / LISTERS[kind]) or ()

    async def _list(self, session: Session) -> bytes:
        """Run `omarchy commands --json --all`; the words are ours, nothing of a client's is in them."""
        argv = [str(session.omarchy / "bin" / "omarchy"), "commands", "--json", "--all"]
        origin = Origin(client="", tool="registry", route="omarchy commands")
        try:
            job = await self._jobs.start(secrets.token_hex(6), argv, origin, session.env, LIST_BYTES)
        except SpawnError as error:
            raise NoOmarchyError(str(error)) from error
        if not await job.wait(LIST_S):
            await self._jobs.stop(job)
            raise NoOmarchyError(f"'omarchy commands' did not end within {LIST_S:g} s")
        if job.stdout is None or job.exit is None or job.exit.status != 0 or job.stdout.truncated:
            raise NoOmarchyError(f"'omarchy commands' failed: {job.stderr.text()[:200] if job.stderr else ''}")
        return job.stdout.text().encode()


def fingerprint_of(omarchy: Path) -> str:
    """A digest that changes when a command of an installed Omarchy is added, removed, replaced or edited."""
    digest = hashlib.sha256(str(omarchy).encode())
    try:
        with os.scandir(omarchy / "bin") as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                status = entry.stat()
                digest.update(f"{entry.name} {status.st_ino} {status.st_size} {status.st_mtime_ns}\n".encode())
    except OSError as error:
        digest.update(repr(error.errno).encode())
    return digest.hexdigest()


def scripts_of(omarchy: Path) -> Mapping[str, bytes]:
    """The texts of all command scripts; one that cannot be read, or is huge, is left out and so not trusted."""
    texts: dict[str, bytes] = {}
    try:
        paths = sorted((omarchy / "bin").glob("omarchy*"))
    except OSError:
        return texts
    for path in paths:
        try:
            if path.stat().st_size <= MAX_SCRIPT_BYTES:
                texts[path.name] = path.read_bytes()
        except OSError as error:
            logger.info("cannot read %s, so it is not trusted: %s", path, error)
    return texts


def rated(registry: Registry, omarchy: Path, fingerprint: str, cache_file: Path) -> Ratings:
    """The ratings of exactly these files by exactly this policy, from the cache or made now."""
    stamp = f"{fingerprint} {policy_mark()}"
    try:
        ratings = load(cache_file.read_text(encoding="utf-8"), stamp)
    except (OSError, ValueError):
        ratings = None
    if ratings is None:
        ratings = rate(registry, scripts_of(omarchy))
        keep(cache_file, dump(ratings, stamp).encode())
    return ratings


def digests_of(omarchy: Path, names: Iterable[str]) -> dict[str, str]:
    """The digests of some scripts as they are now; one that cannot be read has none."""
    digests: dict[str, str] = {}
    for name in names:
        try:
            digests[name] = digest((omarchy / "bin" / name).read_bytes())
        except OSError:
            continue
    return digests


@cache
def policy_mark() -> str:
    """A digest of the source of the policy and its scan: what another policy rated is rated again."""
    mark = hashlib.sha256()
    for room in (policy.__path__[0], scan.__path__[0]):
        for path in sorted(Path(room).glob("*.py")):
            mark.update(path.read_bytes())
    return mark.hexdigest()


def read_cache(path: Path, fingerprint: str) -> bytes | None:
    """Return the listing cached for exactly these files, or None."""
    try:
        cached = json.loads(path.read_bytes())
        text = cached["text"] if cached["fingerprint"] == fingerprint else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return text.encode() if isinstance(text, str) else None


def write_cache(path: Path, fingerprint: str, text: bytes) -> None:
    """Cache a listing."""
    keep(path, json.dumps({"fingerprint": fingerprint, "text": text.decode("utf-8", "replace")}).encode())


def keep(path: Path, data: bytes) -> None:
    """Write to the cache; a cache that cannot be written costs time, nothing else."""
    try:
        write_private(path, data)
    except OSError as error:
        logger.info("cannot cache the commands: %s", error)
