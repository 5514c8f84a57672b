"""The Omarchy that is installed: where it is, what commands it has, and that both are looked at live."""

import asyncio
import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.policy.registry import Registry, RegistryError, parse
from omarchy_mcp.policy.tiers import Ratings, rate
from omarchy_mcp.session import environment
from omarchy_mcp.session.files import write_private
from omarchy_mcp.session.jobs import Environment, Jobs, Origin, SpawnError
from omarchy_mcp.session.manager import Manager

logger = logging.getLogger(__name__)

INSTALLED = Path("/usr/share/omarchy")
LIST_S = 20.0
LIST_BYTES = 8 * 1024 * 1024
LOOK_AGAIN_S = 2.0
"""How old a look at the installed files may be when a call is decided."""

MAX_SCRIPT_BYTES = 1024 * 1024
SESSION_VARIABLES = ("WAYLAND_DISPLAY", "HYPRLAND_INSTANCE_SIGNATURE")


class NoOmarchyError(Exception):
    """The commands cannot be listed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The login session at one moment: what a command gets beside the manager's environment, and Omarchy's folder."""

    env: Environment
    omarchy: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The commands of one installed Omarchy, with their ratings."""

    path: Path
    fingerprint: str
    registry: Registry
    ratings: Ratings


class Omarchy:
    """Knows the installed Omarchy; a change of it is noticed at the next call."""

    def __init__(self, manager: Manager, jobs: Jobs, cache: Path) -> None:
        self._manager = manager
        self._jobs = jobs
        self._cache = cache / "registry.json"
        self._installed: Installed | None = None
        self._looked = 0.0
        self._loading = asyncio.Lock()
        self.problem = ""
        """Why the commands could not be listed when last tried, or ""."""

    @property
    def known(self) -> Installed | None:
        """What is known without looking."""
        return self._installed

    async def session(self) -> Session:
        """Look at the login session now: a server that was started before the desktop works after it."""
        manager = await self._manager.environment()
        found = {}
        if any(name not in manager for name in SESSION_VARIABLES):
            live = environment.live_sockets(environment.session_runtime())
            found = {name: value for name, value in live.items() if name not in manager}
        omarchy = Path(manager.get("OMARCHY_PATH") or environment.get("OMARCHY_PATH") or INSTALLED)
        path = manager.get("PATH") or os.defpath
        add = found | {"OMARCHY_PATH": str(omarchy), "PATH": f"{omarchy}/bin:{path}"}
        unset = sorted(
            {*environment.NEVER, "SYSTEMD_EXEC_PID", "MANAGERPID"} | set(filter(environment.forbidden, manager))
        )
        return Session(env=Environment(add=add, unset=unset), omarchy=omarchy)

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
        ratings = await asyncio.to_thread(lambda: rate(registry, scripts_of(session.omarchy)))
        self.problem = "; ".join(registry.problems[:3])
        self._installed = Installed(path=session.omarchy, fingerprint=fingerprint, registry=registry, ratings=ratings)
        return self._installed

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


def read_cache(path: Path, fingerprint: str) -> bytes | None:
    """Return the listing cached for exactly these files, or None."""
    try:
        cached = json.loads(path.read_bytes())
        text = cached["text"] if cached["fingerprint"] == fingerprint else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return text.encode() if isinstance(text, str) else None


def write_cache(path: Path, fingerprint: str, text: bytes) -> None:
    """Cache a listing; a cache that cannot be written costs time, nothing else."""
    try:
        write_private(path, json.dumps({"fingerprint": fingerprint, "text": text.decode("utf-8", "replace")}).encode())
    except OSError as error:
        logger.info("cannot cache the commands: %s", error)
