"""Calls into the desktop shell: one table says what each (target, function, arguments) may do.

Pure module. Both doors use it: ``omarchy_shell_call``, and the route ``omarchy shell``. What the table does
not list is guarded, whatever it is called.

    row_for(target, function, args) -> Row | None      the row that covers the call
    rate_ipc(target, function, args) -> Rating         its tier and why
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from omarchy_mcp.policy.capabilities import Capability
from omarchy_mcp.policy.rating import Rating, Tier
from omarchy_mcp.policy.selfguard import PLUGIN_ID

MAX_NAME = 128
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of call: the pattern of every argument, the tier, the reason."""

    target: str
    function: str
    args: tuple[str, ...]
    tier: Tier
    reason: str


ONLY_READS = "it only reads"
IMAGE = r"/[^\n]+\.(?:jpe?g|png|webp|gif|bmp|avif|svg)"
PERCENT = r"(?:100|[0-9]{1,2})"

_PANELS = "omarchy.bluetooth omarchy.weather omarchy.network omarchy.audio omarchy.power omarchy.monitor"

# Calls that only read
_READS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("shell", "ping listPlugins listShellConfig debugBarGeometry", (), ONLY_READS),
    ("image-selector", "ping", (), ONLY_READS),
    ("lock", "isLocked status", (), ONLY_READS),
    ("idle", "status debug", (), ONLY_READS),
    ("nightlight", "status", (), ONLY_READS),
    ("media", "status ping", (), ONLY_READS),
    ("notifications", "dndState isDnd ping", (), ONLY_READS),
    ("omarchy.monitor", "state", (), ONLY_READS),
    ("omarchy.tailscale omarchy.dropbox omarchy.model-usage", "status", (), ONLY_READS),
)
# Targets, functions, argument patterns, reason
_SAFE: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    (PLUGIN_ID, "status recent", (), "says how this server is and what it did"),
    ("lock", "preview hidePreview", (), "shows the lock screen without locking"),
    (
        "idle",
        "enable disable toggle",
        (),
        "a setting that is seen and undone; disabling keeps the screen unlocked",
    ),
    ("nightlight", "refresh enable disable toggle", (), "a setting that is seen and undone"),
    (
        "media",
        "playPause next previous play pause sourceNext sourcePrevious sourceSwitch sourceSwitchPrevious",
        (),
        "steers what plays",
    ),
    ("background", "refresh", (), "paints the background again"),
    ("background", "set setInstant", (IMAGE,), "another background, seen and undone"),
    ("background", "transition", (IMAGE, IMAGE), "another background, seen and undone"),
    ("osd", "show", (r"\{[^\n]{0,2000}\}",), "shows an overlay for a moment"),
    ("osd", "close state ping", (), "reads or closes the overlay"),
    ("omarchy.monitor", "brightness", (PERCENT,), "a setting that is seen and undone, clamped by the shell"),
    (_PANELS, "open close show hide toggle", (), "opens or closes a panel"),
    ("omarchy.weather", "edit", (), "opens a panel"),
    ("omarchy.clock omarchy.indicators", "refresh", (), "reads again"),
    ("omarchy.system-update", "refresh clear", (), "reads again, or clears a badge"),
)
# Never let through: what an approval is made of. None of them can be asked for either.
_NEVER: tuple[tuple[str, str, str], ...] = (
    (
        "notifications",
        "invokeLast",
        "it clicks the newest notification, which may be a question to the person",
    ),
)


def _rows() -> Iterator[Row]:
    for targets, functions, args, reason in (*_READS, *_SAFE):
        for target in targets.split():
            for function in functions.split():
                yield Row(target=target, function=function, args=args, tier=Tier.SAFE, reason=reason)


# Calls a script may make that the table above leaves out, and what they come to
IPC_EFFECTS: dict[tuple[str, str], Capability] = {
    ("lock", "lock"): Capability.SESSION,
    ("notifications", "invokeLast"): Capability.EXEC,
    ("shell", "setPluginEnabled"): Capability.PERSIST,
    ("shell", "rescanPlugins"): Capability.PERSIST,
    ("shell", "reloadConfig"): Capability.PERSIST,
    ("shell", "call"): Capability.EXEC,
    ("shell", "applyTheme"): Capability.CHANGES,
    ("background", "themeTransition"): Capability.CHANGES,
    ("image-selector", "open"): Capability.WINDOW,
    ("image-selector", "cancel"): Capability.WINDOW,
}

TABLE: dict[tuple[str, str, int], Row] = {(row.target, row.function, len(row.args)): row for row in _rows()}


def row_for(target: str, function: str, args: Sequence[str]) -> Row | None:
    """The safe row that covers exactly this call; None when there is none."""
    row = TABLE.get((target, function, len(args)))
    if row is None or not all(re.fullmatch(p, arg) for p, arg in zip(row.args, args, strict=True)):
        return None
    return row


def rate_ipc(target: str, function: str, args: Sequence[str]) -> Rating:
    """The tier of one call and why; guarded when the table does not cover it."""
    for never_target, never_function, reason in _NEVER:
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
