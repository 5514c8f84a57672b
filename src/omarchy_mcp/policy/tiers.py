"""Each command's rating: the worst it can do over any arguments, and why.

Pure module. One rating per binary feeds search, resources, the gate and the preview; none of them rates anew.

    rate(registry, scripts) -> Ratings       scripts: the text of every file in the command folder, by name
    rating_of(ratings, command) -> Rating    guarded when nothing is known
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from omarchy_mcp.policy.registry import Command, Registry, key

# Groups and routes the source documents guard.
GUARDED_GROUPS = frozenset(
    {
        "install", "remove", "reinstall", "migrate", "setup", "pkg", "upgrade", "update", "dev", "drive",
        "hibernation", "snapshot", "provision", "apply", "channel", "plugin",
    }
)  # fmt: skip
GUARDED_ROUTES = frozenset(
    {
        "system shutdown", "system reboot", "system logout", "theme remove", "hyprland window close all",
        "toggle hybrid gpu", "windows vm", "restart shell",
    }
)  # fmt: skip
# Groups whose commands change what can be seen and undone; a group in neither set is unknown, so guarded.
SAFE_GROUPS = frozenset(
    {
        "audio", "bar", "battery", "bluetooth", "branding", "brightness", "capture", "clipboard", "cmd",
        "default", "display", "font", "games", "hw", "hyprland", "installed", "launch", "menu", "monitor",
        "network", "notification", "osd", "plymouth", "power", "powerprofiles", "reminder", "restart",
        "screensaver", "show", "system", "theme", "toggle", "transcode", "version", "voxtype", "weather",
    }
)  # fmt: skip


class Tier(StrEnum):
    """What may be done with a command without a person: all, nothing yet, nothing ever."""

    SAFE = "safe"
    GUARDED = "guarded"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A tier with its reason, the rule that gave it and where that rule stands."""

    tier: Tier
    reason: str
    rule: str
    origin: str
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """The ratings of one registry, by binary."""

    by_binary: Mapping[str, Rating] = field(default_factory=dict)


_UNRATED = Rating(tier=Tier.GUARDED, reason="it was never looked at", rule="unrated", origin="policy")


def rating_of(ratings: Ratings, command: Command) -> Rating:
    """The command's rating; guarded when nothing is known, blocked when it declares root."""
    if command.requires_sudo:
        return _DECLARED_ROOT
    return ratings.by_binary.get(command.binary, _UNRATED)


_DECLARED_ROOT = Rating(
    tier=Tier.BLOCKED, reason="it needs root", rule="declared-root", origin="registry", capabilities=("root",)
)


def rate(registry: Registry, scripts: Mapping[str, bytes]) -> Ratings:
    """Rate every command of a registry; never raises."""
    return Ratings(by_binary={command.binary: _rate(command, scripts) for command in registry.commands})


def _rate(command: Command, scripts: Mapping[str, bytes]) -> Rating:
    if command.requires_sudo:
        return _DECLARED_ROOT
    if command.group in GUARDED_GROUPS:
        return _floor(f"group '{command.group}' is guarded")
    if key(command.route) in GUARDED_ROUTES:
        return _floor("this route is guarded")
    if command.group not in SAFE_GROUPS:
        return _floor(f"group '{command.group}' is not one known to be harmless")
    if command.binary not in scripts:
        return Rating(tier=Tier.GUARDED, reason="its script cannot be read", rule="unreadable", origin="scan")
    return Rating(tier=Tier.SAFE, reason="nothing in it is dangerous", rule="group", origin="policy")


def _floor(reason: str) -> Rating:
    return Rating(tier=Tier.GUARDED, reason=reason, rule="floor", origin="policy")
