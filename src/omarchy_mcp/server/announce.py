"""What the person is told when the rules agents run under have changed, in either direction. Pure module.

announce(before, after) -> Announcement | None      None: nothing that matters to anyone has changed
faulty(problem, config, rejected) -> Announcement   what is wrong with config.toml, and what holds instead
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.legible import shown

MOST_NAMES = 6
"""Names in one line; a notification is a few lines."""

MOST_LETTERS = 60
"""Letters of one name; the person wrote it, but nobody reads more."""


MOST_FAULT = 200
"""Letters of what is wrong; the status has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """A notification's text: plain, to be escaped by whoever shows it."""

    summary: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """One line, and whether agents may do more by it; None when neither."""

    line: str
    wider: bool | None


def faulty(problem: str, config: Config, *, rejected: bool) -> Announcement:
    """Say what is wrong with config.toml; `config` is what holds, `rejected` whether nothing in the file does."""
    instead = "the rest of it holds"
    if rejected:
        instead = "it is not used: only safe commands run" if config.restrictive else "it is not used: nothing changes"
    return Announcement(summary="config.toml is not in order", lines=(shown(problem, MOST_FAULT), instead))


def announce(before: Config, after: Config) -> Announcement | None:
    """Tell two configurations apart as far as they decide what agents may do."""
    changes = list(_changes(before, after))
    if not changes:
        return None
    directions = {change.wider for change in changes if change.wider is not None}
    match directions:
        case _ if directions == {True}:
            summary = "Agents may do more"
        case _ if directions == {False}:
            summary = "Agents may do less"
        case _:
            summary = "The rules for agents have changed"
    return Announcement(summary=summary, lines=tuple(change.line for change in changes))


def _changes(before: Config, after: Config) -> Iterator[_Change]:
    if before.restrictive and not after.restrictive:
        yield _Change(line="config.toml can be read again, and its rules hold", wider=True)
    if after.restrictive and not before.restrictive:
        yield _Change(line="only safe commands run: config.toml could not be read", wider=False)
    yield from _moved(before.deny, after.deny, "denied", "no longer denied", adding_widens=False)
    yield from _moved(before.allow, after.allow, "allowed", "no longer allowed", adding_widens=True)
    yield from _moved(
        before.allow_groups, after.allow_groups, "allowed groups", "groups no longer allowed", adding_widens=True
    )
    yield from _moved(
        before.disabled_tools, after.disabled_tools, "tools hidden", "tools offered again", adding_widens=False
    )
    yield from _moved(before.ask_before, after.ask_before, "asked about", "no longer asked about", adding_widens=False)
    yield from _moved(
        before.may_answer, after.may_answer, "clients that may answer", "clients that may no longer answer",
        adding_widens=True,
    )  # fmt: skip
    if before.ask != after.ask:
        line = "guarded commands are asked about" if after.ask else "guarded commands are refused without asking"
        yield _Change(line=line, wider=after.ask)
    if before.ask_timeout_s != after.ask_timeout_s and after.ask:
        yield _Change(line=f"a question waits for {after.ask_timeout_s} s", wider=None)


def _moved(before: Set[str], after: Set[str], added: str, taken: str, *, adding_widens: bool) -> Iterator[_Change]:
    if after - before:
        yield _Change(line=f"{added}: {_names(after - before)}", wider=adding_widens)
    if before - after:
        yield _Change(line=f"{taken}: {_names(before - after)}", wider=not adding_widens)


def _names(names: Set[str]) -> str:
    shown = [_shown(name) for name in sorted(names)[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        shown.append(f"and {len(names) - MOST_NAMES} more")
    return ", ".join(shown)


def _shown(name: str) -> str:
    readable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return readable if len(readable) <= MOST_LETTERS else f"{readable[: MOST_LETTERS - 1]}…"
