"""What the acting tools come to: for each a command or a function of the shell, with its arguments.

Pure module. It decides nothing: what comes out goes through the gate like any other call, and a tool that cannot
say what is wanted says why as a text.

    notify(…), osd(…), theme(…), … -> Route | Function | str
"""

import re
from dataclasses import dataclass

PERCENT = re.compile(r"(?P<before>[+-]?)(?P<number>[0-9]{1,3})%?(?P<after>[+-]?)", re.ASCII)
STEP = re.compile(r"[+-][0-9]{1,3}", re.ASCII)
FULL = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A command to run."""

    route: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the shell to call."""

    target: str
    function: str
    args: tuple[str, ...] = ()


Act = Route | Function | str


def notify(headline: str, description: str, urgency: str, glyph: str) -> Act:
    """Show a notification."""
    for name, text in (("headline", headline), ("description", description), ("glyph", glyph)):
        if text.startswith("-"):
            return f"cannot notify: the {name} must not begin with '-'"
    options = (*(("-g", glyph) if glyph else ()), "-u", urgency)
    return Route(route="omarchy notification send", args=(*options, headline, *((description,) if description else ())))


def osd(message: str, icon: str, progress: int, duration_ms: int) -> Act:
    """Flash a message or a level over the screen."""
    if not message and progress < 0:
        return "cannot show anything: give `message`, `progress` or both"
    args: list[str] = []
    for option, value in (
        ("-i", icon),
        ("-m", message),
        ("-p", str(progress) if progress >= 0 else ""),
        ("-d", str(duration_ms) if duration_ms else ""),
    ):
        args += [option, value] if value else []
    return Route(route="omarchy osd", args=tuple(args))


def theme(action: str, name: str) -> Act:
    """Say, list or set the theme."""
    if action != "set":
        return Route(route=f"omarchy theme {action}")
    return Route(route="omarchy theme set", args=(name,)) if name else "cannot set a theme: give its `name`"


def background(action: str, path: str) -> Act:
    """Say, change or set the background."""
    if action != "set":
        return Route(route=f"omarchy theme bg {action}")
    if not path.startswith("/"):
        return "cannot set the background: give the absolute `path` of an image"
    return Route(route="omarchy theme bg set", args=(path,))


def audio(action: str, level: str) -> Act:
    """Set the volume, mute, or change the output."""
    match action:
        case "mute":
            return Route(route="omarchy audio output volume", args=("mute-toggle",))
        case "mic_mute":
            return Route(route="omarchy audio input mute")
        case "switch_output":
            return Route(route="omarchy audio output switch")
        case _:
            level = level or "raise"
            if level not in ("raise", "lower") and not STEP.fullmatch(level):
                return "cannot set the volume: `level` is raise, lower, or a step such as +10 or -10"
            return Route(route="omarchy audio output volume", args=(level,))


def brightness(target: str, value: str) -> Act:
    """Say or set the brightness of the display or of the keys."""
    if target == "keyboard":
        if value not in KEYS:
            return f"cannot light the keyboard: `value` is one of {', '.join(KEYS)}"
        return Route(route="omarchy brightness keyboard", args=(value,))
    if value in ("", "on", "off"):
        return Route(route="omarchy brightness display", args=(value,) if value else ())
    found = PERCENT.fullmatch(value)
    if found is None or int(found["number"]) > FULL or (found["before"] and found["after"]):
        return "cannot set the brightness: `value` is a percentage such as 50%, a step such as +10% or -10%, on or off"
    number = found["number"]
    match found["before"] or found["after"]:
        case "+":
            step = f"+{number}%"
        case "-":
            step = f"{number}%-"
        case _:
            step = f"{number}%"
    return Route(route="omarchy brightness display", args=(step,))


KEYS = ("up", "down", "cycle", "off", "restore")


def media(action: str) -> Act:
    """Steer what plays, or say what does."""
    return Function(target="media", function=action)


def toggle(feature: str, state: str) -> Act:
    """Turn a feature of the desktop on or off, the other way, or say how it is."""
    found = TOGGLES.get((feature, state))
    if found is None:
        can = ", ".join(known for each, known in TOGGLES if each == feature)
        return f"cannot do that to '{feature}': `state` is one of {can}"
    return found


TOGGLES: dict[tuple[str, str], Route | Function] = {
    **{("bar", state): Route(route="omarchy toggle bar", args=(state,)) for state in ("toggle", "on", "off")},
    ("do_not_disturb", "toggle"): Route(route="omarchy toggle notification silencing"),
    ("do_not_disturb", "on"): Function(target="notifications", function="setDnd", args=("true",)),
    ("do_not_disturb", "off"): Function(target="notifications", function="setDnd", args=("false",)),
    ("do_not_disturb", "status"): Function(target="notifications", function="isDnd"),
    ("idle", "toggle"): Route(route="omarchy toggle idle", args=("toggle",)),
    ("idle", "on"): Route(route="omarchy toggle idle", args=("allow-idle",)),
    ("idle", "off"): Route(route="omarchy toggle idle", args=("stay-awake",)),
    ("idle", "status"): Route(route="omarchy toggle idle", args=("status",)),
    ("nightlight", "toggle"): Route(route="omarchy toggle nightlight"),
    ("nightlight", "on"): Function(target="nightlight", function="enable"),
    ("nightlight", "off"): Function(target="nightlight", function="disable"),
    ("nightlight", "status"): Route(route="omarchy toggle nightlight", args=("--status",)),
    ("screensaver", "toggle"): Route(route="omarchy toggle screensaver"),
    # the flag says that it is off
    ("screensaver", "on"): Route(route="omarchy toggle", args=("screensaver-off", "off")),
    ("screensaver", "off"): Route(route="omarchy toggle", args=("screensaver-off", "on")),
    **{
        (feature, state): Route(route=f"omarchy toggle {feature}", args=(state,))
        for feature in ("touchpad", "touchscreen")
        for state in ("toggle", "on", "off")
    },
}


def launch(what: str, target: str) -> Act:
    """Open a program, with an address or a file where it takes one."""
    match what:
        case "browser":
            return Route(route="omarchy launch browser", args=(target,) if target else ())
        case "webapp":
            if not target:
                return "cannot open a web app: give its address as `target`"
            return Route(route="omarchy launch webapp", args=(target,))
        case "editor":
            if not target.startswith("/"):
                return "cannot open the editor: give the absolute path of a file as `target`"
            return Route(route="omarchy launch editor", args=(target,))
        case _:
            if target:
                return f"cannot open {what} with that: it takes no `target`"
            return Route(route="omarchy launch terminal" if what == "terminal" else "omarchy launch nautilus")
