"""Who is calling: asked of the bus, looked up in the kernel, never taken from arguments."""

import os
from pathlib import Path

from omarchy_mcp.policy.callers import Caller, units_of
from omarchy_mcp.session.bus import DBUS, DBUS_PATH, Bus, BusError, close_all, plain


async def identify(bus: Bus, sender: str) -> Caller:
    """Return what is known of a peer.

    With a pidfd from the bus (dbus-broker) the process cannot have been replaced by another of the same number.

    Raises:
        BusError: AccessDenied when the caller has gone or cannot be looked at.
    """
    reply = await bus.call(DBUS, DBUS_PATH, DBUS, "GetConnectionCredentials", "s", [sender])
    try:
        known = plain(reply.body[0])
        pid, uid = int(known["ProcessID"]), int(known["UnixUserID"])
        pidfd = reply.fds[known["ProcessFD"]] if "ProcessFD" in known and reply.fds else None
        cgroup = cgroup_of(pid)
        parent = parent_of(pid)
        if pidfd is not None and pid_of(pidfd) != pid:
            raise denied("the caller has gone")
        return Caller(pid=pid, uid=uid, units=units_of(cgroup), parent=parent)
    except (KeyError, IndexError, OSError) as error:
        raise denied(f"cannot look at the caller: {error}") from error
    finally:
        close_all(reply.fds)


def describe(caller: Caller) -> str:
    """A caller in words, for the record."""
    return f"pid {caller.pid} in {caller.units[-1] if caller.units else 'no unit'}"


def denied(text: str) -> BusError:
    """The standard error for a caller who may not."""
    return BusError(f"{DBUS}.Error.AccessDenied", text)


def pid_of(pidfd: int) -> int:
    """Return a pidfd's process id, or -1 when it has ended (and so at any later time too)."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii").splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def parent_of(pid: int) -> int:
    """Return a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def cgroup_of(pid: int) -> str:
    """Return the control group by which systemd tracks a process; on hybrid hierarchies that is name=systemd."""
    lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    wanted = "" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "name=systemd"  # noqa: PTH110
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == wanted:
            return path
    raise FileNotFoundError(f"process {pid} is in no control group of systemd's")
