"""Private files: the token, a key, and writing so that a reader sees the old or the new whole."""

import logging
import os
import secrets
import stat
from pathlib import Path

logger = logging.getLogger(__name__)

MIN_TOKEN = 32
"""Characters; ours have 43 (256 bits)."""

MAX_TOKEN = 4_096
KEY_BYTES = 32


Stamp = tuple[int, ...]
"""What tells one state of a file from another."""


class TokenError(Exception):
    """The token file cannot be used; the message says why and what to do."""


def write_private(path: Path, data: bytes) -> None:
    """Replace a file, readable by its owner alone from its first byte, on disk before this returns."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def forget_unfinished(path: Path) -> None:
    """Remove what `write_private` has begun beside a file and, being killed, not finished."""
    for unfinished in path.parent.glob(f".{path.name}.*"):
        unfinished.unlink(missing_ok=True)


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file: another one once it was written, replaced or given another mode."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def make_token() -> str:
    """A token nobody can guess: 256 bits, in 43 characters any header and any file can hold."""
    return secrets.token_urlsafe(32)


def read_token(data: bytes) -> bytes:
    """Return the token in a file's contents, surrounding white space and a byte order mark removed.

    Raises:
        TokenError: it is empty, short, long, not ASCII or has something inside that no header may carry.
    """
    token = data.removeprefix(b"\xef\xbb\xbf").strip()
    if len(token) < MIN_TOKEN:
        raise TokenError(f"it has {len(token)} characters, at least {MIN_TOKEN} are needed; delete it to have one made")
    if len(token) > MAX_TOKEN or not token.isascii() or any(byte <= 0x20 or byte == 0x7F for byte in token):
        raise TokenError("it is not one line of printable ASCII; delete it to have one made")
    return token


class TokenFile:
    """The default client's token; read again whenever the file changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        """Why nobody is admitted, or ""."""
        self._seen: Stamp | None = None
        self._token = b""

    def ensure(self) -> None:
        """Make a token where there is no file; an odd file is left alone and said."""
        if not self.path.exists() and not self.path.is_symlink():
            write_private(self.path, make_token().encode() + b"\n")

    def current(self) -> bytes:
        """The token as the file has it now, b"" when it cannot be used."""
        try:
            status = self.path.stat()
            seen = stamp_of(status)
            if seen != self._seen:
                self._seen = seen
                self._token = b""
                if status.st_mode & 0o077:
                    self.path.chmod(0o600)
                    self._seen = None  # the change of mode changed what was seen
                self._token = read_token(read_small(self.path, MAX_TOKEN + 16))
                self.problem = ""
        except (OSError, TokenError) as error:
            self._token = b""
            self.problem = f"token file {self.path}: {error}"
        return self._token


def read_key(path: Path) -> bytes:
    """The key in a file, made anew where there is none that can be used; one that cannot be kept ends with the process.

    Nothing is lost with a key but what was sealed by it.
    """
    try:
        key = read_small(path, KEY_BYTES)
        if len(key) == KEY_BYTES and not path.stat().st_mode & 0o077:
            return key
    except FileNotFoundError:
        pass
    except OSError as error:
        logger.warning("cannot use the key in %s, so one is made: %s", path, error)
    key = secrets.token_bytes(KEY_BYTES)
    try:
        write_private(path, key)
    except OSError as error:
        logger.warning("cannot keep a key in %s: %s", path, error)
    return key


def _no_block(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def read_small(path: Path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes; never waits, whatever the path turns out to be.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger.
    """
    with open(path, "rb", opener=_no_block) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(f"{path} is larger than {limit} bytes")
    return data
