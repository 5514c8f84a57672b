"""What is read of what the compositor's client prints, however broken that is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.desktop.hyprland import focus, locked, monitors, rows, windows


def client(address: str = "0x1", **more: object) -> dict[str, object]:
    return {"address": address, "class": "term", "title": "a", "workspace": {"id": 1, "name": "1"}, "at": [1, 2],
            "size": [3, 4], "monitor": 0, "pid": 7, **more}  # fmt: skip


def listed(text: bytes) -> list[str]:
    found = rows(text, "address")
    assert found is not None
    return [each.title for each in windows(found.rows)]


WHOLE = json.dumps([client(title="one"), client("0x2", title="two")], indent=4).encode()

READABLE: tuple[tuple[bytes, list[str]], ...] = (
    (WHOLE, ["one", "two"]),
    (b"[]", []),
    (b"]\n", []),
    (b"adding monitors\nline [x]\n" + WHOLE, ["one", "two"]),
    (b"[LOG] a line\n" + WHOLE, ["one", "two"]),
    (WHOLE.replace(b"one", b"sesi\xf3n"), ["sesi\ufffdn", "two"]),
    (WHOLE.replace(b"one", b"a\nb\tc\x1b["), ["a\nb\tc\x1b[", "two"]),
    (WHOLE.replace(b"one", rb"C:\Users\x"), [r"C:\Users\x", "two"]),
    (WHOLE[: WHOLE.index(b"two") + 2], ["one"]),
    (WHOLE.replace(b"one", b'say "hi"'), ["two"]),
    (json.dumps([client(hex(at)) for at in range(2000)]).encode(), ["a"] * 2000),
)
HOPELESS = (b"", b"   ", b"Couldn't connect", b"ok", b"\xff\xfe\x00", b"{" * 100_000, b"[" * 100_000, b'{"address": ')


@pytest.mark.parametrize(("text", "titles"), READABLE, ids=range(len(READABLE)))
def test_what_can_be_read_is(text: bytes, titles: list[str]) -> None:
    assert listed(text) == titles


@pytest.mark.parametrize("text", HOPELESS, ids=range(len(HOPELESS)))
def test_what_cannot_be_read_is_not_nothing(text: bytes) -> None:
    assert rows(text, "address") is None


def test_windows_that_could_not_be_read_are_counted() -> None:
    found = rows(WHOLE.replace(b"one", b'say "hi"'), "address")
    assert found is not None
    assert found.lost == 1


@given(st.binary(max_size=400), st.integers(0, len(WHOLE)))
def test_no_output_is_too_odd(noise: bytes, at: int) -> None:
    for text in (noise, WHOLE[:at] + noise, WHOLE[:at] + noise + WHOLE[at:]):
        found = rows(text, "address")
        if found is not None:
            windows(found.rows)
            monitors(found.rows)
        focus(text)
        locked(text)


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [1], ["a", "b"], True, 1e300])
def test_another_schema_is_survived(value: object) -> None:
    for name in ("class", "title", "workspace", "at", "size", "monitor", "pid", "floating", "fullscreen"):
        (window,) = windows([{**client(), name: value}])
        assert window.address == "0x1"
    for name in ("id", "x", "y", "width", "height", "scale", "transform", "refreshRate", "activeWorkspace", "focused"):
        (monitor,) = monitors([{"name": "DP-1", "width": 10, "height": 10, name: value}])
        assert monitor.name == "DP-1"
        assert monitor.scale > 0 or value == 1e300


def test_a_monitor_is_measured_in_the_layouts_units() -> None:
    row = {"id": 3, "name": "DP-1", "width": 3840, "height": 2160, "scale": 1.5, "x": 5, "y": 6, "focused": True}
    (one,) = monitors([row])
    assert (one.id, one.x, one.y, one.width, one.height, one.scale, one.on) == (3, 5, 6, 2560, 1440, 1.5, True)
    (turned,) = monitors([{**row, "transform": 1, "dpmsStatus": False}])
    assert (turned.width, turned.height, turned.on) == (1440, 2560, False)
    assert monitors([{**row, "disabled": True}, {**row, "name": ""}]) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [(b"true\n", True), (b"false", False), (b'{"locked": true}', True), (b"unknown request", None), (b"", None)],
)
def test_the_lock_is_known_or_not(text: bytes, answer: bool | None) -> None:
    assert locked(text) is answer


def test_the_focus_is_an_address_or_nothing() -> None:
    assert focus(json.dumps(client("0x9")).encode()) == "0x9"
    assert focus(b"{}") == ""
    assert focus(b"no") == ""
