"""The journal as the audit's reader must read it: trusted matches only, every field whole."""

import json
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from system.world import World

SOCKET = "/run/systemd/journal/socket"
SERVER = "omarchy-mcp.service"
CONTROL = "omarchy-mcp-control.service"

Entry = dict[str, Any]


def moment(back: float = 0.0) -> float:
    """A point in time, now or some seconds ago, for `since`."""
    return time.time() - back


def read(world: World, *matches: str, since: float | None = None, trusted: bool = True) -> list[Entry]:
    """Entries, oldest first; `since` is a point in time in seconds.

    Trusted entries are those of this session's services: other private sessions may share the journal.
    """
    words = list(matches)
    if trusted:
        words += [f"_SYSTEMD_USER_UNIT={SERVER}", f"_SYSTEMD_USER_UNIT={CONTROL}"]
        words += ["_TRANSPORT=journal", f"_UID={_uid()}"]
    if since is not None:
        words.append(f"--since=@{since:.6f}")
    done = world.run("journalctl", "--quiet", "--no-pager", "--all", "--output=json", *words, check=False)
    found = [{key: _text(value) for key, value in json.loads(line).items()} for line in done.stdout.splitlines()]
    own = world.show("-.slice", "ControlGroup") if trusted else ""
    return [entry for entry in found if str(entry.get("_SYSTEMD_CGROUP", "")).startswith(own)]


def records(world: World, event: str = "call", *, since: float | None = None) -> list[Entry]:
    """The audit's records of one kind."""
    return read(world, f"OMARCHY_MCP_EVENT={event}", since=since)


def lines(world: World, *units: str, since: float | None = None, count: int = 60) -> str:
    """What a person would read."""
    matches = [f"_SYSTEMD_USER_UNIT={unit}" for unit in units] + [f"USER_UNIT={unit}" for unit in units]
    words = [word for match in matches for word in (match, "+")][:-1]
    if since is not None:
        words.append(f"--since=@{since:.6f}")
    done = world.run(
        "journalctl",
        "--quiet",
        "--no-pager",
        "--output=short-precise",
        f"--lines={count}",
        *words,
        check=False,
    )
    return done.stdout + done.stderr


def forge(fields: Mapping[str, str]) -> None:
    """Send a native entry with any fields a client may choose, as any process can."""
    data = b""
    for key, value in fields.items():
        raw = value.encode()
        data += key.encode() + b"\n" + struct.pack("<Q", len(raw)) + raw + b"\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(data, SOCKET)


def readable(world: World) -> bool:
    """Whether this user can read what this user's services write."""
    return bool(world.run("journalctl", "--quiet", "--no-pager", "--lines=1", "--output=json", check=False).stdout)


def _uid() -> int:
    return Path("/proc/self").stat().st_uid


def _text(value: Any) -> Any:
    """Fields that are not plain text come as lists of byte values."""
    if isinstance(value, list) and all(isinstance(item, int) for item in value):
        return bytes(value).decode("utf-8", "replace")
    return value
