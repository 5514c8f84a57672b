"""What the demo's shell does when one of its functions is called. How a call arrives is ``qs``'s business."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .media import Media
from .menu import Menu
from .plugins import FIRST_PARTY, Plugins
from .state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function of a target: its declaration as ``qs ipc show`` prints it, and what it does."""

    parameters: tuple[str, ...]
    returns: str
    act: Callable[..., str | None]

    def declaration(self, name: str) -> str:
        """Return the declaration in the shell's own notation."""
        parameters = ", ".join(f"{parameter}: string" for parameter in self.parameters)
        return f"function {name}({parameters}): {self.returns}"


def _text(parameters: str, act: Callable[..., str | None]) -> Function:
    return Function(parameters=tuple(parameters.split()), returns="string", act=act)


def _void(parameters: str, act: Callable[..., str | None]) -> Function:
    return Function(parameters=tuple(parameters.split()), returns="void", act=act)


def compact(value: object) -> str:
    """Return JSON the way the shell prints it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Shell:
    """The functions of the demo's shell, over one state folder."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.menu = Menu(state)
        self.media = Media(state)
        self.plugins = Plugins(state)

    def targets(self) -> Mapping[str, Mapping[str, Function]]:
        """Return every target with its functions."""
        panels = {name: self._panel(name) for name in FIRST_PARTY if FIRST_PARTY[name] == "panel"}
        panels["omarchy.weather"]["edit"] = _void("", lambda: self._open("omarchy.weather"))
        panels["omarchy.monitor"] |= {
            "brightness": _text("percent", self._brightness),
            "state": _text("", self._monitor_state),
        }
        return panels | {
            "shell": self._shell(),
            "media": self._media(),
            "notifications": self._notifications(),
            "osd": self._osd(),
            "image-selector": self._image_selector(),
            "lock": self._lock(),
            "idle": self._idle(),
            "nightlight": self._nightlight(),
            "background": self._background(),
            "omarchy.clock": {"refresh": _void("", self._nothing)},
            "omarchy.indicators": {"refresh": _void("", self._nothing)},
            "omarchy.system-update": {"refresh": _void("", self._nothing), "clear": _void("", self._nothing)},
        }

    # Each group of functions, then what the longer ones do.

    def _panel(self, name: str) -> dict[str, Function]:
        show = _void("", lambda: self._open(name))
        hide = _void("", lambda: self._open(""))
        toggle = _void("", lambda: self._open("" if self.state.get("panel") == name else name))
        return {"open": show, "show": show, "close": hide, "hide": hide, "toggle": toggle}

    def _shell(self) -> dict[str, Function]:
        return {
            "ping": _text("", lambda: "ok"),
            "listPlugins": _text("", lambda: compact(self.plugins.listing())),
            "listShellConfig": _text("", self._config),
            "debugBarGeometry": _text("", lambda: "[]"),
            "applyTheme": _text("colorsB64 shellB64", lambda _colors, _shell: self._draw()),
            "reloadConfig": _text("", self.plugins.reload),
            "rescanPlugins": _void("", self.plugins.rescan),
            "setPluginEnabled": _text("id enabled", self.plugins.enable),
            "summon": _text("id payloadJson", self._summon),
            "toggle": _void("id payloadJson", lambda name, payload: (self._summon(name, payload), None)[1]),
            "hide": _void("id", lambda _name: self.menu.close()),
            "call": _text("id method arg", self._call),
        }

    def _media(self) -> dict[str, Function]:
        return {
            "status": _text("", self.media.status),
            "ping": _text("", lambda: "ok"),
            "play": _text("", lambda: self.media.turn("playing", 0)),
            "pause": _text("", lambda: self.media.turn("paused", 0)),
            "playPause": _text("", lambda: self.media.turn(self._other("media", "playing", "paused"), 0)),
            "next": _text("", lambda: self.media.turn("playing", 1)),
            "previous": _text("", lambda: self.media.turn("playing", -1)),
            **{
                name: _text("", lambda: "unhandled")
                for name in ("sourceNext", "sourcePrevious", "sourceSwitch", "sourceSwitchPrevious")
            },
        }

    def _notifications(self) -> dict[str, Function]:
        def ask(member: str) -> Function:
            return _text("", lambda: self._server(member) or "none")

        return {
            "ping": _text("", lambda: "ok"),
            "dndState": _text("", lambda: self.state.get("dnd")),
            "isDnd": _text("", lambda: self.state.get("dnd")),
            "toggleDnd": _text("", lambda: self._dnd(self._other("dnd", "on", "off"))),
            "setDnd": _text("value", lambda value: self._dnd(value.lower())),
            "showHistory": ask("ShowHistory"),
            "clear": _text("", lambda: self._server("ClearPast") or "ok"),
            "clearPending": _text("", lambda: self._server("ClearPending") or "ok"),
            "markAllSeen": _text("", lambda: "ok"),
            "dismissAll": _text("", lambda: self._server("DismissAll") or "ok"),
            "dismissOne": ask("DismissOne"),
            "dismiss": _text("summary", lambda text: self._server("DismissMatching", text) or "none"),
            "invokeLast": ask("InvokeLast"),
        }

    def _osd(self) -> dict[str, Function]:
        return {
            "show": _text("payloadJson", self._osd_show),
            "close": _text("", lambda: self._ok(osd="")),
            "state": _text("", lambda: "open" if self.state.get("osd") else "closed"),
            "ping": _text("", lambda: "ok"),
        }

    def _image_selector(self) -> dict[str, Function]:
        opening = "imageDirs imageRowsB64 selectedImage selectionFile doneFile showLabels filterable"
        return {
            "open": _text(opening, lambda *words: self.menu.ask("Pick a picture", words[3], words[4])),
            "preload": _text("imageRowsB64 selectedImage showLabels filterable", lambda *_words: "ok"),
            "cancel": _text("doneFile", self.menu.finish),
            "ping": _text("", lambda: "ok"),
        }

    def _lock(self) -> dict[str, Function]:
        return {
            "lock": _text("", lambda: self._ok(session="locked")),
            "isLocked": _text("", lambda: compact(self._locked())),
            "status": _text("", self._lock_status),
            "preview": _text("", lambda: "ok"),
            "hidePreview": _text("", lambda: "ok"),
        }

    def _idle(self) -> dict[str, Function]:
        return {
            "status": _text("", self._idle_status),
            "debug": _text("", self._idle_status),
            "enable": _text("", lambda: self._set_idle("allow")),
            "disable": _text("", lambda: self._set_idle("awake")),
            "toggle": _text("", lambda: self._set_idle(self._other("idle", "allow", "awake"))),
        }

    def _nightlight(self) -> dict[str, Function]:
        return {
            "status": _text("", self._nightlight_status),
            "refresh": _void("", self._nothing),
            "enable": _text("", lambda: self._set_nightlight("on")),
            "disable": _text("", lambda: self._set_nightlight("off")),
            "toggle": _text("", lambda: self._set_nightlight(self._other("nightlight", "on", "off"))),
        }

    def _background(self) -> dict[str, Function]:
        return {
            "refresh": _void("", self._nothing),
            "set": _void("path", self._wallpaper),
            "setInstant": _void("path", self._wallpaper),
            "transition": _void("fromPath path", lambda _old, path: self._wallpaper(path)),
            "themeTransition": _void(
                "fromPath path finalPath colorsB64 shellB64",
                lambda _old, _path, final, _colors, _shell: self._wallpaper(final),
            ),
        }

    # What they do.

    def _ok(self, **facts: str) -> str:
        self.state.set(**facts)
        return "ok"

    def _nothing(self) -> None:
        return None

    def _draw(self) -> str:
        self.state.set(theme=self.state.get("theme"))
        return "ok"

    def _other(self, fact: str, one: str, two: str) -> str:
        return two if self.state.get(fact) == one else one

    def _open(self, panel: str) -> None:
        self.state.set(panel=panel)

    def _wallpaper(self, path: str) -> None:
        if Path(path).is_file():
            self.state.set(background=path)

    def _brightness(self, percent: str) -> str:
        try:
            level = min(100, max(1, round(float(percent))))
        except (ValueError, OverflowError):
            level = 1
        self.state.set(brightness=str(level))
        return f"got {level}"

    def _monitor_state(self) -> str:
        level = int(self.state.get("brightness") or 0)
        facts = {"brightness": level, "brightnessAvailable": True, "focusedMonitor": "DEMO-1", "scale": 1}
        return compact(facts)

    def _dnd(self, value: str) -> str:
        on = value in {"true", "1", "on", "yes"}
        self.state.set(dnd="on" if on else "off")
        return "on" if on else "off"

    def _server(self, member: str, *words: str) -> str:
        """Ask the notification server beside us; nothing when another program holds its name."""
        name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
        command = ["busctl", "--user", "--json=short", "--timeout=3", "call", "--", name, path]
        command += ["io.github.bruce_forte.OmarchyDemo1", member, *(("s", *words) if words else ())]
        try:
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            return str(json.loads(answer)["data"][0])
        except (OSError, subprocess.CalledProcessError, ValueError, LookupError, TypeError):
            return ""

    def _osd_show(self, payload: str) -> str:
        try:
            message = json.loads(payload).get("message", "")
        except (ValueError, AttributeError):
            message = payload
        return self._ok(osd=str(message))

    def _locked(self) -> bool:
        return self.state.get("session") == "locked"

    def _lock_status(self) -> str:
        locked = self._locked()
        facts = {
            "locked": locked, "requested": locked, "pending": False, "sessionLocked": locked,
            "secure": locked, "realScreens": 1, "passwordPam": True, "fingerprint": False,
            "laptopClosed": False, "authenticating": False, "lastEvent": "", "lastEventAt": "",
        }  # fmt: skip
        return compact(facts)

    def _idle_status(self) -> str:
        allowed = self.state.get("idle") == "allow"
        facts = {
            "enabled": allowed, "stayAwake": not allowed, "stayAwakeStateLoaded": True, "idle": False,
            "inIdleCycle": False, "screensaver": 150, "lock": 300, "lastEvent": "", "lastEventAt": "",
        }  # fmt: skip
        return compact(facts)

    def _set_idle(self, value: str) -> str:
        self.state.set(idle=value)
        return "enabled" if value == "allow" else "disabled"

    def _nightlight_status(self) -> str:
        on = self.state.get("nightlight") == "on"
        return compact({"enabled": on, "temperature": 4000 if on else 6500})

    def _set_nightlight(self, value: str) -> str:
        self.state.set(nightlight=value)
        return "enabled" if value == "on" else "disabled"

    def _config(self) -> str:
        return compact({"bar": {"position": self.state.get("bar-position"), "widgets": self.plugins.widgets()}})

    def _summon(self, name: str, payload: str) -> str:
        if name == "omarchy.menu":
            return self.menu.summon(payload)
        if not self.plugins.known(name):
            return "unknown"
        self._open(name)
        return "ok"

    def _call(self, name: str, method: str, argument: str) -> str:
        """Any method of a loaded panel, with one argument, as the real shell offers it."""
        match name, method:
            case "omarchy.menu", "runAction":
                self.state.run("bash", "-c", argument)
            case "omarchy.menu", "applyDmenuSelection":
                return self.menu.answer(argument)
            case (("omarchy.emojis" | "omarchy.clipboard"), "applySelected"):
                self.state.set(typed=self.state.get("typed") + argument)
            case _:
                return "unknown"
        return "ok"
