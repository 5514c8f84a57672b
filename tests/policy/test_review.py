"""Which commands are held: those that came guarded, and those that grew, since what was acknowledged."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy import review
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.review import Book, Held, New, Seen, acknowledged, change, compared, first, why

WAS = Seen(
    route="omarchy install app", tier=Tier.GUARDED, capabilities=("packages", "writes"),
    names=("install app", "group install"), digest="one",
)  # fmt: skip
OTHER = replace(WAS, digest="two")


def changed(**changes: Any) -> Seen:
    return replace(OTHER, **changes)


@pytest.mark.parametrize(
    ("now", "was", "said"),
    [
        (WAS, WAS, ""),
        (OTHER, WAS, ""),
        (changed(capabilities=("packages",)), WAS, ""),
        (changed(capabilities=()), WAS, ""),
        (changed(capabilities=("packages", "writes", "window")), WAS, "it can do more than before"),
        (changed(capabilities=("exec",)), WAS, "it can do more than before"),
        (WAS, None, "it is new"),
        (changed(capabilities=()), None, "it is new"),
        (changed(tier=Tier.SAFE, capabilities=("exec",)), None, ""),
        (changed(tier=Tier.BLOCKED, capabilities=("root",)), None, ""),
        (changed(tier=Tier.SAFE), WAS, ""),
        (changed(tier=Tier.BLOCKED, capabilities=("root",)), WAS, ""),
        (OTHER, replace(WAS, tier=Tier.SAFE), "it was safe before"),
        (changed(capabilities=("exec",)), replace(WAS, tier=Tier.SAFE), "it was safe before"),
        (OTHER, replace(WAS, tier=Tier.BLOCKED), "it was blocked before"),
        (WAS, replace(WAS, tier=Tier.BLOCKED), "it was blocked before"),
        (replace(WAS, names=(*WAS.names, "sweep")), WAS, "it goes by a new name or group"),
        (replace(WAS, names=("install app", "group theme")), WAS, "it goes by a new name or group"),
        (replace(WAS, names=("install app",)), WAS, ""),
        # the same scripts: another version of the policy rates them differently
        (WAS, replace(WAS, tier=Tier.SAFE, capabilities=()), ""),
        (WAS, replace(WAS, capabilities=()), ""),
    ],
)
def test_what_is_new_about_a_command(now: Seen, was: Seen | None, said: str) -> None:
    assert change(now, was) == said


def test_a_first_run_holds_nothing() -> None:
    book = first([WAS, changed(route="omarchy theme set", tier=Tier.SAFE)])
    assert book.held == ()
    assert compared(book, book.known.values(), 5) == book


def test_what_is_held_says_how_it_was_and_since_when() -> None:
    grown, added = changed(capabilities=("exec",)), changed(route="omarchy install other")
    book = compared(first([WAS]), [grown, added], 5)
    assert book.held == (New(now=grown, was=WAS, since_usec=5), New(now=added, was=None, since_usec=5))
    assert book.known == {WAS.route: WAS}, "what is held is not known yet"
    assert acknowledged(book) == first([grown, added])
    assert compared(acknowledged(book), [grown, added], 9).held == ()


def test_what_is_held_is_held_since_it_became_what_it_is() -> None:
    book = compared(first([]), [WAS], 5)
    assert compared(book, [WAS], 9) == book
    edited = compared(book, [OTHER], 9).held
    assert edited == (New(now=OTHER, was=None, since_usec=5),), "another script that can do the same"
    again = compared(book, [changed(capabilities=("exec",))], 9).held
    assert again[0].since_usec == 9, "it can do other things now"


def test_a_command_that_goes_back_to_what_was_acknowledged_is_held_no_more() -> None:
    book = compared(first([WAS]), [changed(capabilities=("exec",))], 5)
    assert compared(book, [WAS], 9) == first([WAS])


def test_what_was_acknowledged_stays_so_while_it_is_gone_or_can_do_less() -> None:
    for between in ([], [changed(capabilities=())], [changed(tier=Tier.SAFE)], [changed(tier=Tier.BLOCKED)]):
        book = compared(first([WAS]), between, 5)
        assert book == first([WAS])
        assert compared(book, [OTHER], 9).held == ()


def test_scripts_that_are_the_same_are_known_as_they_are_rated_now() -> None:
    rerated = replace(WAS, capabilities=("exec",))
    book = compared(first([WAS]), [rerated], 5)
    assert book == first([rerated])
    # and so the next change of the scripts is told from what they really could do
    assert compared(book, [replace(rerated, digest="three")], 9).held == ()


def test_with_the_book_lost_everything_guarded_is_held_until_acknowledged() -> None:
    lost = Book(lost=True)
    now = [WAS, changed(route="omarchy theme set", tier=Tier.SAFE), changed(route="omarchy dns", tier=Tier.BLOCKED)]
    book = compared(lost, now, 5)
    assert book.lost
    assert [new.now for new in book.held] == [WAS]
    assert not acknowledged(book).lost
    assert compared(acknowledged(book), now, 9).held == ()
    assert not compared(lost, now[1:], 5).lost, "there is nothing that could be acknowledged"


def test_the_book_stays_bounded_and_what_falls_out_is_new_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "MAX_COMMANDS", 2)
    many = [changed(route=f"omarchy install {number}") for number in range(6)]
    book = compared(first(many), [], 5)
    assert list(book.known) == [seen.route for seen in many[2:]]
    assert [new.now for new in compared(book, many, 9).held] == many[:2]


def test_what_a_route_is_held_for() -> None:
    held = Held(routes={WAS.route: "it is new"})
    assert why(held, WAS.route, Tier.SAFE) == why(held, WAS.route, Tier.GUARDED) == "it is new"
    assert why(held, "omarchy theme set", Tier.GUARDED) == ""
    nobody_knows = Held(guarded="not known")
    assert why(nobody_knows, WAS.route, Tier.GUARDED) == "not known"
    assert why(nobody_knows, WAS.route, Tier.SAFE) == ""


CAPABILITIES = st.lists(st.sampled_from(["exec", "send", "writes", "window"]), unique=True).map(tuple)
COMMANDS = st.lists(
    st.builds(
        Seen,
        route=st.sampled_from(["omarchy a", "omarchy b", "omarchy c"]),
        tier=st.sampled_from(list(Tier)),
        capabilities=CAPABILITIES,
        names=st.lists(st.sampled_from(["a", "b", "group x"]), unique=True).map(tuple),
        digest=st.sampled_from(["one", "two", "three"]),
    ),
    unique_by=lambda seen: seen.route,
)
BOOKS = st.builds(lambda now, lost: Book(lost=True) if lost else first(now), COMMANDS, st.booleans())


@given(BOOKS, COMMANDS)
def test_what_is_not_held_was_there_and_could_do_all_of_it(book: Book, now: list[Seen]) -> None:
    held = {new.now.route for new in compared(book, now, 5).held}
    for seen in now:
        if seen.tier is Tier.GUARDED and seen.route not in held:
            was = book.known[seen.route]
            assert was.tier is not Tier.BLOCKED
            assert set(seen.names) <= set(was.names)
            same = was.digest == seen.digest
            assert same or (was.tier is Tier.GUARDED and set(seen.capabilities) <= set(was.capabilities))
        assert seen.tier is Tier.GUARDED or seen.route not in held


@given(BOOKS, COMMANDS)
def test_looking_again_changes_nothing_and_acknowledging_lets_all_of_it_go(book: Book, now: list[Seen]) -> None:
    once = compared(book, now, 5)
    assert compared(once, now, 9) == once
    assert compared(acknowledged(once), now, 9).held == ()


@given(BOOKS, COMMANDS, COMMANDS)
def test_what_nobody_acknowledged_is_held_again_whatever_was_there_meanwhile(
    book: Book, now: list[Seen], meanwhile: list[Seen]
) -> None:
    def rated(seen: Seen) -> Seen:  # the same scripts are always rated the same
        return replace(seen, digest=f"{seen.tier} {seen.capabilities}")

    now, meanwhile = list(map(rated, now)), list(map(rated, meanwhile))
    book = replace(book, known={route: rated(seen) for route, seen in book.known.items()})
    held = compared(book, now, 5)
    back = compared(compared(held, meanwhile, 7), now, 9)
    assert {new.now for new in back.held} == {new.now for new in held.held}
