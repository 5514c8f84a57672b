"""What the demo's commands are for: a row for each route.

A tier here is the worst case over any arguments, given that the command's own file is run. Tests of the policy
may read the table; ``test_commands`` proves that it is complete.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a command of the demo is there to show."""

    SAFE = "works whatever the arguments"
    RULE = "harmless for checked arguments only"
    ROOT = "declared root"
    SECRET_ROOT = "root that the metadata does not declare"
    HELPER_ROOT = "root that only a helper reaches"
    EXECUTES = "runs its arguments"
    OPTIONS = "hands options on to a program that obeys them"
    PATH = "makes a path of an argument"
    TEXT = "makes a script or a configuration of an argument"
    ARITHMETIC = "calculates with an argument"
    FETCHES = "brings code from elsewhere"
    PERSISTS = "leaves something that runs later"
    SHELL = "its danger is in the shell, not in its text"
    INSTALLS = "installs or removes"
    SENDS = "sends data out"
    SECRET = "shows a secret"
    RECORDS = "records the screen"
    ENDS_SESSION = "ends or locks the session"
    LOSES = "loses windows or settings"
    WAITS = "waits for a person"
    OPENS = "opens a window"
    LONG = "takes its time"
    ENDLESS = "never ends by itself"
    FLOODS = "prints without measure"
    LEAKS = "leaves a child that holds its output"
    STUBBORN = "does not end when asked"
    DAEMON = "leaves its session and its parent"
    SPAWNS = "multiplies itself"
    ECHOES = "shows what it was given"
    FOREIGN = "not written in Bash"
    EXTENDS = "its file name extends another route's"
    ALIAS = "has an alias"
    RENAMED = "its file name is not its route"
    HIDDEN = "hidden"


# Route (without "omarchy"): worst-case tier, kinds.
_TABLE: dict[str, tuple[str, str]] = {
    "audio input mute": ("safe", "SAFE"),
    "audio output volume": ("safe", "SAFE"),
    "bar": ("guarded", "SHELL LOSES"),
    "bar plugin": ("guarded", "SHELL EXTENDS PERSISTS"),
    "battery present": ("safe", "SAFE"),
    "battery status": ("safe", "SAFE"),
    "battery status calibrate": ("blocked", "ROOT EXTENDS"),
    "brightness display": ("safe", "SAFE"),
    "capture screenrecording": ("guarded", "RECORDS ALIAS"),
    "capture screenshot": ("guarded", "EXECUTES RULE ALIAS"),
    "channel current": ("safe", "SAFE"),
    "channel set": ("blocked", "ROOT"),
    "debug": ("blocked", "ROOT"),
    "debug arguments": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug bytes": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug clipboard owner": ("safe", "LEAKS HIDDEN EXTENDS"),
    "debug daemon": ("safe", "DAEMON HIDDEN EXTENDS"),
    "debug endless": ("safe", "ENDLESS HIDDEN EXTENDS"),
    "debug environment": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug exit": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug flood": ("safe", "FLOODS HIDDEN EXTENDS"),
    "debug input": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug signal": ("safe", "ECHOES HIDDEN EXTENDS"),
    "debug stubborn": ("safe", "STUBBORN ENDLESS HIDDEN EXTENDS"),
    "demo answer": ("guarded", "SHELL HIDDEN"),
    "demo notifications": ("guarded", "ENDLESS HIDDEN"),
    "demo reset": ("guarded", "LOSES"),
    "demo watch": ("safe", "ENDLESS HIDDEN"),
    "dev link": ("blocked", "SECRET_ROOT"),
    "dns": ("blocked", "SECRET_ROOT RULE"),
    "font current": ("safe", "SAFE"),
    "font list": ("safe", "SAFE"),
    "font set": ("guarded", "TEXT RULE"),
    "hook": ("guarded", "PATH EXECUTES"),
    "hook install": ("guarded", "PATH PERSISTS EXTENDS"),
    "hyprland window close all": ("guarded", "LOSES"),
    "hyprland window pop": ("guarded", "TEXT RULE"),
    "install app": ("blocked", "HELPER_ROOT INSTALLS HIDDEN"),
    "install browser": ("blocked", "HELPER_ROOT INSTALLS"),
    "install dev-env": ("blocked", "ROOT INSTALLS RENAMED"),
    "install editor helix": ("blocked", "HELPER_ROOT INSTALLS PERSISTS"),
    "install font": ("guarded", "INSTALLS EXECUTES"),
    "launch about": ("safe", "OPENS"),
    "launch browser": ("guarded", "OPTIONS OPENS RULE"),
    "launch config editor": ("guarded", "OPTIONS OPENS RULE"),
    "launch editor": ("guarded", "OPTIONS OPENS RULE"),
    "launch floating terminal with presentation": ("guarded", "EXECUTES OPENS"),
    "launch or focus": ("guarded", "EXECUTES OPENS"),
    "launch or focus tui": ("guarded", "EXECUTES OPENS EXTENDS"),
    "launch or focus webapp": ("guarded", "EXECUTES OPENS EXTENDS"),
    "launch terminal": ("guarded", "EXECUTES OPENS RULE"),
    "launch tui": ("guarded", "EXECUTES OPENS"),
    "launch webapp": ("guarded", "OPTIONS OPENS RULE"),
    "menu": ("guarded", "SHELL RULE"),
    "menu emoji": ("safe", "OPENS EXTENDS"),
    "menu emoji insert": ("guarded", "SHELL HIDDEN EXTENDS"),
    "menu input": ("guarded", "WAITS EXTENDS"),
    "menu select": ("safe", "WAITS EXTENDS"),
    "menu wait": ("guarded", "WAITS HIDDEN EXTENDS"),
    "mise install": ("guarded", "TEXT PATH PERSISTS"),
    "network password": ("guarded", "SECRET"),
    "notification dismiss": ("guarded", "SHELL RULE"),
    "notification send": ("guarded", "SHELL EXECUTES RULE"),
    "notification time": ("safe", "SAFE"),
    "osd": ("safe", "SAFE"),
    "pkg add": ("blocked", "ROOT INSTALLS"),
    "pkg drop": ("blocked", "ROOT INSTALLS"),
    "pkg present": ("safe", "SAFE"),
    "plugin": ("guarded", "SHELL PATH FETCHES RULE"),
    "powerprofiles list": ("safe", "SAFE"),
    "refresh config": ("guarded", "PATH LOSES"),
    "refresh shell": ("guarded", "LOSES"),
    "remove preinstalls": ("guarded", "LOSES"),
    "restart app": ("guarded", "EXECUTES"),
    "restart shell": ("guarded", "LOSES"),
    "screensaver": ("guarded", "SPAWNS"),
    "setup security sshd": ("blocked", "ROOT"),
    "share": ("guarded", "SENDS RENAMED EXTENDS"),
    "shell": ("guarded", "SHELL"),
    "show countdown": ("safe", "LONG"),
    "show desktop": ("safe", "SAFE ALIAS"),
    "show moon": ("guarded", "FOREIGN"),
    "snapshot": ("blocked", "ROOT"),
    "sudo reset": ("blocked", "SECRET_ROOT"),
    "system lock": ("guarded", "ENDS_SESSION"),
    "system logout": ("guarded", "ENDS_SESSION ALIAS"),
    "system reboot": ("guarded", "ENDS_SESSION ALIAS"),
    "system shutdown": ("guarded", "ENDS_SESSION ALIAS"),
    "system stats": ("safe", "SAFE"),
    "theme bg current": ("safe", "SAFE"),
    "theme bg next": ("safe", "SAFE"),
    "theme bg set": ("safe", "SAFE"),
    "theme bg-switcher": ("safe", "WAITS ALIAS RENAMED"),
    "theme current": ("safe", "SAFE"),
    "theme install": ("guarded", "FETCHES PATH"),
    "theme list": ("safe", "SAFE"),
    "theme remove": ("guarded", "PATH"),
    "theme set": ("guarded", "PATH EXECUTES RULE"),
    "toggle": ("guarded", "PATH RULE"),
    "toggle bar": ("safe", "SAFE EXTENDS"),
    "toggle enabled": ("safe", "SAFE EXTENDS"),
    "toggle hybrid gpu": ("blocked", "ROOT EXTENDS"),
    "toggle idle": ("safe", "SAFE EXTENDS"),
    "toggle nightlight": ("safe", "SAFE EXTENDS"),
    "toggle notification silencing": ("safe", "SAFE EXTENDS"),
    "transcode": ("guarded", "PATH RULE WAITS"),
    "transcode ascii": ("guarded", "ARITHMETIC PATH EXTENDS"),
    "tui install": ("guarded", "TEXT PATH PERSISTS"),
    "update": ("blocked", "ROOT"),
    "update available": ("safe", "SAFE EXTENDS"),
    "update confirm": ("safe", "WAITS EXTENDS"),
    "version": ("safe", "SAFE"),
    "weather status": ("safe", "SAFE"),
    "webapp install": ("guarded", "TEXT PATH PERSISTS"),
    "webapp remove": ("guarded", "PATH"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One command of the demo."""

    route: str
    tier: str
    kinds: frozenset[Kind]


ROUTES: dict[str, Route] = {
    f"omarchy {words}": Route(
        route=f"omarchy {words}", tier=tier, kinds=frozenset(Kind[name] for name in kinds.split())
    )
    for words, (tier, kinds) in _TABLE.items()
}
