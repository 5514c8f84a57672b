"""A stand-in for ``hyprctl``: the questions and dispatchers the product and the demo's commands use."""

import json
import os
import re
import sys

from .faults import fault
from .state import State

EXECUTE = re.compile(r"os\.execute\(\s*([\"'])(.*?)\1\s*\)", re.DOTALL)


class Compositor:
    """The compositor's answers over one state folder."""

    def __init__(self, state: State) -> None:
        self.state = state

    def monitors(self) -> list[dict[str, object]]:
        """Return the monitors: one, or those of the file ``monitors`` ("NAME WIDTH HEIGHT SCALE" a line)."""
        rows = [line.split() for line in self.state.get("monitors").splitlines()]
        rows = [row for row in rows if len(row) == 4] or [["DEMO-1", "1280", "720", "1.00"]]
        answer: list[dict[str, object]] = []
        left = 0
        for number, (name, width, height, scale) in enumerate(rows):
            space = int(self.state.get("workspace") or 1) if number == 0 else number + 1
            answer.append({
                "id": number, "name": name, "description": f"Omarchy Demo {name}", "make": "Omarchy",
                "model": "Demo", "serial": f"{number:04d}", "width": int(width), "height": int(height),
                "refreshRate": 60.0, "x": left, "y": 0, "activeWorkspace": {"id": space, "name": str(space)},
                "specialWorkspace": {"id": 0, "name": ""}, "reserved": [0, 40, 0, 0], "scale": float(scale),
                "transform": 0, "focused": number == 0, "dpmsStatus": self.state.get("brightness") != "0",
                "vrr": False, "solitary": "0", "activelyTearing": False, "directScanoutTo": "0",
                "disabled": False, "currentFormat": "XRGB8888", "mirrorOf": "none",
                "availableModes": [f"{width}x{height}@60.00Hz"],
            })  # fmt: skip
            left += int(width)
        return answer

    def clients(self) -> list[dict[str, object]]:
        """Return the windows, oldest first; the newest has the focus."""
        windows = self.state.windows()
        return [
            {
                "address": address, "mapped": True, "hidden": False, "at": [56 + 594 * min(at, 1), 76],
                "size": [574, 488], "workspace": {"id": space, "name": str(space)}, "floating": False,
                "monitor": 0, "class": kind, "title": title, "initialClass": kind, "initialTitle": title,
                "pid": 4000 + at, "xwayland": False, "pinned": False, "fullscreen": 0, "fullscreenClient": 0,
                "grouped": [], "tags": [], "swallowing": "0x0", "focusHistoryID": len(windows) - 1 - at,
                "inhibitingIdle": False,
            }
            for at, (address, kind, title, space) in enumerate(windows)
        ]  # fmt: skip

    def workspaces(self) -> list[dict[str, object]]:
        """Return the workspaces that hold a window, and the one in front."""
        windows = self.state.windows()
        numbers = sorted({space for *_, space in windows} | {int(self.state.get("workspace") or 1)})
        answer: list[dict[str, object]] = []
        for number in numbers:
            here = [window for window in windows if window[3] == number]
            answer.append({
                "id": number, "name": str(number), "monitor": "DEMO-1", "monitorID": 0, "windows": len(here),
                "hasfullscreen": False, "lastwindow": here[-1][0] if here else "0x0",
                "lastwindowtitle": here[-1][2] if here else "", "ispersistent": False,
            })  # fmt: skip
        return answer

    def question(self, name: str) -> object:
        """Return the answer to a question, or nothing when there is no such question."""
        match name:
            case "monitors":
                return self.monitors()
            case "clients":
                return self.clients()
            case "workspaces":
                return self.workspaces()
            case "activewindow":
                return (self.clients() or [{}])[-1]
            case "activeworkspace":
                space = int(self.state.get("workspace") or 1)
                return next(row for row in self.workspaces() if row["id"] == space)
            case "version":
                return {"branch": "demo", "commit": "", "version": "0.56.2", "tag": "v0.56.2-demo"}
            case _:
                return None

    def dispatch(self, words: list[str]) -> str:
        """Do what a dispatcher does to windows; evaluate what it would evaluate."""
        text = " ".join(words)
        for found in EXECUTE.finditer(text):  # the compositor's own language can start programs
            self.state.run("bash", "-c", found.group(2))
        name, _, rest = text.partition(" ")
        match name:
            case "exec":
                self.state.run("bash", "-c", rest)
            case "workspace" if rest.isdecimal():
                self.state.set(workspace=rest)
            case "focuswindow":
                self._move(rest, keep=True)
            case "closewindow":
                self._move(rest, keep=False)
            case "killactive":
                self.state.replace_windows(self.state.windows()[:-1])
            case _:
                pass
        return "ok"

    def _move(self, pattern: str, *, keep: bool) -> None:
        """Bring the window that "address:…" or "class:…" names to the front, or close it."""
        kind, _, value = pattern.partition(":")
        windows = self.state.windows()
        column = {"address": 0, "class": 1, "title": 2}.get(kind, 1)
        found = next((row for row in windows if row[column] == value), None)
        if found is not None:
            rest = [row for row in windows if row != found]
            self.state.replace_windows([*rest, found] if keep else rest)


def _plain(answer: object) -> None:
    """Print roughly what hyprctl prints for people."""
    rows = answer if isinstance(answer, list) else [answer]
    for row in rows:
        for key, value in row.items() if isinstance(row, dict) else ():
            print(f"\t{key}: {value}")
        print()


def main() -> int:
    """Run one command line."""
    words = [word for word in sys.argv[1:] if word not in {"-j", "-q", "--quiet"}]
    as_json = "-j" in sys.argv[1:]
    if os.environ.get("OMARCHY_DEMO_STRICT") == "1" and not os.environ.get("HYPRLAND_INSTANCE_SIGNATURE"):
        print("HYPRLAND_INSTANCE_SIGNATURE not set! (is hyprland running?)")
        return 1
    state = State()
    wrong = fault(state, "hyprctl")
    if wrong is not None:
        return wrong
    if words[:1] == ["locked"]:
        locked = state.get("session") == "locked"
        print(json.dumps({"locked": locked}) if as_json else str(locked).lower())
        return 0
    compositor = Compositor(state)
    if words[:1] == ["--batch"]:
        for part in " ".join(words[1:]).split(";"):
            compositor.dispatch(part.split()[1:] if part.split()[:1] == ["dispatch"] else part.split())
        print("ok")
        return 0
    if words[:1] in (["dispatch"], ["eval"]):
        print(compositor.dispatch(words[1:]))
        return 0
    if words[:1] in (["keyword"], ["reload"], ["switchxkblayout"], ["notify"], ["hyprsunset"]):
        print("ok")
        return 0
    answer = compositor.question(words[0] if words else "")
    if answer is None:
        print("unknown request")
        return 1
    if as_json:
        print(json.dumps(answer, indent=4, ensure_ascii=False))
    else:
        _plain(answer)
    return 0
