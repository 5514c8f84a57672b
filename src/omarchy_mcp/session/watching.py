"""Hearing that what a path names may have changed: contents, links and folders on the way, through inotify.

It is armed anew after each change, because a link or a folder on the way may lead elsewhere since.  At rest
nothing wakes.  Where the kernel cannot tell, `problem` says why, and whoever waits looks for himself.
"""

import asyncio
import contextlib
import ctypes
import errno
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import inotify_simple
from inotify_simple import INotify, flags

MAX_LINKS = 40
"""Links that are followed on the way to a file, as many as the kernel does."""

SETTLE_S = 0.1
"""A change is told once nothing more has happened for this long: saving a file is several events."""

SETTLE_MOST_S = 0.5
"""A change is told after this time even so."""

FOLDER = (
    flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO | flags.ATTRIB
    | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
)  # fmt: skip
FILE = flags.MODIFY | flags.CLOSE_WRITE | flags.ATTRIB | flags.DELETE_SELF | flags.MOVE_SELF | flags.MASK_ADD
INSIDE = FOLDER | flags.CLOSE_WRITE | flags.MASK_ADD
"""Of a folder in which every name matters."""

# The library would start another program (ldconfig) to find out where the C library is, which we run on already.
inotify_simple._libc = ctypes.CDLL(None, use_errno=True)  # noqa: SLF001 - hence the exact version in pyproject.toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a path leads to a file: the names looked up in each folder, the folders with links, and the end."""

    names: Mapping[Path, frozenset[str]]
    linking: frozenset[Path]
    end: Path

    def decides(self, folder: Path) -> bool:
        """Whether what happens in a folder can change where the path leads, without another user's doing.

        Folders of others, such as /, are passed over: only what has a link or the file in it can matter there.
        """
        try:
            own = folder.stat().st_uid == os.getuid()
        except OSError:
            own = True  # it may come back as ours
        return own or folder in self.linking or folder == self.end.parent


def way(path: Path) -> Way:
    """Follow an absolute path name by name, as the kernel does; what is not there is taken for a plain name."""
    names: defaultdict[Path, set[str]] = defaultdict(set)
    linking: list[Path] = []
    here, todo = Path("/"), list(reversed(path.parts[1:]))
    while todo and len(linking) <= MAX_LINKS:
        name = todo.pop()
        if name == "..":
            here = here.parent
            continue
        names[here].add(name)
        try:
            target = (here / name).readlink()
        except OSError:
            here /= name
            continue
        linking.append(here)
        parts = target.parts
        if target.is_absolute():
            here, parts = Path("/"), parts[1:]
        todo.extend(reversed(parts))
    found = {folder: frozenset(each) for folder, each in names.items()}
    return Way(names=found, linking=frozenset(linking), end=here)


class Watch:
    """Hears of changes of one file, or of all files in one folder, wherever its path leads."""

    def __init__(
        self, path: Path, *, folder: bool = False, settle_s: float = SETTLE_S, most_s: float = SETTLE_MOST_S
    ) -> None:
        """A change is told once nothing more has happened for `settle_s`, after `most_s` even so."""
        self._path = path
        self._folder = folder
        self._settle_s = settle_s
        self._most_s = most_s
        self._listener: INotify | None = None
        self._names: dict[int, frozenset[str] | None] = {}
        self._happened = asyncio.Event()
        self.problem = ""
        """Why the kernel does not tell of changes, or ""."""

    def arm(self) -> None:
        """Hear of what happens from now on; what the file holds is to be looked at after this."""
        self.close()
        self._happened.clear()
        try:
            self._listener = INotify(nonblocking=True)
            self._names = watch_all(self._listener, way(self._path), folder=self._folder)
        except OSError as error:
            self.problem = in_words(error)
            self.close()
            return
        self.problem = ""
        asyncio.get_running_loop().add_reader(self._listener.fileno(), self._hear, self._listener)

    def close(self) -> None:
        """Hear no more."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener.fileno())
            self._listener.close()
            self._listener = None

    async def wait(self, seconds: float | None) -> bool:
        """Wait until something may have changed and has settled, at most so long; returns whether something may."""
        try:
            await asyncio.wait_for(self._happened.wait(), seconds)
        except TimeoutError:
            return False
        loop = asyncio.get_running_loop()
        latest = loop.time() + self._most_s
        while self._happened.is_set() and loop.time() < latest:
            self._happened.clear()
            await asyncio.sleep(self._settle_s)
        return True

    def wake(self) -> None:
        """Have whoever waits look, whatever has happened."""
        self._happened.set()

    def _hear(self, listener: INotify) -> None:
        for event in listener.read(timeout=0):
            names = self._names.get(event.wd, frozenset())
            if not event.name or names is None or event.name in names:
                self._happened.set()


def watch_all(listener: INotify, to: Way, *, folder: bool = False) -> dict[int, frozenset[str] | None]:
    """Watch a way, to a file or to a `folder`; returns the names that matter in each folder, by watch; None: all.

    Raises:
        OSError: a folder that is there cannot be watched.
    """
    names: dict[int, frozenset[str] | None] = {}
    for place, looked_up in to.names.items():
        if to.decides(place):
            # one that is not there: the folder it would be in tells of its coming
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                watch = listener.add_watch(place, FOLDER)
                names[watch] = (names.get(watch) or frozenset()) | looked_up
    # The file itself, for what is written under another name of it; the folder tells when it can be read again.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        watch = listener.add_watch(to.end, INSIDE if folder else FILE)
        if folder:
            names[watch] = None
    return names


def in_words(error: OSError) -> str:
    """Why there is no watch."""
    match error.errno:
        case errno.EMFILE | errno.ENFILE:
            return "no further file or inotify instance can be opened (fs.inotify.max_user_instances)"
        case errno.ENOSPC:
            return "no further file can be watched (fs.inotify.max_user_watches)"
        case errno.EACCES:
            return "a folder on the way to it cannot be read"
        case _:
            return f"inotify: {error.strerror or error}"
