"""Seeing the desktop: what comes back where there is something to see, and what where there is not."""

import base64
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from system import journal, wire
from system.bus import text
from system.client import Answer, Era, Rpc
from system.product import CONTROL, SLICE, Product
from system.screen import screen
from system.world import wait_until

SEES = ("omarchy_screenshot", "omarchy_screen_text", "omarchy_clipboard_read")
MOST_ENCODED = 5_000_000


class Planted:
    """Files of the drawn desktop, taken away again after a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[Path, bytes | None] = {}

    def __call__(self, name: str, content: bytes | str = b"") -> None:
        file = self.folder / name
        self.files.setdefault(file, file.read_bytes() if file.exists() else None)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def gone(self, name: str) -> None:
        file = self.folder / name
        self.files.setdefault(file, file.read_bytes() if file.exists() else None)
        file.unlink(missing_ok=True)

    def back(self) -> None:
        for file, content in self.files.items():
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)


@pytest.fixture(name="plant")
def planted(product: Product, rpc: Rpc) -> Iterator[Planted]:
    assert rpc.call("omarchy_theme").outcome == "ok"  # the drawn desktop is there
    plants = Planted(product.desktop.state)
    yield plants
    plants.back()


@pytest.fixture(name="rules")
def rules_of_the_person(product: Product) -> Iterator[Callable[[str], None]]:
    kept = product.desktop.config.read_bytes()

    def write(text: str) -> None:
        product.desktop.write_config(text)
        product.world.systemctl("reload", "omarchy-mcp.service")

    yield write
    product.desktop.config.write_bytes(kept)
    product.world.systemctl("reload", "omarchy-mcp.service")


def picture(product: Product, era: Era = Era.MODERN, **arguments: Any) -> tuple[Answer, Image.Image | None, int]:
    """A screenshot's answer, its picture and how many bytes that has on the wire."""
    client = product.rpc(era)
    reply = client.post("tools/call", {"name": "omarchy_screenshot", "arguments": arguments}, name="omarchy_screenshot")
    result = reply.json()["result"]
    texts = "\n".join(part.get("text", "") for part in result["content"])
    answer = Answer(
        failed=bool(result.get("isError")), data=result["structuredContent"], text=texts, seconds=reply.seconds
    )
    images = [part for part in result["content"] if part["type"] == "image"]
    if not images:
        return answer, None, 0
    (image,) = images
    seen = Image.open(io.BytesIO(base64.b64decode(image["data"])))
    seen.load()
    assert image["mimeType"] == f"image/{str(seen.format).lower()}"
    return answer, seen, len(image["data"])


def noise(width: int, height: int) -> bytes:
    rows = b"".join(b"\0" + os.urandom(3 * width) for _ in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def flat(width: int, height: int, shade: int) -> bytes:
    return b"P6\n%d %d\n255\n" % (width, height) + bytes([shade]) * (3 * width * height)


def arguments_of(tool: str) -> dict[str, Any]:
    return {"text": "x"} if tool.endswith("write") else {}


# --- the picture


@pytest.mark.parametrize("era", list(Era))
def test_the_screen_is_seen_with_its_scale(product: Product, plant: Planted, era: Era) -> None:
    plant("monitors", "DEMO-1 3840 2160 1.50\n")
    before = sorted(product.desktop.state.rglob("*"))
    answer, seen, size = picture(product, era)
    assert not answer.failed
    assert seen is not None
    assert seen.size == (1568, 882)
    assert size < MOST_ENCODED
    assert (answer.data["original_width"], answer.data["original_height"]) == (3840, 2160)
    assert answer.data["scale"] == pytest.approx(1568 / 3840, abs=0.001)
    assert "3840x2160" in answer.text
    assert str(answer.data["scale"]) in answer.text
    assert sorted(product.desktop.state.rglob("*")) == before, "nothing is saved"


def test_a_monitor_a_region_and_the_window_are_seen(product: Product, plant: Planted) -> None:
    plant("monitors", "DEMO-1 1280 720 1.00\nDEMO-2 1080 1920 1.00\n")
    _, whole, _ = picture(product)
    assert whole is not None
    assert max(whole.size) <= 1568
    answer, second, _ = picture(product, target="monitor", monitor="DEMO-2")
    assert second is not None
    assert second.size == (882, 1568)
    assert (answer.data["x"], answer.data["y"]) == (1280, 0)
    _, part, _ = picture(product, target="region", region="10,20 300x200")
    assert part is not None
    assert part.size == (300, 200)
    answer, window, _ = picture(product, target="window")
    assert window is not None
    assert window.size == (574, 488)


@pytest.mark.parametrize(
    "arguments",
    [
        {"monitor": "DEMO-9"},
        {"target": "region"},
        {"region": "90000,0 5x5"},
        {"region": "--help"},
        {"target": "everything"},
        {"max_width": -1},
    ],
)
def test_what_is_not_there_to_be_seen_is_said(product: Product, plant: Planted, arguments: dict[str, Any]) -> None:
    client = product.rpc()
    answer = client.call("omarchy_screenshot", **arguments)
    assert answer.failed
    assert answer.text
    if arguments.get("monitor") == "DEMO-9":
        assert "DEMO-1" in answer.text


@pytest.mark.parametrize(("asked", "longest"), [(0, 1568), (1, 64), (100_000, 2000)])
def test_a_picture_is_never_larger_than_a_conversation_bears(
    product: Product, plant: Planted, asked: int, longest: int
) -> None:
    plant("grim-answers", noise(2200, 1238) if asked else noise(3840, 2160))
    answer, seen, size = picture(product, max_width=asked)
    assert seen is not None
    assert max(seen.size) <= longest
    assert max(seen.size) <= 2000
    assert size < 2_100_000
    assert answer.data["original_width"] == (2200 if asked else 3840)
    assert ("max_width is" in answer.text) is (asked in (1, 100_000))


def test_two_monitors_and_a_portrait_keep_their_shape(product: Product, plant: Planted) -> None:
    for width, height in ((7680, 2160), (1080, 3840)):
        plant("grim-answers", flat(width, height, 9)[:-3] + b"\xff\xff\xff")
        _, seen, _ = picture(product)
        assert seen is not None
        assert max(seen.size) == 1568
        assert seen.width / seen.height == pytest.approx(width / height, rel=0.01)


@pytest.mark.parametrize(
    "broken", [b"", b"no picture", noise(64, 64)[:3000], b"P6\n900 900\n255\nxx", b"P6\n99999 99999\n255\n"]
)
def test_what_is_no_whole_picture_is_an_error_and_no_picture(product: Product, plant: Planted, broken: bytes) -> None:
    plant("grim-answers", broken)
    answer, seen, _ = picture(product)
    assert answer.failed
    assert answer.data["why"] == "could_not_look"
    assert seen is None


@pytest.mark.parametrize(("shade", "word"), [(0, "black"), (90, "one colour")])
def test_a_picture_of_one_colour_is_said_to_be(product: Product, plant: Planted, shade: int, word: str) -> None:
    plant("grim-answers", flat(640, 400, shade))
    answer, seen, _ = picture(product)
    assert seen is not None
    assert word in answer.data["flat"]
    assert "locked" in answer.text


# --- where nothing is seen


@pytest.mark.parametrize("tool", SEES)
def test_a_locked_screen_shows_nothing(rpc: Rpc, plant: Planted, tool: str) -> None:
    plant("session", "locked\n")
    answer = rpc.call(tool)
    assert (answer.outcome, answer.data["why"], answer.failed) == ("refused", "locked", True)
    assert "locked" in answer.text
    state = rpc.call("omarchy_desktop_state")
    assert state.data["locked"] is True


@pytest.mark.parametrize(
    ("tool", "program", "said", "why"),
    [
        ("omarchy_screenshot", "grim", "1\nfailed to create display", "no_desktop_session"),
        ("omarchy_screenshot", "grim", "1\nfailed to copy output DP-1", "could_not_look"),
        ("omarchy_screen_text", "tesseract", "1\nError opening data file", "could_not_look"),
        ("omarchy_clipboard_read", "wl-paste", "1\nNothing is copied", "nothing_there"),
        ("omarchy_clipboard_read", "wl-paste", "1\nNo suitable type of content copied", "could_not_look"),
        ("omarchy_clipboard_read", "wl-paste", "1\nFailed to connect to a Wayland server", "no_desktop_session"),
        ("omarchy_clipboard_write", "wl-copy", "1\nFailed to connect to a Wayland server", "no_desktop_session"),
        ("omarchy_desktop_state", "hyprctl", "1\nHYPRLAND_INSTANCE_SIGNATURE not set!", "no_desktop_session"),
    ],
)
def test_why_nothing_was_seen_is_told_apart(
    rpc: Rpc, plant: Planted, tool: str, program: str, said: str, why: str
) -> None:
    plant(f"{program}-fails", said)
    answer = rpc.call(tool, **arguments_of(tool))
    assert answer.data["why"] == why, answer
    assert answer.failed is (why != "nothing_there")


@pytest.mark.parametrize(
    ("tool", "program"),
    [
        ("omarchy_screenshot", "grim"),
        ("omarchy_screen_text", "tesseract"),
        ("omarchy_clipboard_read", "wl-paste"),
        ("omarchy_clipboard_write", "wl-copy"),
        ("omarchy_desktop_state", "hyprctl"),
    ],
)
def test_a_program_that_is_missing_is_said_to_be(product: Product, rpc: Rpc, tool: str, program: str) -> None:
    file = product.desktop.path / "bin" / program
    if any((Path(folder) / program).exists() for folder in ("/usr/bin", "/usr/local/bin")):
        pytest.skip(f"{program} is installed here, so it cannot be missing: remove it to have this shown")
    kept = file.rename(file.with_suffix(".away"))
    try:
        answer = rpc.call(tool, **arguments_of(tool))
    finally:
        kept.rename(file)
    assert (answer.outcome, answer.data["why"], answer.failed) == ("not_installed", "not_installed", True)
    assert program in answer.text


# --- what is open


def test_windows_are_listed_and_counted_as_they_are_listed(rpc: Rpc, plant: Planted) -> None:
    plant("windows", "0x1\tterminal\tone\t1\n0x2\teditor\tsesión — ü\t1\n0x3\tbrowser\tthree\t3\n")
    answer = rpc.call("omarchy_desktop_state")
    assert not answer.failed
    assert [row["title"] for row in answer.data["windows"]] == ["one", "sesión — ü", "three"]
    counts = {row["name"]: row["windows"] for row in answer.data["workspaces"]}
    assert (counts["1"], counts["3"]) == (2, 1)
    assert answer.data["count"] == 3
    assert answer.data["focused"] == "0x3"
    assert [row["name"] for row in answer.data["monitors"]] == ["DEMO-1"]
    assert answer.data["locked"] is False


@pytest.mark.parametrize("said", [b"", b"Couldn't connect", b'[{"address": "0x1", "ti'])
def test_an_unreadable_compositor_is_no_empty_desktop(rpc: Rpc, plant: Planted, said: bytes) -> None:
    plant("hyprctl-answers", said)
    answer = rpc.call("omarchy_desktop_state")
    assert answer.failed
    assert answer.data["why"] in {"could_not_look", "no_desktop_session"}
    assert answer.seconds < 5
    shot = rpc.call("omarchy_screenshot")
    assert not shot.failed, "a picture can be taken all the same"


# --- the text on it


def test_the_text_on_the_screen_is_read(rpc: Rpc, plant: Planted) -> None:
    plant("windows", "0x1\tterminal\tMeet at the harbour\t1\n")
    answer = rpc.call("omarchy_screen_text")
    assert (answer.outcome, answer.data["text"].strip()) == ("ok", "Meet at the harbour")
    assert "Meet at the harbour" in answer.text
    plant("windows", "")
    empty = rpc.call("omarchy_screen_text")
    assert (empty.outcome, empty.data["why"], empty.failed) == ("ok", "nothing_there", False)
    assert "no text found" in empty.text


@pytest.mark.parametrize("lang", ["eng+deu", "../../etc", "x" * 500])
def test_a_language_that_is_not_there_is_refused_before_anything_is_read(rpc: Rpc, plant: Planted, lang: str) -> None:
    plant("tesseract-fails", "1\nit was run")
    answer = rpc.call("omarchy_screen_text", lang=lang)
    assert (answer.outcome, answer.failed) == ("not_installed", True)
    assert "it was run" not in answer.text
    if "deu" in lang:
        assert "tesseract-data-deu" in answer.text
        assert "installed: eng" in answer.text


# --- the clipboard


def test_what_is_copied_is_read_and_outlives_the_server(product: Product, rpc: Rpc) -> None:
    words = "grüße \U0001f980\nsecond line\ttab $HOME `x`"
    wrote = rpc.call("omarchy_clipboard_write", text=words)
    assert (wrote.outcome, wrote.data["bytes"]) == ("ok", len(words.encode()))
    assert wrote.seconds < 2, "whoever holds the clipboard is not waited for"
    assert rpc.call("omarchy_clipboard_read").data["text"] == words
    product.restart()
    again = product.rpc()
    assert again.call("omarchy_clipboard_read").data["text"] == words
    assert again.call("omarchy_clipboard_write", text="").outcome == "ok"
    empty = again.call("omarchy_clipboard_read")
    assert (empty.outcome, empty.data["why"], empty.failed) == ("ok", "nothing_there", False)


def test_a_long_text_is_copied_whole_and_read_bounded(product: Product, rpc: Rpc) -> None:
    words = "0123456789" * 60_000
    assert rpc.call("omarchy_clipboard_write", text=words).data["bytes"] == len(words)
    assert (product.desktop.state / "clipboard").read_text(encoding="utf-8") == words
    answer = rpc.call("omarchy_clipboard_read")
    assert answer.data["truncated"]
    assert len(answer.data["text"]) <= 70_000


def test_what_a_password_manager_copied_is_withheld(rpc: Rpc, plant: Planted) -> None:
    plant("clipboard", "hunter2")
    plant("clipboard-types", "text/plain\nx-kde-passwordManagerHint")
    for mime in ("", "text/plain", "x-kde-passwordManagerHint"):
        answer = rpc.call("omarchy_clipboard_read", mime=mime)
        assert (answer.outcome, answer.data["why"], answer.failed) == ("refused", "withheld", True)
        assert "hunter2" not in str(answer)


def test_a_picture_is_read_by_its_type_and_nothing_else_is(product: Product, rpc: Rpc, plant: Planted) -> None:
    plant("clipboard", noise(300, 200))
    plant("clipboard-types", "image/png\napplication/x-secret")
    assert rpc.call("omarchy_clipboard_read").data["why"] == "could_not_look"
    assert "image/png" in rpc.call("omarchy_clipboard_read").text
    answer = rpc.call("omarchy_clipboard_read", mime="image/png")
    assert (answer.outcome, answer.data["width"], answer.data["height"]) == ("ok", 300, 200)
    for mime in ("application/x-secret", "--help", "a/b"):
        assert rpc.call("omarchy_clipboard_read", mime=mime).failed


def test_programs_that_hang_hold_up_nothing_else(product: Product, rpc: Rpc, plant: Planted) -> None:
    plant("wl-paste-hangs")
    with ThreadPoolExecutor(24) as callers:
        stuck = [callers.submit(rpc.call, "omarchy_clipboard_read", seconds=20) for _ in range(20)]
        assert wire.request(product.port, "GET", "/health").status == 200
        assert rpc.call("omarchy_desktop_state").outcome == "ok"
        answers = [each.result() for each in stuck]
    assert {answer.data["why"] for answer in answers} <= {"timed_out", "busy"}
    assert max(answer.seconds for answer in answers) < 8
    plant.back()

    def left() -> str:
        return product.world.systemctl("list-units", "--plain", "--no-legend", "app-omarchymcp-probe_wl_paste-*")

    wait_until(lambda: not left(), "no process is left", 10)


def test_a_copy_that_hangs_is_ended_and_said(product: Product, rpc: Rpc, plant: Planted) -> None:
    plant("wl-copy-hangs")
    answer = rpc.call("omarchy_clipboard_write", text="x")
    assert (answer.outcome, answer.data["why"], answer.failed) == ("timed_out", "timed_out", True)
    assert answer.seconds < 5


def test_a_clipboard_without_end_is_ended_and_said(rpc: Rpc, plant: Planted) -> None:
    plant("wl-paste-answers", b"x" * 3_000_000)
    answer = rpc.call("omarchy_clipboard_read")
    assert (answer.data["why"], answer.failed) == ("could_not_look", True)
    assert len(answer.text) < 500


# --- how the machine is


def test_the_status_is_what_the_commands_say(rpc: Rpc, plant: Planted) -> None:
    answer = rpc.call("omarchy_system_status")
    assert not answer.failed
    assert answer.data["theme"] == rpc.call("omarchy_theme").data["stdout"].strip()
    assert answer.data["battery"].startswith("Battery")
    assert "network" in answer.data["unknown"], "the demo has no such command"
    assert answer.data["locked"] is False


# --- who decides


def test_what_the_person_denies_is_not_seen(rpc: Rpc, rules: Callable[[str], None]) -> None:
    rules('deny = ["screen", "clipboard", "windows", "omarchy battery status"]\n')
    wait_until(lambda: rpc.call("omarchy_desktop_state").outcome == "refused", "the file is in force")
    for tool in (*SEES, "omarchy_desktop_state"):
        answer = rpc.call(tool)
        assert (answer.outcome, answer.failed) == ("refused", True), tool
        assert "denies" in answer.data["reason"]
    assert rpc.call("omarchy_clipboard_write", text="x").outcome == "refused"
    status = rpc.call("omarchy_system_status")
    assert "battery" in status.data["unknown"], "a command that is denied is not run for the status either"


def test_what_is_asked_about_is_seen_only_after_a_yes(product: Product, rpc: Rpc, rules: Callable[[str], None]) -> None:
    product.wake()
    product.world.systemctl("restart", CONTROL)  # what was asked in other tests is forgotten
    rules('ask_before = ["screen", "clipboard write"]\nask_timeout_s = 30\ndeny = ["windows"]\n')
    wait_until(lambda: rpc.call("omarchy_desktop_state").outcome == "refused", "the file is in force")
    with screen(product), ThreadPoolExecutor(1) as callers:

        def asking(answer: str, tool: str, **arguments: Any) -> Answer:
            call = callers.submit(rpc.call, tool, seconds=60, **arguments)
            (row,) = wait_until(lambda: product.control.call("Questions"), "somebody is asked", 15)
            assert "not this" not in str(row)
            options = {"digest": text(row["digest"])} if answer == "Approve" else {}
            assert product.control.raw(answer, "sa{sv}", (row["id"], options))[0] == ""
            return call.result()

        seen = asking("Approve", "omarchy_screenshot")
        assert (seen.outcome, seen.failed) == ("ok", False), seen
        copied = asking("Deny", "omarchy_clipboard_write", text="not this")
        assert (copied.outcome, copied.failed) == ("refused", True)


def test_a_look_is_on_record_and_what_was_seen_is_not(audit: Product, plant: Planted) -> None:
    rpc, since = audit.rpc(), journal.moment()
    plant("windows", "0x1\tterminal\tvery-private-title\t1\n")
    rpc.call("omarchy_clipboard_write", text="very-private-text")
    rpc.call("omarchy_clipboard_read")
    rpc.call("omarchy_screen_text")
    rpc.call("omarchy_desktop_state")
    rpc.call("omarchy_screenshot", target="region", region="0,0 40x40")

    def written() -> bool:
        return len(audit.records(since=since)) >= 5

    wait_until(written, "all are on record")
    records = audit.records(since=since)
    assert {entry["OMARCHY_MCP_ROUTE"] for entry in records} >= {"screen", "windows", "clipboard read"}
    assert "very-private" not in str(records)
    assert "very-private" not in audit.words(since)


def test_stopping_what_agents_started_lets_go_of_the_clipboard_too(product: Product, rpc: Rpc) -> None:
    assert rpc.call("omarchy_clipboard_write", text="x").outcome == "ok"
    product.world.systemctl("stop", SLICE)
    assert not product.world.systemctl("list-units", "--plain", "--no-legend", "app-omarchymcp-*.service")
