"""What is taken, read and handed on: plans, pictures, types and languages."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from omarchy_mcp.desktop import clipboard, pictures, reading
from omarchy_mcp.desktop.capture import Area, Shot, Wanted, plan, side
from omarchy_mcp.desktop.hyprland import Monitor, Window

LEFT = Monitor(id=0, name="DP-1", x=0, y=0, width=2560, height=1440, scale=1.5, refresh_hz=60, workspace="1",
               focused=False, on=True)  # fmt: skip
RIGHT = replace(LEFT, id=1, name="HDMI-A-1", x=2560, width=1080, height=1920, scale=1, focused=True)
BOTH = (LEFT, RIGHT)
WINDOW = Window(address="0x1", app="term", title="t", workspace="1", monitor=0, x=10, y=20, width=300, height=200,
                floating=False, fullscreen=False, pid=1)  # fmt: skip


def shot(wanted: Wanted, monitors: tuple[Monitor, ...] = BOTH, window: Window | None = WINDOW) -> Shot:
    found = plan(wanted, monitors, window)
    assert isinstance(found, Shot), found
    return found


def test_the_whole_screen_is_every_monitor_at_the_highest_scale() -> None:
    found = shot(Wanted(target="screen"))
    assert (found.args, found.area, found.scale) == ((), Area(x=0, y=0, width=3640, height=1920), 1.5)
    assert found.scaled(1568) == ("-s", f"{1568.5 / 3640:.6g}")
    assert shot(Wanted(target="screen"), ()).scaled(1568) == ()


def test_a_small_thing_is_taken_as_large_as_it_is() -> None:
    found = shot(Wanted(target="window"))
    assert found.args == ("-g", "10,20 300x200")
    assert found.scaled(1568) == (*found.args, "-s", "1.5")


def test_a_monitor_is_named_or_the_focused_one() -> None:
    assert shot(Wanted(target="monitor")).args == ("-o", "HDMI-A-1")
    assert shot(Wanted(target="screen", monitor="DP-1")).args == ("-o", "DP-1")
    assert not shot(Wanted(target="monitor")).off
    assert shot(Wanted(target="monitor"), (replace(LEFT, on=False),)).off


@pytest.mark.parametrize(
    ("wanted", "word"),
    [
        (Wanted(target="monitor", monitor="DP-2"), "DP-1"),
        (Wanted(target="region"), "region"),
        (Wanted(target="region", region="1,1"), "WIDTHxHEIGHT"),
        (Wanted(target="region", region="9000,9000 5x5"), "no monitor"),
        (Wanted(target="region", region="0,0 5x0"), "empty"),
        (Wanted(target="region", region="0,0 5x5; x"), "WIDTHxHEIGHT"),
    ],
)
def test_what_cannot_be_taken_is_said(wanted: Wanted, word: str) -> None:
    found = plan(wanted, BOTH, WINDOW)
    assert isinstance(found, str)
    assert word in found


def test_no_window_and_no_monitor_are_said() -> None:
    assert isinstance(plan(Wanted(target="window"), BOTH, None), str)
    assert isinstance(plan(Wanted(target="window"), BOTH, replace(WINDOW, width=0)), str)
    assert isinstance(plan(Wanted(target="monitor"), (), None), str)
    assert isinstance(plan(Wanted(target="monitor"), (replace(LEFT, name="-x"),), None), str)


@pytest.mark.parametrize(
    ("asked", "longest", "noted"), [(0, 1568, False), (1, 64, True), (900, 900, False), (9999, 2000, True)]
)
def test_the_longest_side_is_bounded_and_said(asked: int, longest: int, noted: bool) -> None:
    assert side(asked)[0] == longest
    assert bool(side(asked)[1]) is noted


def png(width: int, height: int, colour: tuple[int, int, int] = (1, 1, 1), kind: str = "PNG") -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(held, kind)
    return held.getvalue()


def test_a_picture_is_made_smaller_and_never_larger() -> None:
    found = pictures.fit(png(4000, 1000), 1000)
    assert (found.width, found.height, found.original, found.mime) == (1000, 250, (4000, 1000), "image/png")
    assert pictures.fit(png(10, 20), 1000).width == 10


@pytest.mark.parametrize(("colour", "said"), [((1, 2, 0), "black"), ((80, 90, 70), "of one colour")])
def test_one_colour_is_seen(colour: tuple[int, int, int], said: str) -> None:
    assert pictures.fit(png(50, 50, colour), 1000).flat == said
    assert pictures.legible(png(50, 50, colour))[1] == said


@pytest.mark.parametrize("bad", [b"", b"x", png(90, 90)[:60], png(90, 90, kind="GIF"), b"P6\n90000 90000\n255\n"])
def test_what_is_no_whole_picture_is_refused(bad: bytes) -> None:
    with pytest.raises(pictures.BadPictureError):
        pictures.fit(bad, 1000)


@pytest.mark.parametrize(
    ("types", "wanted", "kind"),
    [
        (["text/html", "text/plain"], "", "text/plain"),
        (["text/html"], "", "text/html"),
        (["UTF8_STRING", "image/png"], "", "UTF8_STRING"),
        (["image/png", "text/plain"], "image/png", "image/png"),
        (["application/json"], "", "application/json"),
    ],
)
def test_text_is_read_unless_a_type_is_named(types: list[str], wanted: str, kind: str) -> None:
    assert clipboard.chosen(types, wanted) == kind


@pytest.mark.parametrize(
    ("types", "wanted"),
    [(["image/png"], ""), ([], ""), (["text/plain"], "text/html"), (["a/b"], "a/b"), (["--x"], "--x"), (["x\ny"], "")],
)
def test_what_cannot_be_read_is_not(types: list[str], wanted: str) -> None:
    with pytest.raises(clipboard.NotTextError):
        clipboard.chosen(types, wanted)


def test_a_password_managers_mark_is_known_however_it_is_spelled() -> None:
    assert clipboard.secret(["text/plain", "x-kde-passwordManagerHint"])
    assert clipboard.secret(["application/X-KDE-PASSWORDMANAGERHINT"])
    assert not clipboard.secret(clipboard.offered("text/plain\n\n"))


LISTING = 'List of available languages in "/usr/share/tessdata/" (3):\neng\nosd\nchi_sim\n'


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("eng", ""),
        ("eng+chi_sim", ""),
        ("deu", "tesseract-data-deu"),
        ("eng+deu", "tesseract-data-deu"),
        ("osd", "tesseract-data-osd"),
        ("../../etc", "names joined"),
        ("", "names joined"),
        ("x" * 500, "names joined"),
        ("eng\n", "names joined"),
    ],
)
def test_a_language_is_there_or_said_to_be_missing(wanted: str, said: str) -> None:
    found = reading.missing(wanted, reading.installed(LISTING))
    assert (said in found) if said else not found


def test_no_language_at_all_is_said() -> None:
    assert "installed: none" in reading.missing("eng", reading.installed("Error opening data file\n"))
