"""Calls that name this server or reach its controls: refused whatever their tier, whoever allowed them.

Pure module. An agent may ask how the server is and what it did; everything else about it is the person's.

    guard(binary, args) -> str | None                  why a command is refused, or None
    guard_ipc(target, function, args) -> str | None    the same for a call into the shell
"""

import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote

PLUGIN_ID = "io.github.bruce-forte.mcp-server"
HEADLINE = "Approval needed"  # how each of our questions starts on screen; nobody else may say it
READ_ONLY = frozenset({"status", "recent"})

# How our names look with everything but letters and digits taken away: the plugin, the bus name, units
# and paths, the headline.
_NAMES = ("iogithubbruceforte", "bruceforte", "omarchymcp", "approvalneeded", "policywidened")
_ESCAPE = re.compile(r"\\u\{?([0-9a-fA-F]{4})\}?|\\x([0-9a-fA-F]{2})|&#x?([0-9a-fA-F]{2,4});")
_SHELL_PROGRAMS = r"(?:\S*/)?(?:quickshell|qs|omarchy-shell|hyprland|dbus\S*|systemd|mako|dunst|swaync)"

# binary: (what the joined arguments must match, what the call would do to us)
_ROUTES: dict[str, tuple[str, str]] = {
    "omarchy-restart-shell": (r".*", "ends the shell that shows its questions"),
    "omarchy-refresh-shell": (r".*", "takes its widget off the bar"),
    "omarchy-restart-app": (rf"{_SHELL_PROGRAMS}(?: .*)?", "ends the programs its questions are shown by"),
    "omarchy-bar": (r"(?:.* )?(?:reset|defaults)(?: .*)?", "takes its widget off the bar"),
    "omarchy-plugin": (r"(?:.* )?rescan(?: .*)?", "reloads the plugins, this one too"),
    "omarchy-refresh-config": (r".*shell\.json.*", "takes its widget off the bar"),
    "omarchy-notification-dismiss": (r".*", "can take its question off the screen"),
    "omarchy-toggle-notification-silencing": (r".*", "can keep its question off the screen"),
}
# target: (functions, what they would do to us)
_FUNCTIONS: dict[str, tuple[str, str]] = {
    "notifications": (
        r"invoke.*|dismiss.*|clear.*|markAllSeen|toggleDnd|setDnd|showHistory",
        "can answer its question, or take it off the screen",
    ),
    "shell": (r"rescanPlugins|reloadConfig", "reloads the plugins, this one too"),
}


def guard(binary: str, args: Sequence[str]) -> str | None:
    """Why a command is refused for what it would do to this server; None lets it go on."""
    if names_us(args):
        return f"it names this server ({PLUGIN_ID}), which only the person at the desk may act on"
    pattern, effect = _ROUTES.get(binary, ("(?!)", ""))
    if re.fullmatch(pattern, " ".join(args), re.IGNORECASE | re.DOTALL):
        return f"it {effect}: this server ({PLUGIN_ID}) is the person's to control"
    return None


def guard_ipc(target: str, function: str, args: Sequence[str]) -> str | None:
    """Why a call into the shell is refused for what it would do to this server; None lets it go on."""
    if target == PLUGIN_ID and function in READ_ONLY and not args:
        return None
    if names_us((target, function, *args)):
        return f"it names this server ({PLUGIN_ID}), of which only status and recent may be called"
    pattern, effect = _FUNCTIONS.get(target, ("(?!)", ""))
    if re.fullmatch(pattern, function, re.IGNORECASE):
        return f"it {effect}: this server ({PLUGIN_ID}) is the person's to control"
    return None


def names_us(args: Sequence[str]) -> bool:
    """Whether any argument, or all of them read together, spells one of our names in any common disguise."""
    for text in (*args, "".join(args)):
        plain = _ESCAPE.sub(_decoded, unquote(text, errors="replace"))
        bare = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", plain).casefold())
        if any(name in bare for name in _NAMES):
            return True
    return False


def _decoded(match: re.Match[str]) -> str:
    return chr(int(next(group for group in match.groups() if group), 16))
