"""Calls into the desktop shell: one table says what each (target, function, arguments) may do.

Pure module. Both doors use it: ``omarchy_shell_call``, and the route ``omarchy shell``. What the table does
not list is guarded, whatever it is called.

    row_for(target, function, args) -> Row | None      the row that covers the call
    rate_ipc(target, function, args) -> Rating         its tier and why
    ipc_effect(target, function, …) -> {Capability}    what a script that makes the call can do by it
"""

import re
from collections.abc import Sequence

from omarchy_mcp.policy.ipc_table import IPC_EFFECTS, NEVER, ONLY_READS, TABLE, Row
from omarchy_mcp.policy.rating import Rating, Tier
from omarchy_mcp.scan.capabilities import Capability

MAX_NAME = 128
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*", re.ASCII)


def row_for(target: str, function: str, args: Sequence[str]) -> Row | None:
    """The safe row that covers exactly this call; None when there is none."""
    row = TABLE.get((target, function, len(args)))
    if row is None or not all(re.fullmatch(p, arg) for p, arg in zip(row.args, args, strict=True)):
        return None
    return row


def rate_ipc(target: str, function: str, args: Sequence[str]) -> Rating:
    """The tier of one call and why; guarded when the table does not cover it."""
    for never_target, never_function, reason in NEVER:
        if (target.casefold(), function.casefold()) == (never_target, never_function.casefold()):
            return Rating(
                tier=Tier.BLOCKED, reason=reason, rule="ipc-never", origin="table", capabilities=(Capability.SESSION,)
            )
    row = row_for(target, function, args)
    if row is not None:
        return Rating(
            tier=Tier.SAFE, reason=row.reason, rule="ipc-table", origin="table", capabilities=(Capability.CHANGES,)
        )
    return Rating(
        tier=Tier.GUARDED,
        reason="this call into the shell is not one known to be harmless",
        rule="ipc-unlisted",
        origin="table",
        capabilities=(Capability.UNCLEAR,),
    )


def ipc_effect(
    target: str, function: str, arity: int, subject: frozenset[str] | None, *, tainted: bool
) -> set[Capability]:
    """What a script's own call into the shell can do; ``subject``: its first argument where that is known."""
    if tainted and target == "image-selector" and function in ("open", "cancel"):
        return {Capability.FILE}  # one of its arguments is the file it writes
    if (target, function) in IPC_EFFECTS:
        return {IPC_EFFECTS[target, function]}
    row = TABLE.get((target, function, arity))
    if row is not None:
        return set() if row.reason == ONLY_READS else {Capability.CHANGES}
    if (target, function) == ("image-selector", "preload"):
        return set()  # it reads pictures; here they are the script's own choice
    if target == "shell" and function in ("summon", "toggle", "hide"):
        plain = subject is not None and not (tainted and "omarchy.menu" in subject)
        return {Capability.WINDOW if plain else Capability.EXEC}
    if target == "notifications":
        return {Capability.SESSION if tainted else Capability.CHANGES}
    return {Capability.EXEC if tainted else Capability.UNCLEAR}


def well_named(target: str, function: str) -> bool:
    """Whether these can be names of a target and a function at all (and never an option)."""
    return all(len(name) <= MAX_NAME and _NAME.fullmatch(name) for name in (target, function))
