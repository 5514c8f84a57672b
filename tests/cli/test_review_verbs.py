"""What is held as a person sees it: whole, and only ever seen."""

from omarchy_mcp.cli.review import command_lines

COMMAND: dict[str, object] = {
    "route": "omarchy install app",
    "tier": "guarded",
    "was": "guarded",
    "news": "it can do more than before (it sends data out)",
    "capabilities": ["send", "packages", "writes"],
    "more": ["send"],
    "since_usec": 1_700_000_000_000_000,
}


def shown(wide: int = 0, **changes: object) -> list[str]:
    return command_lines({**COMMAND, **changes}, wide, colours=False)


def test_a_command_is_shown_with_what_it_can_do_now_and_could_before() -> None:
    lines = shown()
    assert lines[:5] == [
        "omarchy install app",
        "          News: it can do more than before (it sends data out)",
        "           Was: guarded",
        "    Can do now: send",
        " And as before: packages, writes",
    ]
    assert lines[5].startswith("    Held since: ")


def test_a_command_that_was_not_there_is_all_new() -> None:
    lines = shown(was="", more=COMMAND["capabilities"])
    assert "           Was: not there" in lines
    assert "    Can do now: send, packages, writes" in lines
    assert " And as before: nothing" in lines


def test_nothing_in_it_acts_on_the_terminal_or_begins_a_line_of_ours() -> None:
    lines = shown(40, news="x\x1b[2J\nWas: safe" + "y" * 200, route="omarchy \u202eevil")
    text = "\n".join(lines)
    assert not any(char in text for char in "\x1b\u202e")
    assert [line for line in lines if line.lstrip().startswith("Was:")] == ["           Was: guarded"]
    assert text.count("y") >= 200
