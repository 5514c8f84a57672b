"""What a command prints: read as it comes, the head and the tail kept, a hard ceiling on the whole."""

import asyncio
import os
from collections.abc import Callable

CHUNK = 65_536
CEILING_FACTOR = 32
"""A command that prints this many times what is kept of it is ended: nobody will read it."""


class Output:
    """One stream of a command, read from a pipe without blocking.

    Keeps at most `limit` bytes: the first half and the last half.
    """

    def __init__(self, fd: int, limit: int, overflow: Callable[[], None]) -> None:
        self.fd = fd
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._half = max(limit // 2, 1)
        self._ceiling = max(limit * CEILING_FACTOR, 1 << 20)
        self._overflow = overflow
        self._open = True
        os.set_blocking(fd, False)
        asyncio.get_running_loop().add_reader(fd, self._readable)

    @property
    def truncated(self) -> bool:
        """Whether something in the middle was left out."""
        return self.total > len(self._head) + len(self._tail)

    def _readable(self) -> None:
        try:
            data = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._keep(data)
        else:
            self.close()

    def _keep(self, data: bytes) -> None:
        under = self.total <= self._ceiling
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > self._half:
            del self._tail[: len(self._tail) - self._half]
        if under and self.total > self._ceiling:
            self._overflow()

    def drain(self) -> None:
        """Read what is there now; a process that still holds the pipe is not waited for."""
        for _ in range(16):  # a pipe holds 64 KiB unless told otherwise; whoever fills it faster is not waited for
            before = self.total
            if self._open:
                self._readable()
            if self.total == before:
                return

    def data(self) -> bytes:
        """What was kept, as it came; `truncated` says whether it is all."""
        return b"".join((self._head, self._tail))

    def text(self) -> str:
        """What was kept, with what was left out named between head and tail; bad UTF-8 is replaced."""
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        left_out = self.total - len(self._head) - len(self._tail)
        head = self._head.decode("utf-8", "replace")
        return f"{head}\n[… {left_out} bytes left out …]\n{self._tail.decode('utf-8', 'replace')}"

    def close(self) -> None:
        """Stop reading and close the pipe."""
        if self._open:
            self._open = False
            asyncio.get_running_loop().remove_reader(self.fd)
            os.close(self.fd)


def given(data: bytes) -> int:
    """A descriptor from which a command reads exactly this, however slowly; nothing of it is on a disk."""
    fd = os.memfd_create("omarchy-mcp-stdin", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
