import json

from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.session.records import (
    ARGUMENT_CUT,
    ARGUMENTS_CUT,
    MESSAGE_IDS,
    UNPRINTABLE,
    Event,
    arguments,
    clean,
    entry,
    read,
)


def test_every_event_has_an_id_of_its_own() -> None:
    assert set(MESSAGE_IDS) == set(Event)
    assert len(set(MESSAGE_IDS.values())) == len(Event)
    assert all(len(each) == 32 and int(each, 16) for each in MESSAGE_IDS.values())


@given(st.text())
def test_cleaned_text_is_one_visible_line(text: str) -> None:
    assert not UNPRINTABLE.search(clean(text))
    assert "\n" not in clean(text)
    clean(text).encode()


@given(st.lists(st.text(), max_size=50))
def test_arguments_are_cut_and_said_so_and_the_digest_is_over_the_whole(args: list[str]) -> None:
    fields = arguments(args)
    shown = json.loads(fields["args"])
    assert len(shown) <= ARGUMENTS_CUT + 1
    if len(args) > ARGUMENTS_CUT:
        assert str(len(args) - ARGUMENTS_CUT) in shown[-1]
    for arg, one in zip(args[:ARGUMENTS_CUT], shown, strict=False):
        assert len(one) < ARGUMENT_CUT + 40
        if len(arg) <= ARGUMENT_CUT and arg.isprintable():
            assert one == arg
    assert fields["args_sha256"] != arguments([*args, ""])["args_sha256"]


@given(st.text(), st.lists(st.text(), max_size=5))
def test_nothing_a_caller_sends_makes_a_second_field(text: str, args: list[str]) -> None:
    lines = entry(Event.CALL, text, {"route": text, "none": None, **arguments(args)})
    names = [line.partition("=")[0] for line in lines]
    assert names == [
        "MESSAGE",
        "MESSAGE_ID",
        "PRIORITY",
        "SYSLOG_IDENTIFIER",
        "OMARCHY_MCP_EVENT",
        "OMARCHY_MCP_ROUTE",
        "OMARCHY_MCP_ARGS",
        "OMARCHY_MCP_ARGS_SHA256",
    ]
    assert not any("\n" in line or "\0" in line for line in lines)


def test_a_record_is_shown_without_arguments_and_with_numbers_as_numbers() -> None:
    record = read(
        {
            "MESSAGE": "m",
            "OMARCHY_MCP_EVENT": "call",
            "OMARCHY_MCP_ARGS": '["secret"]',
            "OMARCHY_MCP_ARGS_SHA256": "0",
            "OMARCHY_MCP_SEQ": "7",
            "OMARCHY_MCP_TOOL": b"\xff",
            "_SYSTEMD_USER_UNIT": "omarchy-mcp.service",
            "OTHER": "x",
        },
        5,
    )
    assert record.shown() == {
        "usec": 5, "event": "call", "message": "m", "seq": 7, "tool": "�", "unit": "omarchy-mcp.service",
    }  # fmt: skip
    assert read({"MESSAGE": b"\xff"}, 0).message == "b'\\xff'"
