"""The file of what was acknowledged: what was written is read back, and what was lost never passes for a first run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.review import Book, New, Seen
from omarchy_mcp.session import review
from omarchy_mcp.session.review import LostError

WAS = Seen(route="omarchy install app", tier=Tier.SAFE, capabilities=("writes",), names=("install app",), digest="one")
NOW = Seen(
    route="omarchy install app", tier=Tier.GUARDED, capabilities=("exec", "writes"), names=("install app",), digest="2"
)
HELD = Book(known={WAS.route: WAS}, held=(New(now=NOW, was=WAS, since_usec=7),))


def test_a_folder_without_a_book_is_a_first_run(tmp_path: Path) -> None:
    assert review.read(tmp_path) is None
    assert review.read(tmp_path / "not there") is None


def test_what_was_written_is_read_back_and_is_the_owners_alone(tmp_path: Path) -> None:
    review.write(tmp_path, HELD)
    assert review.read(tmp_path) == HELD
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def empty(file: Path) -> None:
    file.write_bytes(b"")


def rewrite(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def act(file: Path) -> None:
        whole = json.loads(file.read_bytes())
        change(whole)
        file.write_text(json.dumps(whole), encoding="utf-8")

    return act


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        empty,
        lambda file: file.write_bytes(file.read_bytes()[:-3]),
        lambda file: file.write_bytes(b"[" * 100_000),
        lambda file: file.write_bytes(b"\xff"),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: (file.unlink(), file.symlink_to("nowhere")),
        rewrite(lambda whole: whole.update(version=2)),
        rewrite(lambda whole: whole.pop("held")),
        rewrite(lambda whole: whole.update(lost="no")),
        rewrite(lambda whole: whole.update(known=[["omarchy x"]])),
        rewrite(lambda whole: whole.update(known=[["omarchy x", "harmless", [], [], ""]])),
        rewrite(lambda whole: whole.update(known=[["omarchy x", "safe", [1], [], ""]])),
        rewrite(lambda whole: whole.update(held=[[["omarchy x", "safe", [], [], ""], None, "now"]])),
        rewrite(lambda whole: whole.update(held=[[["omarchy x", "safe", [], [], ""], None, -1]])),
        rewrite(lambda whole: whole.update(held={"omarchy x": 1})),
    ],
)
def test_a_book_that_was_there_and_cannot_be_read_is_lost(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    review.write(tmp_path, HELD)
    spoil(tmp_path / review.FILE)
    with pytest.raises(LostError, match=r"review\.json"):
        review.read(tmp_path)


def test_the_words_say_what_is_new_and_the_worst_of_it() -> None:
    assert review.news(HELD) == {NOW.route: "it was safe before (it can be made to run its arguments as code)"}
    assert review.more(HELD.held[0]) == ("exec",)
    lost = Book(held=(New(now=NOW, was=None, since_usec=7),), lost=True)
    assert review.news(lost)[NOW.route].startswith("what it could do before is not known any more (")
    unheard_of = Seen(route=NOW.route, tier=Tier.GUARDED, capabilities=("teleport",), names=(), digest="")
    assert review.news(Book(held=(New(now=unheard_of, was=None, since_usec=7),))) == {NOW.route: "it is new"}


def test_a_digest_is_over_every_word_of_what_is_held_and_not_over_when() -> None:
    def digest(*held: New) -> str:
        return review.digest_of(Book(held=held))

    new = HELD.held[0]
    others = [
        digest(),
        digest(New(now=NOW, was=None, since_usec=7)),
        digest(New(now=WAS, was=NOW, since_usec=7)),
        digest(new, New(now=WAS, was=None, since_usec=7)),
        *(
            digest(New(now=Seen(**(fields | change)), was=WAS, since_usec=7))
            for fields in [{name: getattr(NOW, name) for name in ("route", "tier", "capabilities", "names", "digest")}]
            for change in ({"route": "omarchy x"}, {"capabilities": ("exec",)}, {"names": ("x",)}, {"digest": "3"})
        ),
    ]
    assert len({digest(new), *others}) == len(others) + 1
    assert digest(New(now=NOW, was=WAS, since_usec=8)) == digest(new)


@pytest.mark.parametrize("rows", [[["omarchy x"]], [[1, "safe", [], [], ""]], [["omarchy x", "odd", [], [], ""]], [1]])
def test_rows_that_are_none_are_refused(rows: list[object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        review.seen_of(rows)


def test_more_commands_than_there_can_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "MAX_COMMANDS", 1)
    with pytest.raises(ValueError, match="more than 1"):
        review.seen_of([review.row_of(WAS), review.row_of(NOW)])


TEXTS = st.text(max_size=20)
SEEN = st.builds(
    Seen,
    route=TEXTS,
    tier=st.sampled_from(list(Tier)),
    capabilities=st.lists(TEXTS, max_size=3).map(tuple),
    names=st.lists(TEXTS, max_size=3).map(tuple),
    digest=TEXTS,
)
BOOKS = st.builds(
    Book,
    known=st.lists(SEEN, max_size=3).map(lambda seen: {each.route: each for each in seen}),
    held=st.lists(st.builds(New, now=SEEN, was=st.none() | SEEN, since_usec=st.integers(0, 2**63)), max_size=3).map(
        tuple
    ),
    lost=st.booleans(),
)


@given(BOOKS)
def test_a_book_survives_its_text(book: Book) -> None:
    assert review.parse(review.dump(book)) == book


@given(st.lists(SEEN, max_size=3))
def test_rows_survive_the_bus(seen: list[Seen]) -> None:
    assert list(review.seen_of([review.row_of(each) for each in seen])) == seen
