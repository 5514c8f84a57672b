"""The clients that may come in, and what follows when one of them no longer may.

Looked at anew with every request, so that a token counts, and no longer counts, from the next one on; watched as
well, so that what a client still listens to ends without one.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from omarchy_mcp.session.clientfile import DEFAULT, NOBODY, ClientFile, digest_of
from omarchy_mcp.session.files import TokenFile
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event
from omarchy_mcp.session.watching import Watch

logger = logging.getLogger(__name__)

LOOK_S = 2.0
"""How often the files are looked at where the kernel does not tell of changes."""

Digests = Mapping[str, bytes]


class Tokens:
    """The digest of each client's token, by the client's name."""

    def __init__(self, folder: Path, audit: Writer, changed: Callable[[Digests], None]) -> None:
        """`changed` is told the digests that count from now on, when a client has come, gone, or got another."""
        self._token = TokenFile(folder / "token")
        self._clients = ClientFile(folder / "clients.json")
        self._audit = audit
        self._changed = changed
        self._secret = b""
        self._further: Digests = NOBODY
        self._current: Digests = {}

    @property
    def path(self) -> Path:
        """Where the default client's token is."""
        return self._token.path

    @property
    def problem(self) -> str:
        """Why somebody who should be let in is not, or ""."""
        return "; ".join(filter(None, (self._token.problem, self._clients.problem)))

    def ensure(self) -> None:
        """Make the default client's token where there is none, and say what is wrong with what there is."""
        try:
            self._token.ensure()
        except OSError as error:
            logger.error("cannot make a token, so the default client is not admitted: %s", error)  # noqa: TRY400 - a reason, not a fault
        self._further, self._secret = self._clients.current(), self._token.current()
        self._current = self._put_together()
        if self.problem:
            logger.error("%s", self.problem)

    def current(self) -> Digests:
        """The clients that are let in by the files as they are now."""
        further, secret = self._clients.current(), self._token.current()
        if further is not self._further or secret != self._secret:
            before = self._current
            self._further, self._secret = further, secret
            self._current = self._put_together()
            self._tell(before, self._current)
        return self._current

    def _put_together(self) -> Digests:
        own = {DEFAULT: digest_of(self._secret)} if self._secret else {}
        return {**self._further, **own}

    def _tell(self, before: Digests, after: Digests) -> None:
        if before == after:
            return
        for name in sorted({*before, *after}):
            if name not in before:
                self._record(name, "added", "may come in from now on")
            elif name not in after:
                self._record(name, "revoked", "may come in no more")
            elif before[name] != after[name]:
                self._record(name, "rotated", "has another token")
        self._changed(after)

    def _record(self, name: str, action: str, what: str) -> None:
        self._audit.write(Event.CONFIG, f"client {name} {what}", action=action, client=name)

    async def follow(self) -> None:
        """Look whenever something has happened to a file; runs until cancelled."""
        watches = [Watch(self._token.path), Watch(self._clients.path)]
        try:
            await asyncio.gather(*map(self._follow, watches))
        finally:
            for watch in watches:
                watch.close()

    async def _follow(self, watch: Watch) -> None:
        while True:
            watch.arm()
            self.current()
            await watch.wait(LOOK_S if watch.problem else None)
