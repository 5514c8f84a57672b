"""The mark of a pause."""

from pathlib import Path

from omarchy_mcp.session.pause import Pause


def test_a_pause_is_seen_by_others_until_it_ends(tmp_path: Path) -> None:
    ours, theirs = Pause(tmp_path / "folder"), Pause(tmp_path / "folder")
    seen = [theirs.active]
    for act in (ours.begin, ours.begin, ours.end, ours.end):
        act()
        seen.append(theirs.active)
    assert seen == [False, True, True, False, False]


def test_a_pause_that_cannot_be_looked_for_holds(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert Pause(tmp_path / "loop").active
