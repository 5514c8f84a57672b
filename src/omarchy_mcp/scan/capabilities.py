"""What a script can do, as a closed set, each with what it means for its tier and how a person is told.

Pure module: the vocabulary of the scan, no judgement of any script.
"""

from dataclasses import dataclass
from enum import StrEnum


class Capability(StrEnum):
    """One thing a script can do. The last four are harmless and said for information."""

    ROOT = "root"
    EXEC = "exec"
    FILE = "file"
    NETWORK = "network"
    SEND = "send"
    PACKAGES = "packages"
    PERSIST = "persist"
    CONFIG = "config"
    DELETE = "delete"
    SECRET = "secret"
    RECORD = "record"
    SESSION = "session"
    TERMINAL = "terminal"
    ELEVATED = "elevated"
    UNCLEAR = "unclear"
    WRITES = "writes"
    CHANGES = "changes"
    WINDOW = "window"
    WAITS = "waits"


HARMLESS = frozenset({Capability.WRITES, Capability.CHANGES, Capability.WINDOW, Capability.WAITS})

# In order of weight: the first one found is the reason given.
REASONS: dict[Capability, str] = {
    Capability.ROOT: "it needs root",
    Capability.EXEC: "it can be made to run its arguments as code",
    Capability.FILE: "its arguments choose a file that it writes or deletes",
    Capability.NETWORK: "its arguments choose what it fetches or talks to",
    Capability.SEND: "it sends data out",
    Capability.SECRET: "it reads credentials",
    Capability.RECORD: "it records the screen, a camera or a microphone",
    Capability.SESSION: "it ends, locks or restarts something people work in",
    Capability.DELETE: "it deletes folders",
    Capability.PACKAGES: "it installs, removes or updates software",
    Capability.PERSIST: "it leaves something that runs later",
    Capability.CONFIG: "it overwrites the person's configuration",
    Capability.TERMINAL: "it starts something in a terminal that asks for a password there",
    Capability.ELEVATED: "it acts as root without a password",
    Capability.UNCLEAR: "it does something the scan cannot follow",
    Capability.WRITES: "it writes files of its own",
    Capability.CHANGES: "it changes something that can be changed back",
    Capability.WINDOW: "it opens a window",
    Capability.WAITS: "it waits for a person",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A capability and where it was seen."""

    capability: Capability
    where: str
