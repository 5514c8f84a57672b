"""A file is watched wherever its path leads: each way in which another text can come under its name is told."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omarchy_mcp.session import watching
from omarchy_mcp.session.watching import Watch, way

HEARD_S = 3.0
QUIET_S = 0.4


class Place:
    """A file in folders of its own, reached through links where the test wants them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "config" / "omarchy" / "mcp"
        self.folder.mkdir(parents=True)
        self.path = self.folder / "config.toml"
        self.dotfiles = root / "dotfiles" / "mcp"
        self.dotfiles.mkdir(parents=True)
        self.target = self.dotfiles / "config.toml"

    def plain(self) -> None:
        self.path.write_text("one", encoding="utf-8")

    def linked(self) -> None:
        self.target.write_text("one", encoding="utf-8")
        self.path.symlink_to(self.target)

    def linked_twice(self) -> None:
        self.target.write_text("one", encoding="utf-8")
        (self.root / "between").symlink_to("dotfiles/mcp")
        self.path.symlink_to("../../../between/config.toml")

    def folder_linked(self) -> None:
        self.target.write_text("one", encoding="utf-8")
        self.folder.rmdir()
        self.folder.symlink_to(self.dotfiles)

    def absent(self) -> None:
        shutil.rmtree(self.root / "config")

    # --- what is done to it

    def edit(self) -> None:
        with self.path.open("r+", encoding="utf-8") as file:
            file.write("two")

    def edit_target(self) -> None:
        self.target.write_text("two", encoding="utf-8")

    def edit_another_name(self) -> None:
        (self.root / "other").write_text("two", encoding="utf-8")

    def give_another_name(self) -> None:
        self.plain()
        os.link(self.path, self.root / "other")

    def replace(self) -> None:
        self._swap(self.path)

    def replace_target(self) -> None:
        self._swap(self.target)

    def _swap(self, path: Path) -> None:
        new = self.root / "new"
        new.write_text("two", encoding="utf-8")
        new.replace(path)

    def older(self) -> None:
        new = self.root / "new"
        new.write_text("two", encoding="utf-8")
        os.utime(new, (1, 1))
        shutil.copy2(new, self.path)

    def link_elsewhere(self) -> None:
        self._relink(self.path, "config.toml")

    def link_folder_elsewhere(self) -> None:
        self._relink(self.folder, "")

    def link_between_elsewhere(self) -> None:
        self._relink(self.root / "between", "")

    def _relink(self, link: Path, rest: str) -> None:
        other = self.root / "other-dotfiles"
        other.mkdir()
        (other / "config.toml").write_text("two", encoding="utf-8")
        (self.root / "link").symlink_to(other / rest)
        (self.root / "link").replace(link)  # as ln -sfn

    def swap_folder(self) -> None:
        other = self.root / "config" / "other"
        other.mkdir()
        (other / "config.toml").write_text("two", encoding="utf-8")
        self.folder.rename(self.root / "config" / "old")
        other.rename(self.folder)

    def delete(self) -> None:
        self.path.unlink()

    def forbid(self) -> None:
        self.path.chmod(0)

    def appear(self) -> None:
        self.folder.mkdir(parents=True)
        self.plain()


ROWS: list[tuple[Callable[[Place], None], Callable[[Place], None]]] = [
    (Place.plain, Place.edit),
    (Place.plain, Place.replace),
    (Place.plain, Place.older),
    (Place.plain, Place.delete),
    (Place.plain, Place.forbid),
    (Place.plain, Place.swap_folder),
    (Place.give_another_name, Place.edit_another_name),
    (Place.linked, Place.edit_target),
    (Place.linked, Place.replace_target),
    (Place.linked, Place.link_elsewhere),
    (Place.linked_twice, Place.edit_target),
    (Place.linked_twice, Place.replace_target),
    (Place.linked_twice, Place.link_between_elsewhere),
    (Place.folder_linked, Place.edit_target),
    (Place.folder_linked, Place.replace_target),
    (Place.folder_linked, Place.link_folder_elsewhere),
    (Place.absent, Place.appear),
]


async def heard(watch: Watch, act: Callable[[], object], seconds: float) -> bool:
    """Whether something is told within a time of doing it."""
    watch.arm()
    assert watch.problem == ""
    waiting = asyncio.ensure_future(watch.wait(None))
    await asyncio.sleep(0)
    act()
    done, _ = await asyncio.wait([waiting], timeout=seconds)
    waiting.cancel()
    watch.close()
    return bool(done)


@pytest.mark.parametrize(("begin", "act"), ROWS, ids=lambda each: each.__name__)
def test_every_change_is_told(tmp_path: Path, begin: Callable[[Place], None], act: Callable[[Place], None]) -> None:
    place = Place(tmp_path)
    begin(place)
    assert asyncio.run(heard(Watch(place.path), lambda: act(place), HEARD_S))


def test_what_others_do_beside_the_file_is_not_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.linked()

    def act() -> None:
        (tmp_path / "something").write_text("else", encoding="utf-8")
        (place.folder / "config.toml.swp").write_text("else", encoding="utf-8")
        place.target.read_text(encoding="utf-8")

    assert not asyncio.run(heard(Watch(place.path), act, QUIET_S))


def test_a_burst_is_told_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.plain()
    watch = Watch(place.path)

    def burst() -> None:
        for _ in range(20):
            place.replace()

    async def twice() -> tuple[bool, bool]:
        return await heard(watch, burst, HEARD_S), await heard(watch, lambda: None, QUIET_S)

    assert asyncio.run(twice()) == (True, False)


def test_links_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert way(tmp_path / "a").linking == {tmp_path}


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC, errno.ENOSYS])
def test_without_inotify_the_reason_is_said_and_a_wait_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(watching, "INotify", refuse)
    watch = Watch(tmp_path / "config.toml")

    async def wait() -> None:
        watch.arm()
        assert watch.problem
        await asyncio.wait_for(watch.wait(0.01), HEARD_S)
        monkeypatch.undo()
        watch.arm()
        assert watch.problem == ""
        watch.close()

    asyncio.run(wait())


class Commands:
    """A folder of programs, reached through a link."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.real = root / "v1"
        (self.real / "bin").mkdir(parents=True)
        (self.real / "bin" / "one").write_text("1", encoding="utf-8")
        self.link = root / "omarchy"
        self.link.symlink_to(self.real)
        self.path = self.link / "bin"

    def add(self) -> None:
        (self.real / "bin" / "two").write_text("2", encoding="utf-8")

    def edit(self) -> None:
        (self.real / "bin" / "one").write_text("2", encoding="utf-8")

    def replace(self) -> None:
        (self.root / "new").write_text("2", encoding="utf-8")
        (self.root / "new").replace(self.path / "one")

    def remove(self) -> None:
        (self.path / "one").unlink()

    def forbid(self) -> None:
        (self.path / "one").chmod(0)

    def swap(self) -> None:
        (self.root / "v2" / "bin").mkdir(parents=True)
        (self.root / "link").symlink_to(self.root / "v2")
        (self.root / "link").replace(self.link)

    def gone(self) -> None:
        shutil.rmtree(self.real)


@pytest.mark.parametrize(
    "act",
    [Commands.add, Commands.edit, Commands.replace, Commands.remove, Commands.forbid, Commands.swap, Commands.gone],
    ids=lambda each: each.__name__,
)
def test_every_change_in_a_folder_is_told(tmp_path: Path, act: Callable[[Commands], None]) -> None:
    commands = Commands(tmp_path)
    assert asyncio.run(heard(Watch(commands.path, folder=True), lambda: act(commands), HEARD_S))


def test_a_folder_that_comes_back_is_told(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    commands.gone()
    watch = Watch(commands.path, folder=True)
    assert asyncio.run(heard(watch, lambda: (commands.real / "bin").mkdir(parents=True), HEARD_S))


def test_what_is_read_in_a_folder_or_done_beside_it_is_not_told(tmp_path: Path) -> None:
    commands = Commands(tmp_path)

    def act() -> None:
        (commands.path / "one").read_text(encoding="utf-8")
        (commands.real / "other").write_text("x", encoding="utf-8")

    assert not asyncio.run(heard(Watch(commands.path, folder=True), act, QUIET_S))


def test_a_wait_can_be_ended_from_outside_and_lasts_until_nothing_more_happens(tmp_path: Path) -> None:
    commands = Commands(tmp_path)

    def patient() -> Watch:
        return Watch(commands.path, folder=True, settle_s=2 * QUIET_S, most_s=HEARD_S)

    watch = patient()
    assert asyncio.run(heard(watch, watch.wake, HEARD_S))
    assert not asyncio.run(heard(patient(), commands.add, QUIET_S))
