"""What the perceiving tools give back: what was seen, or why nothing was."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import asdict

from mcp.types import CallToolResult, ImageContent

from omarchy_mcp.desktop import hyprland
from omarchy_mcp.desktop.capture import Shot
from omarchy_mcp.desktop.hyprland import Rows
from omarchy_mcp.server import answers
from omarchy_mcp.server.eyes import OUTCOMES, UnseenError, Why
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.session.records import Outcome

MOST_WINDOWS = 300
"""Windows that are listed; all are counted."""


def unseen(call: CallRecord, error: UnseenError) -> CallToolResult:
    """The answer where nothing was seen; that there is nothing is no error."""
    outcome = OUTCOMES[error.why]
    call.outcome, call.reason = outcome, str(error.why)
    content = {"outcome": str(outcome), "why": str(error.why), "reason": str(error)}
    return answers.result(content, f"{error.why}: {error}", error=outcome is not Outcome.OK)


def flat_words(flat: str) -> str:
    """What a picture of one colour means."""
    return f"the picture is entirely {flat}: the screen may be locked, off, or not permitted to be seen"


async def picture_answer(data: bytes, longest: int, shot: Shot, note: str) -> CallToolResult:
    """A picture with what it shows and at what scale."""
    from omarchy_mcp.desktop import pictures  # noqa: PLC0415 - costs a start-up what few calls need

    try:
        picture = await asyncio.to_thread(pictures.fit, data, longest)
    except pictures.BadPictureError as error:
        raise UnseenError(Why.COULD_NOT_LOOK, f"the picture that was taken cannot be read: {error}") from error
    width, height = picture.original
    if shot.area is not None:  # the program may have made it smaller already
        width = max(width, round(shot.area.width * shot.scale))
        height = max(height, round(shot.area.height * shot.scale))
    scale = round(picture.width / width, 4)
    content = {
        "outcome": "ok", "width": picture.width, "height": picture.height, "original_width": width,
        "original_height": height, "scale": scale, "mime": picture.mime, "target": shot.what,
        "flat": picture.flat, "off": shot.off or None, "note": note,
    }  # fmt: skip
    lines = [f"{shot.what}: {picture.width}x{picture.height}, scale {scale} of the original {width}x{height} pixels"]
    if shot.area is not None:
        content |= {"x": shot.area.x, "y": shot.area.y, "layout_scale": shot.scale}
        lines.append(f"its corner is at {shot.area.x},{shot.area.y} of the layout, at {shot.scale:g} pixels a unit")
    if picture.flat:
        lines.append(flat_words(picture.flat) if shot.screen else f"it is entirely {picture.flat}")
    lines += ["what it shows is switched off"] if shot.off else []
    lines += [note] if note else []
    result = answers.result(content, "\n".join(lines), error=False)
    image = ImageContent(type="image", data=base64.b64encode(picture.data).decode("ascii"), mime_type=picture.mime)
    return result.model_copy(update={"content": [*result.content, image]})


def text_answer(data: bytes, *, whole: bool, about: Mapping[str, str]) -> CallToolResult:
    """A text that was read; an empty one is said to be."""
    text = data.decode("utf-8", "replace")
    content = {"outcome": "ok", "text": text, "truncated": not whole, **about}
    if not text.strip():
        content |= {"why": str(Why.NOTHING_THERE), "text": ""}
        return answers.result(content, "no text found", error=False)
    return answers.result(content, text, error=False)


def desktop_answer(listed: Rows, open_now: Rows, focus: str, locked: bool | None) -> CallToolResult:  # noqa: FBT001 - not a switch
    """The desktop as rows; windows are counted as they are listed."""
    monitors, windows = hyprland.monitors(listed.rows), hyprland.windows(open_now.rows)
    names = {each.id: each.name for each in monitors}
    spaces: dict[str, int] = {each.workspace: 0 for each in monitors if each.workspace}
    for window in windows:
        spaces[window.workspace] = spaces.get(window.workspace, 0) + 1
    rows = [
        asdict(each) | {"monitor": names.get(each.monitor, ""), "focused": each.address == focus} for each in windows
    ]
    content = {
        "outcome": "ok", "count": len(windows), "monitors": [asdict(each) for each in monitors],
        "workspaces": [{"name": name, "windows": count} for name, count in spaces.items()],
        "windows": rows[:MOST_WINDOWS], "focused": focus, "locked": locked,
        "unreadable": listed.lost + open_now.lost, "truncated": len(rows) > MOST_WINDOWS,
    }  # fmt: skip
    lines = [f"monitor {each.name} {each.width}x{each.height} at {each.x},{each.y}" for each in monitors]
    lines.append(f"{len(windows)} windows")
    lines += [f"{each['workspace']}: {each['app']} — {each['title']}" for each in rows[:MOST_WINDOWS]]
    lines += ["the screen is locked"] if locked else []
    return answers.result(content, "\n".join(lines), error=False)
