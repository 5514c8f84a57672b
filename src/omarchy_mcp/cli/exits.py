"""Exit statuses, and what each error of the bus means for the person who typed the verb.

Pure.  The numbers are systemctl's for `status` and those of systemd.exec(5) (LSB) for every other verb.
"""

from collections.abc import Mapping
from enum import IntEnum

from omarchy_mcp.session.contract import ERROR

STANDARD = "org.freedesktop.DBus.Error"


class Exit(IntEnum):
    """How a verb other than `status` ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_IMPLEMENTED = 3
    NOT_PERMITTED = 4
    NOT_INSTALLED = 5
    NOT_CONFIGURED = 6
    NOT_RUNNING = 7


class StatusExit(IntEnum):
    """What `status` found."""

    SERVING = 0
    FAILED = 1
    STOPPED = 3
    UNKNOWN = 4


BY_STATE: Mapping[str, StatusExit] = {
    "serving": StatusExit.SERVING,
    "starting": StatusExit.SERVING,  # the port is held: a connection made now is answered
    "frozen": StatusExit.SERVING,
    "stopped": StatusExit.STOPPED,
    "failed": StatusExit.FAILED,
}

BY_ERROR: Mapping[str, Exit] = {
    f"{ERROR}.NotRunning": Exit.NOT_RUNNING,
    f"{ERROR}.NotFound": Exit.FAILED,
    f"{ERROR}.NotPending": Exit.FAILED,  # the question was answered, or its time is over
    f"{ERROR}.DigestMismatch": Exit.FAILED,
    f"{ERROR}.Refused": Exit.FAILED,
    f"{STANDARD}.AccessDenied": Exit.NOT_PERMITTED,
    f"{STANDARD}.InvalidArgs": Exit.USAGE,
    f"{STANDARD}.UnknownMethod": Exit.NOT_IMPLEMENTED,
    f"{STANDARD}.Disconnected": Exit.NOT_RUNNING,
    "org.freedesktop.systemd1.NoSuchUnit": Exit.NOT_INSTALLED,
    f"{STANDARD}.FileNotFound": Exit.NOT_INSTALLED,
}

HANGING = frozenset({f"{STANDARD}.Timeout", f"{STANDARD}.NoReply", f"{STANDARD}.TimedOut"})
"""The service is there and does not answer."""

ABSENT = frozenset(
    {
        f"{STANDARD}.ServiceUnknown",
        f"{STANDARD}.NameHasNoOwner",
        "org.freedesktop.systemd1.UnitMasked",
        "org.freedesktop.systemd1.NoSuchUnit",
        "org.freedesktop.systemd1.LoadFailed",
        "org.freedesktop.systemd1.BadUnitSetting",
    }
)
"""The bus could not start the service; so do all of {STANDARD}.Spawn.*."""


class CtlError(Exception):
    """A verb cannot do its work: the text for the person, the exit status, the D-Bus error's name if there is one."""

    def __init__(self, text: str, status: Exit, name: str = "", more: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.name = name
        self.more = more
        """Lines that help to see why."""


def is_absent(name: str) -> bool:
    """Whether an error's name says that there is no control service."""
    return name in ABSENT or name.startswith(f"{STANDARD}.Spawn.")


def status_for(name: str) -> Exit:
    """The exit status for an error the control service answered with."""
    return BY_ERROR.get(name, Exit.FAILED)
