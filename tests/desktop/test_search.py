import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.desktop.search import search
from omarchy_mcp.desktop.synonyms import SYNONYMS
from policy.samples import record, registry

KNOWN = registry(
    record("omarchy audio output volume", summary="Change the volume", args="<raise|lower|+N|-N>"),
    record("omarchy audio output mute", summary="Mute the speakers"),
    record("omarchy theme set", summary="Set the theme", args="<theme-name>"),
    record("omarchy theme bg next", summary="Show the next background image"),
    record("omarchy notification send", summary="Send a notification"),
    record("omarchy toggle notification silencing", summary="Hush"),
    record("omarchy capture screenshot", summary="Take a screenshot"),
    record(
        "omarchy capture screenrecording",
        summary="Start recording the screen",
        aliases=["omarchy screenrecord"],
    ),
    record("omarchy toggle nightlight", summary="Warm colours"),
    record("omarchy system reboot", summary="Reboot the computer"),
    record("omarchy theme secret", hidden=True),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("volume up", "omarchy audio output volume"),
        ("up volume", "omarchy audio output volume"),
        ("wallpaper", "omarchy theme bg next"),
        ("dark mode", "omarchy theme set"),
        ("screenshoot", "omarchy capture screenshot"),
        ("brigtness", ""),
        ("do not disturb", "omarchy toggle notification silencing"),
        ("screen recording", "omarchy capture screenrecording"),
        ("night light", "omarchy toggle nightlight"),
        ("OMARCHY theme SET", "omarchy theme set"),
        ("wallpapr", "omarchy theme bg next"),
        ("restart", "omarchy system reboot"),
        ("soemthing unheard", ""),
        ("xyz", ""),
        ("taskbar", ""),
        ("sleep timer", ""),
        ("the", "omarchy theme set"),
        ("themes", "omarchy theme set"),
        ("themeing", "omarchy theme set"),
    ],
)
def test_a_query_in_a_persons_words_finds_the_command(query: str, first: str) -> None:
    assert next((c.route for c in search(KNOWN, query)), "") == first


def test_hidden_commands_appear_only_on_request() -> None:
    assert "omarchy theme secret" not in {c.route for c in search(KNOWN, "secret")}
    assert search(KNOWN, "secret", hidden=True)[0].route == "omarchy theme secret"


def test_the_limit_holds_and_an_empty_query_lists_by_route() -> None:
    assert [c.route for c in search(KNOWN, "", limit=2)] == [
        "omarchy audio output mute",
        "omarchy audio output volume",
    ]
    assert len(search(KNOWN, "theme", limit=-5)) == 1
    assert len(search(KNOWN, "", limit=10_000)) == 10


def test_an_empty_registry_answers_nothing() -> None:
    assert search(registry(record("omarchy only hidden", hidden=True)), "only") == ()


def test_every_synonym_says_why() -> None:
    assert all(words for words in SYNONYMS.values())


@given(st.text(), st.integers())
def test_no_query_raises(query: str, limit: int) -> None:
    assert len(search(KNOWN, query, limit=limit)) <= 100
