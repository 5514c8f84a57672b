"""What the service manager passes to us and what we tell it: sockets, readiness, the watchdog, kept descriptors."""

import logging
import os
import socket
from dataclasses import dataclass

import sdnotify
from systemd import daemon

from omarchy_mcp.session import environment

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What a start was given: listening sockets, and descriptors an earlier run had kept, by name."""

    sockets: list[socket.socket]
    kept: dict[str, int]


def take_passed() -> Passed:
    """Take over the descriptors of this start; nothing started later inherits them or hears of them."""
    named = daemon.listen_fds_with_names(True)  # noqa: FBT003 - the library's own positional: unset the variables
    passed = Passed(sockets=[], kept={})
    for fd, name in named.items():
        os.set_inheritable(fd, False)  # noqa: FBT003 - as the library has it
        if daemon.is_socket(fd):
            sock = socket.socket(fileno=fd)
            sock.setblocking(False)  # noqa: FBT003 - as the library has it
            passed.sockets.append(sock)
        else:
            passed.kept[name] = fd
    return passed


class ServiceManager:
    """Messages to the service manager; silent where there is none."""

    def __init__(self) -> None:
        usec = environment.take("WATCHDOG_USEC")
        for_us = environment.take("WATCHDOG_PID") in (None, str(os.getpid()))
        self.watchdog_s = int(usec) / 1e6 if usec and for_us else 0.0
        """How often the manager wants to hear from us, in seconds; 0 when it does not."""
        self._address = environment.get("NOTIFY_SOCKET")
        self._notifier = sdnotify.SystemdNotifier()  # opens its socket now
        environment.take("NOTIFY_SOCKET")

    def _tell(self, **fields: str | int) -> None:
        # The library encodes latin-1 and drops a message it cannot encode, READY=1 and all: ASCII only.
        text = "\n".join(f"{name}={value}" for name, value in fields.items())
        self._notifier.notify(text.encode("ascii", "replace").decode())

    def ready(self, status: str) -> None:
        """A request would be answered now."""
        self._tell(READY=1, STATUS=status)

    def status(self, status: str) -> None:
        """One line for a person; anything but ASCII is shown as a question mark."""
        self._tell(STATUS=status)

    def stopping(self, status: str) -> None:
        """No new work is taken."""
        self._tell(STOPPING=1, STATUS=status)

    def watchdog(self) -> None:
        """The event loop is alive."""
        self._tell(WATCHDOG=1)

    def keep(self, name: str, fd: int) -> None:
        """Have the manager hold a descriptor, so that the next run of this service finds it."""
        self._pass(f"FDSTORE=1\nFDNAME={name}", [fd])

    def drop(self, name: str) -> None:
        """Have the manager close what it holds under a name."""
        self._pass(f"FDSTOREREMOVE=1\nFDNAME={name}", [])

    def _pass(self, text: str, fds: list[int]) -> None:
        if self._address is None:
            return
        path = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            try:
                sock.connect(path)
                socket.send_fds(sock, [text.encode("ascii")], fds)
            except OSError as error:
                logger.warning("the service manager could not be told %s: %s", text.partition("\n")[0], error)
