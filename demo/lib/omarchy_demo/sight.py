"""Stand-ins for ``grim`` and ``tesseract``: a plain picture of the drawn desktop, and the words in it."""

import struct
import sys
import zlib

from .faults import fault
from .hyprland import Compositor
from .state import State

Area = tuple[int, int, int, int]


def _options(words: list[str], with_value: str) -> tuple[dict[str, str], list[str]]:
    """Split a command line into its one-letter options and the rest."""
    options: dict[str, str] = {}
    rest: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word.startswith("-") and word[1:] and word[1:] in with_value and words:
            options[word[1:]] = words.pop(0)
        elif word != "-c":
            rest.append(word)
    return options, rest


def _area(state: State, options: dict[str, str]) -> tuple[Area, float] | None:
    """The area that is wanted, and the highest scale on it."""
    monitors: list[dict[str, object]] = [
        row for row in Compositor(state).monitors() if options.get("o", row["name"]) == row["name"]
    ]
    if not monitors:
        return None
    places = [
        (int(str(row["x"])), int(str(row["y"])), float(str(row["width"])) / float(str(row["scale"])),
         float(str(row["height"])) / float(str(row["scale"])))
        for row in monitors
    ]  # fmt: skip
    scale = max(float(str(row["scale"])) for row in monitors)
    if "g" in options:
        place, _, size = options["g"].partition(" ")
        x, y = (int(each) for each in place.split(","))
        width, height = (int(each) for each in size.split("x"))
        return (x, y, width, height), scale
    left, top = min(x for x, *_ in places), min(y for _, y, *_ in places)
    right, bottom = max(x + w for x, _, w, _ in places), max(y + h for _, y, _, h in places)
    return (left, top, round(right - left), round(bottom - top)), scale


def _rows(state: State, area: Area, factor: float) -> tuple[int, int, list[bytes]]:
    """The picture as rows of pixels: a sky that darkens, and a lighter field for each window."""
    x, y, width, height = area
    wide, high = max(round(width * factor), 1), max(round(height * factor), 1)
    if state.get("brightness") == "0":
        return wide, high, [bytes(3 * wide)] * high
    rows = []
    windows = Compositor(state).clients()
    for line in range(high):
        shade = 40 + line * 120 // high
        row = bytearray(bytes((shade // 2, shade, 180)) * wide)
        for window in windows:
            at, size = window["at"], window["size"]
            assert isinstance(at, list)
            assert isinstance(size, list)
            if at[1] <= y + line / factor < at[1] + size[1]:
                first = min(max(round((at[0] - x) * factor), 0), wide)
                last = min(max(round((at[0] + size[0] - x) * factor), first), wide)
                row[3 * first : 3 * last] = b"\xf0\xf0\xe8" * (last - first)
        rows.append(bytes(row))
    return wide, high, rows


def _png(wide: int, high: int, rows: list[bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def grim() -> int:
    """Run ``grim``; whatever file is named, the picture goes to standard output."""
    state = State()
    wrong = fault(state, "grim")
    if wrong is not None:
        return wrong
    options, _ = _options(sys.argv[1:], "sgotql")
    found = _area(state, options)
    if found is None:
        print(f"unknown output '{options['o']}'", file=sys.stderr)
        return 1
    area, scale = found
    wide, high, rows = _rows(state, area, float(options.get("s") or scale))
    if options.get("t") == "ppm":
        sys.stdout.buffer.write(b"P6\n%d %d\n255\n" % (wide, high) + b"".join(rows))
    else:
        sys.stdout.buffer.write(_png(wide, high, rows))
    return 0


def tesseract() -> int:
    """Run ``tesseract``: what it reads are the windows' titles."""
    state = State()
    if "--list-langs" in sys.argv[1:]:
        known = (state.get("tesseract-languages") or "eng").split()
        print(f'List of available languages in "/demo/tessdata/" ({len(known)}):')
        print("\n".join(known))
        return 0
    wrong = fault(state, "tesseract")
    if wrong is not None:
        return wrong
    if not sys.stdin.buffer.read(8):
        print("Error during processing.", file=sys.stderr)
        return 1
    print("\n".join(str(window["title"]) for window in Compositor(state).clients()))
    return 0
