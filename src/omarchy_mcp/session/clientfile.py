"""The clients besides the default one: a private file with a name and the digest of a token for each.

The token itself is not kept: who can read this file cannot use what is in it.
"""

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.session.files import Stamp, read_small, stamp_of, write_private

DEFAULT = "default"
"""The client of the set-up: its token lies in a file of its own, readable by its owner."""

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
"""A client's name is in records, questions, grants and argument lists: plain everywhere."""

TAKEN = frozenset({DEFAULT, "unknown"})
"""Names no further client may have: the first client's, and what a record says of nobody."""

DIGEST = re.compile(r"[0-9a-f]{64}")

MOST_CLIENTS = 64
"""Each request is compared with every one of them."""

MAX_BYTES = 65_536
VERSION = 1
NOBODY: Mapping[str, bytes] = {}


class ClientFileError(Exception):
    """The file cannot be used or the change not be made; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: its name, the SHA-256 of its token, and when that token was made."""

    name: str
    digest: bytes
    made_usec: int


def digest_of(token: bytes) -> bytes:
    """What a token is known by: it is random throughout, so that a plain digest cannot be guessed back."""
    return hashlib.sha256(token).digest()


def parse(text: bytes) -> tuple[Client, ...]:
    """Read the file's contents; an entry that is not sound makes all of it unusable.

    Raises:
        ClientFileError: it is not what this module writes.
    """
    try:
        content = json.loads(text)
        version, entries = content["version"], content["clients"]
        found = tuple(
            Client(
                name=str(each["name"]), digest=bytes.fromhex(sound(each["sha256"])), made_usec=int(each["made_usec"])
            )
            for each in entries
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ClientFileError("it is not a list of clients; delete it to begin anew") from error
    names = [client.name for client in found]
    if version != VERSION:
        raise ClientFileError(f"it is of version {version!r:.20}, and this program knows version {VERSION}")
    if len(set(names)) < len(names) or len(names) > MOST_CLIENTS or not all(map(well_named, names)):
        raise ClientFileError("it names a client twice, too many, or one that cannot be; delete it to begin anew")
    return found


def sound(digest: str) -> str:
    """A digest as this module writes it.

    Raises:
        ValueError, TypeError: it is not one.
    """
    if not DIGEST.fullmatch(digest):
        raise ValueError("no digest")
    return digest


def well_named(name: str) -> bool:
    """Whether a further client may have this name."""
    return NAME.fullmatch(name) is not None and name not in TAKEN


def dump(clients: tuple[Client, ...]) -> bytes:
    """The file's contents."""
    entries = [
        {"name": client.name, "sha256": client.digest.hex(), "made_usec": client.made_usec} for client in clients
    ]
    return json.dumps({"version": VERSION, "clients": entries}, indent=1).encode() + b"\n"


class ClientFile:
    """The clients as the file has them now; who reads it through here sees every change at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        """Why nobody but the default client is let in, or ""."""
        self._seen: Stamp | None = None
        self._digests: Mapping[str, bytes] = NOBODY

    def current(self) -> Mapping[str, bytes]:
        """The digest of each client's token; empty when there is no such file, or it cannot be used."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self.problem, self._seen, self._digests = "", None, NOBODY
            return NOBODY
        except OSError as error:
            return self._nobody(error)
        seen = stamp_of(status)
        if seen != self._seen:
            try:
                if status.st_mode & 0o077:
                    self.path.chmod(0o600)
                self._digests = {client.name: client.digest for client in self.read()}
                self._seen, self.problem = seen, ""
            except (OSError, ClientFileError) as error:
                return self._nobody(error)
        return self._digests

    def _nobody(self, error: Exception) -> Mapping[str, bytes]:
        self._seen, self._digests = None, NOBODY
        self.problem = f"client file {self.path}: {error}"
        return NOBODY

    def read(self) -> tuple[Client, ...]:
        """All clients in it; none when there is no file.

        Raises:
            OSError: it cannot be read.
            ClientFileError: it cannot be used.
        """
        try:
            return parse(read_small(self.path, MAX_BYTES))
        except FileNotFoundError:
            return ()

    def add(self, name: str, token: str) -> None:
        """Let a further client in with a token, of which only the digest is kept.

        Raises:
            OSError, ClientFileError: it is not let in.
        """
        with self._alone():
            clients = self.read()
            if any(client.name == name for client in clients):
                raise ClientFileError(f"there is a client {name!r} already; 'rotate' gives it another token")
            if len(clients) >= MOST_CLIENTS:
                raise ClientFileError(f"there are {MOST_CLIENTS} clients already, and that is the most")
            self._write(clients, name, token)

    def rotate(self, name: str, token: str) -> None:
        """Give a client another token: the one before it is of no more use.

        Raises:
            OSError, ClientFileError: it has not got one.
        """
        with self._alone():
            self._write(self._others(name), name, token)

    def revoke(self, name: str) -> None:
        """Let a client in no more.

        Raises:
            OSError, ClientFileError: it still is.
        """
        with self._alone():
            write_private(self.path, dump(self._others(name)))

    def _others(self, name: str) -> tuple[Client, ...]:
        clients = self.read()
        others = tuple(client for client in clients if client.name != name)
        if len(others) == len(clients):
            raise ClientFileError(f"there is no client {name!r}")
        return others

    def _write(self, others: tuple[Client, ...], name: str, token: str) -> None:
        client = Client(name=name, digest=digest_of(token.encode()), made_usec=time.time_ns() // 1000)
        write_private(self.path, dump((*others, client)))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from changing the file between our reading and our writing."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
