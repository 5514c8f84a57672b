"""Who may call what on the bus: decided from what the bus and the kernel say of the caller.

Pure.  Never from arguments: a caller can put anything there.
"""

from dataclasses import dataclass
from enum import StrEnum

SOCKET_UNIT = "omarchy-mcp.socket"
SERVER_UNIT = "omarchy-mcp.service"
CONTROL_UNIT = "omarchy-mcp-control.service"
JOB_SLICE = "app-omarchymcp.slice"


class Right(StrEnum):
    """What a method of the control service needs of its caller; reading needs no right."""

    ACT = "act"
    """Anybody but what agents started: stop, start, restart, reload."""
    ANSWER = "answer"
    """As ACT; an answer to a question may need more."""
    SERVER = "server"
    """The MCP server alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A peer on the bus: process, user, the units its control group lies in (outermost first), and parent process."""

    pid: int
    uid: int
    units: tuple[str, ...]
    parent: int = 0


def units_of(cgroup: str) -> tuple[str, ...]:
    """Return the units a control group's path names, outermost first."""
    return tuple(part for part in cgroup.split("/") if part.endswith((".service", ".scope", ".slice")))


def refusal(right: Right, caller: Caller, own_uid: int, server_pid: int) -> str | None:
    """Return why the caller may not, or None when it may.

    `server_pid` is the main process of the server's unit, 0 when it does not run.
    """
    if caller.uid != own_uid:
        return "another user may not use this service"
    is_server = caller.pid == server_pid != 0 and SERVER_UNIT in caller.units
    if right is Right.SERVER:
        return None if is_server else "this is for the MCP server alone"
    if JOB_SLICE in caller.units or SERVER_UNIT in caller.units:
        return "what an agent started may not control the service that started it"
    return None


def may_approve(caller: Caller, shell_pid: int) -> str | None:
    """Why a caller may not approve where approving is for the shell (policy.approve_from), or None when it may.

    `shell_pid` owns the name of the notification server; 0 when nobody does.
    """
    if shell_pid > 0 and shell_pid in (caller.pid, caller.parent):
        return None
    return "only the desktop's shell may (policy.approve_from)"
