"""Calls into the desktop shell: one table says what each (target, function, arguments) may do.

Pure module. Both doors use it: ``omarchy_shell_call``, and the route ``omarchy shell``. What the table does
not list is guarded, whatever it is called.

    row_for(target, function, args) -> Row | None      the row that covers the call
    rate_ipc(target, function, args) -> Rating         its tier and why
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from omarchy_mcp.policy.selfguard import PLUGIN_ID
from omarchy_mcp.policy.tiers import Rating, Tier

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


IMAGE = r"/[^\n]+\.(?:jpe?g|png|webp|gif|bmp|avif|svg)"
PERCENT = r"(?:100|[0-9]{1,2})"

_PANELS = "omarchy.bluetooth omarchy.weather omarchy.network omarchy.audio omarchy.power omarchy.monitor"

# targets, functions, argument patterns, reason
_SAFE: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    (PLUGIN_ID, "status recent", (), "says how this server is and what it did"),
    ("shell", "ping listPlugins listShellConfig debugBarGeometry", (), "only reads"),
    ("image-selector", "ping", (), "only reads"),
    ("lock", "isLocked status", (), "only reads"),
    ("lock", "preview hidePreview", (), "shows the lock screen without locking"),
    ("idle", "status debug", (), "only reads"),
    (
        "idle",
        "enable disable toggle",
        (),
        "a setting that is seen and undone; disabling keeps the screen unlocked",
    ),
    ("nightlight", "status", (), "only reads"),
    ("nightlight", "refresh enable disable toggle", (), "a setting that is seen and undone"),
    ("media", "status ping", (), "only reads"),
    (
        "media",
        "playPause next previous play pause sourceNext sourcePrevious sourceSwitch sourceSwitchPrevious",
        (),
        "steers what plays",
    ),
    ("notifications", "dndState isDnd ping", (), "only reads"),
    ("background", "refresh", (), "paints the background again"),
    ("background", "set setInstant", (IMAGE,), "another background, seen and undone"),
    ("background", "transition", (IMAGE, IMAGE), "another background, seen and undone"),
    ("osd", "show", (r"\{[^\n]{0,2000}\}",), "shows an overlay for a moment"),
    ("osd", "close state ping", (), "reads or closes the overlay"),
    ("omarchy.monitor", "brightness", (PERCENT,), "a setting that is seen and undone, clamped by the shell"),
    ("omarchy.monitor", "state", (), "only reads"),
    (_PANELS, "open close show hide toggle", (), "opens or closes a panel"),
    ("omarchy.weather", "edit", (), "opens a panel"),
    ("omarchy.clock omarchy.indicators", "refresh", (), "reads again"),
    ("omarchy.system-update", "refresh clear", (), "reads again, or clears a badge"),
    ("omarchy.tailscale omarchy.dropbox omarchy.model-usage", "status", (), "only reads"),
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
    for targets, functions, args, reason in _SAFE:
        for target in targets.split():
            for function in functions.split():
                yield Row(target=target, function=function, args=args, tier=Tier.SAFE, reason=reason)


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
                tier=Tier.BLOCKED, reason=reason, rule="ipc-never", origin="table", capabilities=("answers",)
            )
    row = row_for(target, function, args)
    if row is not None:
        return Rating(
            tier=Tier.SAFE, reason=row.reason, rule="ipc-table", origin="table", capabilities=("shell",)
        )
    return Rating(
        tier=Tier.GUARDED,
        reason="this call into the shell is not one known to be harmless",
        rule="ipc-unlisted",
        origin="table",
        capabilities=("shell",),
    )


def well_named(target: str, function: str) -> bool:
    """Whether these can be names of a target and a function at all (and never an option)."""
    return all(len(name) <= MAX_NAME and _NAME.fullmatch(name) for name in (target, function))
