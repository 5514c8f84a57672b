"""What the compositor says of its monitors and windows, read from whatever its client prints.

Pure module. The text is the compositor's, with titles that programs chose: bytes that are no UTF-8, control
characters and backslashes nobody escaped, lines before it, an end cut off. What can be read of it is.

    rows(text, key) -> Rows | None        None: nothing in it can be read
    monitors(rows), windows(rows), focus(text), locked(text)
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

MOST_BYTES = 4 * 1024 * 1024
MOST_TRIES = 20_000
"""Places at which an object is looked for in a text that is broken."""
MOST_TITLE = 300

Row = Mapping[str, object]

_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Objects that were read, and how many more there seem to be."""

    rows: tuple[Row, ...]
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A monitor; place and size in the layout's own units, which `scale` makes pixels."""

    id: int
    name: str
    x: int
    y: int
    width: int
    height: int
    scale: float
    refresh_hz: float
    workspace: str
    focused: bool
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A window, as far as the compositor said it."""

    address: str
    app: str
    title: str
    workspace: str
    monitor: int
    x: int
    y: int
    width: int
    height: int
    floating: bool
    fullscreen: bool
    pid: int


def rows(text: bytes, key: str) -> Rows | None:
    """The objects of a list that have this key."""
    decoded = text[:MOST_BYTES].decode("utf-8", "replace").strip()
    if decoded == "]":  # what it prints when there is nothing to list
        return Rows(rows=())
    for start in _starts(decoded, "["):
        found = _value(decoded, start)
        if isinstance(found, list) and (not found or any(isinstance(each, dict) and key in each for each in found)):
            return Rows(rows=tuple(each for each in found if isinstance(each, dict) and key in each))
        break
    saved = tuple(_salvaged(decoded, key))
    if not saved:
        return None
    return Rows(rows=saved, lost=max(decoded.count(f'"{key}":') - len(saved), 0))


def _starts(text: str, bracket: str) -> Iterator[int]:
    """Where lines begin with a bracket."""
    for found in re.finditer(rf"(?m)^[ \t]*(?=\{bracket})", text):
        yield found.end()


def _value(text: str, start: int) -> object:
    for candidate in (text[start:], _BAD_ESCAPE.sub(r"\\\\", text[start:])):
        try:
            return _DECODER.raw_decode(candidate)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _salvaged(text: str, key: str) -> Iterator[Row]:
    """Every object of its own line that can be read."""
    text = _BAD_ESCAPE.sub(r"\\\\", text)
    position = 0
    for _ in range(MOST_TRIES):
        start = text.find("{", position)
        if start < 0:
            return
        position = start + 1
        try:
            found, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and key in found:
            yield found


def text_of(row: Row, key: str, most: int = MOST_TITLE) -> str:
    """A text, "" when there is none."""
    value = row.get(key)
    return value[:most] if isinstance(value, str) else ""


def number_of(row: Row, key: str) -> float:
    """A number, 0 when there is none."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e9:
        return 0
    return value


def pair_of(row: Row, key: str) -> tuple[int, int]:
    """Two whole numbers, zeros when there are none."""
    value = row.get(key)
    if not isinstance(value, list) or len(value) != 2:
        return 0, 0
    held = {str(at): each for at, each in enumerate(value)}
    return int(number_of(held, "0")), int(number_of(held, "1"))


def name_in(row: Row, key: str) -> str:
    """The name of something named, such as a workspace."""
    value = row.get(key)
    return text_of(value, "name") if isinstance(value, Mapping) else ""


def monitors(found: Sequence[Row]) -> list[Monitor]:
    """The monitors that show something."""
    listed = []
    for row in found:
        scale = number_of(row, "scale") or 1.0
        width, height = number_of(row, "width") / scale, number_of(row, "height") / scale
        if int(number_of(row, "transform")) % 2:  # turned on its side
            width, height = height, width
        if not text_of(row, "name") or row.get("disabled") is True:
            continue
        listed.append(
            Monitor(
                id=int(number_of(row, "id")),
                name=text_of(row, "name"),
                x=int(number_of(row, "x")),
                y=int(number_of(row, "y")),
                width=round(width),
                height=round(height),
                scale=scale,
                refresh_hz=round(number_of(row, "refreshRate"), 2),
                workspace=name_in(row, "activeWorkspace"),
                focused=row.get("focused") is True,
                on=row.get("dpmsStatus") is not False,
            )
        )
    return listed


def windows(found: Sequence[Row]) -> list[Window]:
    """The windows that are there to be seen or brought forward."""
    return [
        Window(
            address=text_of(row, "address"), app=text_of(row, "class"), title=text_of(row, "title"),
            workspace=name_in(row, "workspace"), monitor=int(number_of(row, "monitor")), x=pair_of(row, "at")[0],
            y=pair_of(row, "at")[1], width=pair_of(row, "size")[0], height=pair_of(row, "size")[1],
            floating=row.get("floating") is True, fullscreen=row.get("fullscreen") not in (None, False, 0),
            pid=int(number_of(row, "pid")),
        )
        for row in found
        if row.get("mapped") is not False
    ]  # fmt: skip


def focus(text: bytes) -> str:
    """The address of the window that has the focus, "" when none has or it cannot be read."""
    found = next(_salvaged(text[:MOST_BYTES].decode("utf-8", "replace"), "address"), None)
    return text_of(found, "address") if found is not None else ""


def locked(text: bytes) -> bool | None:
    """Whether the session is locked; None when that was not said."""
    found = re.search(rb"\b(true|false)\b", text[:200])
    return found[1] == b"true" if found else None
