"""The calls into the desktop shell that are known, each with its reason. Data only.

A call is covered when its target, its function and the number of its arguments have a row and every argument
matches that row's pattern; what has no row is guarded, whatever it is called.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.selfguard import PLUGIN_ID
from omarchy_mcp.scan.capabilities import Capability


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
NEVER: tuple[tuple[str, str, str], ...] = (
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
