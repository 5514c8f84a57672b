"""What is taken a picture of, and how it is asked of the program that takes it.

Pure module: it neither looks nor takes.

    plan(wanted, monitors, window) -> Shot | str       a text says why there is nothing to take
    side(asked) -> tuple[int, str]                     the longest side a picture may have, and a note
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from omarchy_mcp.desktop.hyprland import Monitor, Window

USUAL_SIDE, LEAST_SIDE, MOST_SIDE = 1_568, 64, 2_000
"""Pixels: models see no more than the first of a picture, and refuse a conversation with some larger than the last."""

MOST_PLACE = 100_000
REGION = re.compile(r"(-?[0-9]{1,5}),(-?[0-9]{1,5})[ ,]([0-9]{1,5})[x,]([0-9]{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a client asks to see; empty is "not said"."""

    target: str
    monitor: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of the layout, in its own units."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What is asked of the program: its arguments without the scale, the area if known, pixels a unit there.

    ``off``: every monitor it shows is; ``screen``: it is of the screen at all.
    """

    what: str
    args: tuple[str, ...]
    area: Area | None
    scale: float = 1.0
    off: bool = False
    screen: bool = True

    def scaled(self, longest: int) -> tuple[str, ...]:
        """The arguments with a scale that makes the longest side this many pixels at most."""
        if self.area is None:
            return self.args
        # a little more than needed: the program rounds down, and what is too large is made smaller afterwards
        factor = min(self.scale, (longest + 0.5) / max(self.area.width, self.area.height, 1))
        return (*self.args, "-s", f"{factor:.6g}")


def side(asked: int) -> tuple[int, str]:
    """The longest side for what was asked: 0 is the usual one."""
    if asked == 0:
        return USUAL_SIDE, ""
    bounded = min(max(asked, LEAST_SIDE), MOST_SIDE)
    return bounded, f"max_width is {bounded}: it must be {LEAST_SIDE} to {MOST_SIDE}" if bounded != asked else ""


def plan(wanted: Wanted, monitors: Sequence[Monitor], window: Window | None) -> Shot | str:
    """What to take; where no monitor is known, the whole screen can be taken all the same."""
    if wanted.region:
        return _region(wanted.region, monitors)
    if wanted.monitor or wanted.target == "monitor":
        return _monitor(wanted.monitor, monitors)
    match wanted.target:
        case "region":
            return "cannot take a region: say which, as `region`: X,Y WIDTHxHEIGHT in the layout's units"
        case "window":
            if window is None:
                return "cannot take the window: none has the focus"
            area = Area(x=window.x, y=window.y, width=window.width, height=window.height)
            return _area(f"window of {window.app or 'an unnamed program'}", area, monitors)
        case _:
            return _screen(monitors)


def _screen(monitors: Sequence[Monitor]) -> Shot:
    if not monitors:
        return Shot(what="screen", args=(), area=None)
    left, top = min(each.x for each in monitors), min(each.y for each in monitors)
    right, bottom = max(each.x + each.width for each in monitors), max(each.y + each.height for each in monitors)
    area = Area(x=left, y=top, width=right - left, height=bottom - top)
    off = not any(each.on for each in monitors)
    return Shot(what="screen", args=(), area=area, scale=max(each.scale for each in monitors), off=off)


def _monitor(name: str, monitors: Sequence[Monitor]) -> Shot | str:
    found = [each for each in monitors if (each.name == name if name else each.focused)] or (
        list(monitors[:1]) if not name else []
    )
    if not found:
        names = [each.name for each in monitors]
        near = get_close_matches(name, names, n=3, cutoff=0.0)
        return f"there is no such monitor; there are: {', '.join(near or names) or 'none that are known'}"
    one = found[0]
    if one.name.startswith("-"):
        return "cannot take the monitor: its name is not one"
    area = Area(x=one.x, y=one.y, width=one.width, height=one.height)
    return Shot(what=f"monitor {one.name}", args=("-o", one.name), area=area, scale=one.scale, off=not one.on)


def _region(text: str, monitors: Sequence[Monitor]) -> Shot | str:
    found = REGION.fullmatch(text.strip())
    if found is None:
        return "cannot take the region: it is X,Y WIDTHxHEIGHT in the layout's units, such as 100,200 640x480"
    x, y, width, height = (int(each) for each in found.groups())
    if not width or not height:
        return "cannot take the region: it is empty"
    area = Area(x=x, y=y, width=width, height=height)
    if monitors and not any(_meet(area, each) for each in monitors):
        places = ", ".join(f"{each.name} at {each.x},{each.y} {each.width}x{each.height}" for each in monitors)
        return f"cannot take the region: it is on no monitor; there are: {places}"
    return _area("region", area, monitors)


def _area(what: str, area: Area, monitors: Sequence[Monitor]) -> Shot | str:
    if area.width <= 0 or area.height <= 0:
        return f"cannot take the {what}: its size is not known"
    scales = [each.scale for each in monitors if _meet(area, each)]
    place = f"{area.x},{area.y} {area.width}x{area.height}"
    return Shot(what=what, args=("-g", place), area=area, scale=max(scales, default=1.0))


def _meet(area: Area, monitor: Monitor) -> bool:
    return (
        area.x < monitor.x + monitor.width
        and monitor.x < area.x + area.width
        and area.y < monitor.y + monitor.height
        and monitor.y < area.y + area.height
    )
