"""One call from a client to a command, by way of the policy: what runs, what does not, what comes back."""

import hashlib
import json

import pytest

from system import desktop
from system.client import Era, Rpc
from system.product import Product

# Each would make the canary, or become something else, if anything on the way interpreted it.
HOSTILE = (
    "$(touch {canary})",
    "`touch {canary}`",
    "; touch {canary}",
    "| touch {canary}",
    "&& touch {canary}",
    "> {canary}",
    "$HOME",
    "${{HOME}}",
    "$$",
    "%n",
    "%h",
    "%%",
    "%",
    "a\nb",
    "\ttab",
    "  spaces  ",
    "",
    "*",
    "~",
    "{{a,b}}",
    "'single'",
    '"double"',
    "back\\slash",
    "\\n",
    "-rf",
    "--help",
    "--",
    "@file",
    "!!",
    "#not a comment",
    "\u2029\u202e",
    "gr\u00fc\u00dfe \U0001f980",
    "\x1b[31mred",
    "\x07",
)
NEAR = "omarchy theme probe argw"


@pytest.mark.parametrize("era", list(Era))
def test_a_safe_command_changes_the_desktop_and_says_how_it_ended(product: Product, era: Era) -> None:
    answer = product.rpc(era).do(desktop.SLEEP, "0", "done")
    assert not answer.failed, answer
    assert answer.outcome == "ok"
    assert answer.data["exit"] == 0
    assert answer.data["stdout"] == "begun\nawake\n"
    assert product.desktop.ran("done")


def test_a_theme_set_by_an_agent_is_the_theme_that_is_shown(product: Product, rpc: Rpc) -> None:
    listed = rpc.do("omarchy theme list").data["stdout"].split("\n")
    before = rpc.do("omarchy theme current").data["stdout"].strip()
    other = next(name for name in listed if name and name != before)
    answer = rpc.do("omarchy theme set", other)
    assert (answer.outcome, answer.data["tier"]) == ("ok", "safe")
    assert rpc.do("omarchy theme current").data["stdout"].strip() == other


def test_a_guarded_command_is_refused_with_the_reason_and_both_ways_out(product: Product, rpc: Rpc) -> None:
    answer = rpc.do(desktop.GUARDED)
    assert answer.failed
    assert answer.outcome == "refused"
    assert answer.data["reason"]
    ways = json.dumps(answer.data["ways_out"])
    assert "policy.allow" in ways
    assert "policy.ask" in ways
    assert "policy.allow" in answer.text
    assert "policy.ask" in answer.text
    assert not product.desktop.ran("guarded")


def test_a_command_that_needs_root_is_refused_and_offers_no_way_out(product: Product, rpc: Rpc) -> None:
    answer = rpc.do(desktop.ROOT)
    assert answer.failed
    assert answer.outcome == "refused"
    assert answer.data["reason"]
    assert not answer.data.get("ways_out")
    assert "root" in answer.text
    assert not product.desktop.ran("root")


def test_an_unknown_command_is_refused_with_its_near_misses(rpc: Rpc) -> None:
    answer = rpc.do(NEAR)
    assert answer.failed
    assert answer.outcome == "refused"
    assert desktop.ARGV in answer.data["did_you_mean"]


@pytest.mark.parametrize("route", ["", "omarchy", "ls", "/bin/sh", "omarchy ../../bin/sh", "omarchy\0", "x" * 100_000])
def test_what_is_no_command_runs_nothing(rpc: Rpc, route: str) -> None:
    answer = rpc.do(route)
    assert answer.failed
    assert answer.outcome in {"refused", ""}
    assert len(answer.text) < 4000


def test_words_of_a_command_hidden_in_its_arguments_do_not_make_another_command(product: Product, rpc: Rpc) -> None:
    # the registry's own dispatcher joins words to the longest command there is
    answer = rpc.do("omarchy theme", "probe", "root")
    assert answer.outcome != "ok" or not product.desktop.ran("root")
    assert not product.desktop.ran("root")


def test_arguments_arrive_exactly_as_they_were_sent(product: Product, rpc: Rpc) -> None:
    arguments = [text.format(canary=product.desktop.canary) for text in HOSTILE]
    answer = rpc.do(desktop.ARGV, *arguments)
    if answer.outcome == "ok":
        _assert_arrived(answer.data["stdout"], arguments)
    for argument in arguments:
        single = rpc.do(desktop.ARGV, argument)
        assert single.outcome in {"ok", "refused"}, (argument, single)
        if single.outcome == "ok":
            _assert_arrived(single.data["stdout"], [argument])
        else:
            assert single.data["reason"], argument
    assert not product.desktop.canary.exists()


def test_ordinary_arguments_are_not_refused(rpc: Rpc) -> None:
    arguments = ["$HOME", "%n", "a b", "$(x)", "'", "gr\u00fc\u00dfe \U0001f980", "back\\slash", ""]
    answer = rpc.do(desktop.ARGV, *arguments)
    assert answer.outcome == "ok", answer
    _assert_arrived(answer.data["stdout"], arguments)


@pytest.mark.parametrize("size", [100_000, 131_071, 131_072, 400_000])
def test_an_argument_of_any_size_arrives_whole_or_is_refused(product: Product, rpc: Rpc, size: int) -> None:
    argument = f"$(touch {product.desktop.canary})".ljust(size, "%")
    answer = rpc.do(desktop.ARGV, argument)
    if answer.outcome == "ok":
        _assert_arrived(answer.data["stdout"], [argument])
    else:
        assert answer.failed
        assert answer.outcome == "refused", answer
    assert not product.desktop.canary.exists()


def test_very_many_arguments_arrive_whole_or_are_refused(rpc: Rpc) -> None:
    arguments = [str(number) for number in range(5_000)]
    answer = rpc.do(desktop.ARGV, *arguments)
    assert answer.outcome in {"ok", "refused"}
    assert answer.seconds < 5


@pytest.mark.parametrize("argument", ["a\0b", "\ud800", "\u200e\ufffe"])
def test_characters_no_command_can_be_given_are_refused_and_shown_as_escapes(rpc: Rpc, argument: str) -> None:
    reply = rpc.post(
        "tools/call",
        {"name": "omarchy_run", "arguments": {"route": desktop.ARGV, "args": [argument]}},
        name="omarchy_run",
    )
    assert reply.status in {200, 400}, reply
    assert b"Traceback" not in reply.body
    assert rpc.do(desktop.TRUE).outcome == "ok"


@pytest.mark.parametrize("args", ["text", [1], [None], [["a"]], {"a": 1}, [True]])
def test_arguments_that_are_not_a_list_of_texts_run_nothing(rpc: Rpc, args: object) -> None:
    answer = rpc.call("omarchy_run", route=desktop.ARGV, args=args)
    assert answer.failed


def test_a_failing_command_gives_its_status_and_both_streams(rpc: Rpc) -> None:
    answer = rpc.do(desktop.EXIT, "7")
    assert answer.failed
    assert (answer.outcome, answer.data["exit"]) == ("failed", 7)
    assert answer.data["stdout"] == "to standard output\n"
    assert answer.data["stderr"] == "to standard error\n"


def test_a_command_ended_by_a_signal_says_which(rpc: Rpc) -> None:
    answer = rpc.do(desktop.EXIT, "signal", "SEGV")
    assert answer.outcome == "failed"
    assert answer.data["signal"] in {11, "SIGSEGV"}


def test_output_nobody_could_read_is_cut_and_said_so(rpc: Rpc) -> None:
    answer = rpc.do(desktop.FLOOD, str(50_000_000), seconds=60)
    assert answer.data["truncated"]
    assert 1_000 < len(answer.data["stdout"]) < 2_000_000
    assert len(answer.data.get("stderr", "")) < 2_000_000


def test_small_output_is_not_said_to_be_cut(rpc: Rpc) -> None:
    assert rpc.do(desktop.EXIT, "0").data["truncated"] is False


def _assert_arrived(stdout: str, arguments: list[str]) -> None:
    got = json.loads(stdout)
    want = [argument.encode() for argument in arguments]
    assert [(part["size"], part["sha256"]) for part in got] == [
        (len(raw), hashlib.sha256(raw).hexdigest()) for raw in want
    ]
