import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy import arguments
from omarchy_mcp.policy.arguments import fault, fault_in
from omarchy_mcp.policy.grammar import MAX_DEPTH, parse_grammar

DECLARED = [
    "",
    "<raise|lower|mute-toggle|+N|-N>",
    "use <id> | reset | defaults | position <top|bottom|left|right> | transparent <true|false|toggle>",
    "[--no-osd] [+N%|N%-|N%|off|on]",
    "[--webcam-device=<device>] [--webcam-size=<small|medium|large>] [--stop-recording] [--bare=]",
    "[-i|--icon <icon>] [-p|--progress <0-100>] [-f|--fit]",
    "<packages...>",
    "[menu args...] [-- more args...]",
    "<image-dir>... [...]",
    "[--channel stable|rc|edge] [--user USER] [--add [placement]]",
    "<show [--json]|focus>",
    "--mode <braille|block> <file>",
    "[size|reset]",
    "<path>",
    "<theme-name>",
    "[theme-name|theme-dir|colors.toml]",
    "...",
    "[",
    "]]>|<",
    "[" * (MAX_DEPTH + 2),
]


@pytest.mark.parametrize(
    ("declared", "args"),
    [
        ("", []),
        ("<raise|lower|mute-toggle|+N|-N>", ["raise"]),
        ("<raise|lower|mute-toggle|+N|-N>", ["+5"]),
        ("<raise|lower|mute-toggle|+N|-N>", ["-10"]),
        ("use <id> | reset | position <top|bottom>", ["use", "omarchy.clock"]),
        ("use <id> | reset | position <top|bottom>", ["reset"]),
        ("[--no-osd] [+N%|N%-|N%|off|on]", ["+5%", "--no-osd"]),
        ("[--no-osd] [+N%|N%-|N%|off|on]", ["5%-"]),
        ("[--size=<small|large>]", ["--size=small"]),
        ("[--count=<n>]", ["--count=10"]),
        ("[-i|--icon <icon>] [-p|--progress <0-100>]", ["-i", "sun", "--progress", "50"]),
        ("<packages...>", ["a", "b", "c"]),
        ("prompt [option...] [-- menu args...]", ["Pick", "a", "b", "--", "x"]),
        ("[--channel stable|rc|edge] [--user USER]", ["--channel", "rc", "--user", "me"]),
        ("[--add [placement]]", ["--add"]),
        ("[--add [placement]]", ["--add", "left"]),
        ("[--path path]", ["--path", "/home/me"]),
        ("<show [--json]|focus>", ["show", "--json"]),
        ("<show [--json]|focus>", ["focus"]),
        ("[size|reset]", ["12"]),
        ("[size|reset]", ["reset"]),
        ("[up|down|SCALE]", ["1.25"]),
        ("[width height x y]", ["1", "2", "3", "4"]),
        ("[theme-name|theme-dir|colors.toml]", ["themes/x/colors.toml"]),
        ("<path>", ["/etc/hosts"]),
        ("<path>]", ["/etc/hosts"]),
        ("<image-dir>...", ["/a", "/b"]),
        ("<message>", ["wait... done"]),
        ("[" * (MAX_DEPTH + 2), ["anything"]),
        ("...", ["a", "b"]),
        ("[--bare=]", ["--bare=x"]),
        ("--mode <braille|block> <file>", ["--mode", "block", "x"]),
    ],
)  # fmt: skip
def test_arguments_that_fit_what_is_declared_pass(declared: str, args: list[str]) -> None:
    assert fault_in(args, declared) is None


@pytest.mark.parametrize(
    ("declared", "args", "rule"),
    [
        ("", ["x"], "argument-grammar"),
        ("<path>", [], "argument-grammar"),
        ("<path>", ["a", "b"], "argument-grammar"),
        ("<on|off|toggle>", ["maybe"], "argument-grammar"),
        ("<theme-name>", ["/etc"], "argument-grammar"),
        ("<theme-name>", ["~/x"], "argument-grammar"),
        ("<theme-name>", [""], "argument-grammar"),
        ("<minutes> [message]", ["a[$(id)]"], "argument-grammar"),
        ("[width height x y]", ["os.execute('x') and 1", "2", "3", "4"], "argument-grammar"),
        ("<+N|-N>", ["five"], "argument-grammar"),
        ("[url]", ["--gpu-launcher=sh"], "argument-option"),
        ("<path>", ["+!id"], "argument-option"),
        ("[--size=<small|large>]", ["--size"], "argument-option"),
        ("[--flag]", ["--flag=x"], "argument-option"),
        ("[-i <icon>]", ["-i"], "argument-option"),
        ("[-i <icon>] [-f]", ["-i", "-f"], "argument-option"),
        ("[--size=<small|large>]", ["--size=huge"], "argument-value"),
        ("[--width <columns>]", ["--width", "a[$(id)]"], "argument-value"),
        ("[" * (MAX_DEPTH + 2), ["-x"], "argument-option"),
        ("<path>", ["a\nb"], "argument-control-character"),
        ("<path>", ["a\0b"], "argument-control-character"),
        ("<path>", ["a\x7fb"], "argument-control-character"),
        ("<path>", ["a\x9bb"], "argument-control-character"),
        ("<path>", ["a\u202eb"], "argument-control-character"),
        ("<path>", ["a\ud800b"], "argument-control-character"),
        ("<path>", ["../x"], "argument-parent-folder"),
        ("<path>", ["/a/../b"], "argument-parent-folder"),
        ("<path>", ["file:///a/.."], "argument-parent-folder"),
        ("<path>", ["x" * 70_000], "argument-length"),
        ("<packages...>", ["x" * 60_000] * 5, "argument-length"),
        ("<packages...>", ["x"] * 65, "argument-count"),
    ],
)
def test_arguments_that_break_a_rule_are_named_by_it(declared: str, args: list[str], rule: str) -> None:
    found = fault_in(args, declared)
    assert found is not None
    assert found.rule == rule


def test_the_refusal_says_what_would_fit() -> None:
    found = fault_in(["x"], "<on|off>")
    assert found is not None
    assert found.text.endswith("its arguments are: <on|off>")
    found = fault_in(["x"], "")
    assert found is not None
    assert found.text.endswith("it takes no arguments")


ARGS = st.lists(st.text() | st.sampled_from(["--", "-p", "--progress", "+5", "..", "a/../b", "\n", "-q", "raise", "5"]))


@given(ARGS, st.sampled_from(DECLARED) | st.text(alphabet="[]<>|. -=abN%+\n"))
def test_nothing_raises_and_what_passes_is_clean(args: list[str], declared: str) -> None:
    if fault_in(args, declared) is None:
        assert all(".." not in arg.replace("...", "") or "...." in arg for arg in args)
        assert not any(ord(char) < 32 or ord(char) == 127 for arg in args for char in arg)
        assert sum(len(arg.encode()) for arg in args) <= arguments.MAX_TOTAL


@given(ARGS)
def test_the_rules_for_any_call_are_part_of_the_rules_for_a_route(args: list[str]) -> None:
    if fault(args) is not None:
        assert fault_in(args, "<anything...>") == fault(args)


@given(st.text())
def test_every_args_text_can_be_read(text: str) -> None:
    parse_grammar(text).accepts(["a"], lambda word, said: bool(word) and bool(said))
