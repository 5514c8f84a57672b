import html
import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omarchy_mcp.policy.legible import CUT, MAX_SHOWN, plain, quoted, shown, width
from omarchy_mcp.policy.questions import (
    LINE,
    LOOK_S,
    Answer,
    Approval,
    Cause,
    Life,
    Scope,
    Subject,
    digest_of,
    next_look,
    parse_approval,
    prompt,
    words,
)

SUBJECT = Subject(
    client="claude-code",
    tool="omarchy_run",
    route="omarchy theme remove",
    argv=("tokyo-night",),
    target="Tokyo Night",
    binary="omarchy-theme-remove",
    executable="/usr/share/omarchy/bin/omarchy-theme-remove",
    executable_digest="ab" * 32,
    capabilities=("delete",),
    reason="it deletes folders",
)
DIGEST = "0123456789abcdef" * 4

# Markup, controls, direction overrides, zero width, tag characters, look-alikes of quotes, marks, lone surrogates
TRICKS = (
    '<>&"\\ …\n\r\0\x1b\x7f\x85\u00a0\u00ad\u200b\u200e\u202e\u2028\u2066\ufeff\u05d0\u0301\u3164\u1426\u02ba\u201c'
)
HOSTILE = st.text(
    st.characters() | st.sampled_from([*TRICKS, "\U000e0041", "\ud83d", "\ude00"]) | st.characters(max_codepoint=0x7E),
    max_size=60,
)
SHORT = st.text(st.characters(max_codepoint=0x7F) | st.sampled_from(TRICKS), max_size=9)
ARGV = st.lists(HOSTILE, max_size=6) | st.lists(SHORT, max_size=6) | st.lists(SHORT, max_size=80)
FRAME = re.compile(
    r'(?:"": )?omarchy theme remove\n'
    r"For \"\"…?: (?:"
    r"no arguments\.\nNo answer within 50 s refuses it\.|"
    r"\"\"(?: \"\")*\nNo answer within 50 s refuses it\.|"
    r'(?:""(?: "")*)?(?:\n|…\n…)""(?: "")*|'
    r"[0-9]+ of [0-9]+ arguments not shown:\nopen the panel or run omarchy-mcpctl questions)"
)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_back(body: str) -> list[str]:
    """The arguments a complete prompt shows, read as a person reads them."""
    asks = html.unescape(body).split("\n", 1)[1].replace('"…\n…"', "")
    spelled = QUOTED.findall(asks)[1:]  # the first is the client
    return [
        re.sub(
            r'\\(?:u(....)|U(........)|(["\\]))',
            lambda found: found[3] or chr(int(found[1] or found[2], 16)),
            text,
        )
        for text in spelled
    ]


def assert_clean(text: str) -> None:
    assert all(not unicodedata.category(char).startswith("C") for char in text.replace("\n", ""))
    assert all(char.isascii() or plain(char) or char == CUT for char in text)
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text)


@settings(max_examples=600)
@given(argv=ARGV, client=HOSTILE, target=st.sampled_from(["", "Tokyo Night"]))
def test_no_argument_and_no_name_changes_the_frame(argv: list[str], client: str, target: str) -> None:
    asked = prompt(replace(SUBJECT, argv=tuple(argv), client=client, target=target), 7, 50)
    assert asked.summary == "Approval needed (#7)"
    assert asked.body.count("\n") == 2
    assert_clean(asked.body)
    assert FRAME.fullmatch(QUOTED.sub('""', html.unescape(asked.body)))


@settings(max_examples=600)
@given(argv=ARGV)
def test_every_argument_is_shown_or_the_prompt_says_that_it_is_not(argv: list[str]) -> None:
    asked = prompt(replace(SUBJECT, argv=tuple(argv)), 7, 50)
    if asked.complete:
        assert read_back(asked.body) == argv
        assert all(width(line) <= LINE for line in html.unescape(asked.body).split("\n"))
    else:
        assert f"{len(argv)} of {len(argv)} arguments not shown:\nopen the panel or run omarchy-mcpctl" in asked.body


@given(route=HOSTILE, target=HOSTILE, argv=st.lists(SHORT, max_size=2))
def test_a_prompt_is_complete_only_with_all_of_target_and_route(route: str, target: str, argv: list[str]) -> None:
    asked = prompt(replace(SUBJECT, route=route, target=target, argv=tuple(argv)), 7, 50)
    assert asked.body.count("\n") == 2
    assert_clean(asked.body)
    first = html.unescape(asked.body).split("\n")[0]
    assert width(first) <= LINE
    assert asked.complete is not (CUT in first) or not asked.complete


@pytest.mark.parametrize("text", ["a" * 1_000_000, "\u202e" * 1_000_000, "omarchy " + "a " * 500_000])
def test_a_megabyte_is_cut_and_said(text: str) -> None:
    for subject in (replace(SUBJECT, argv=(text,)), replace(SUBJECT, route=text), replace(SUBJECT, target=text)):
        asked = prompt(subject, 7, 50)
        assert not asked.complete
        assert "not shown" in asked.body
        assert len(asked.body) < 400
    asked = prompt(replace(SUBJECT, client=text), 7, 50)
    assert asked.complete
    assert len(asked.body) < 400
    assert len(words(Answer.DECLINED, replace(SUBJECT, route=text), 50)) < 500


@pytest.mark.parametrize(
    ("changes", "body", "complete"),
    [
        (
            {},
            '"Tokyo Night": omarchy theme remove\nFor "claude-code": "tokyo-night"\nNo answer within 50 s refuses it.',
            True,
        ),
        (
            {"target": "", "argv": ()},
            'omarchy theme remove\nFor "claude-code": no arguments.\nNo answer within 50 s refuses it.',
            True,
        ),
        (
            {"target": "", "route": "omarchy hyprland window single square aspect toggle", "argv": ()},
            ("hyprland window single square aspect toggle\n"
            'For "claude-code": no arguments.\nNo answer within 50 s refuses it.'),
            True,
        ),
        (
            {"target": "", "argv": ("https://github.com/someone/omarchy-calm-theme.git",)},
            'omarchy theme remove\nFor "claude-code": "https://github.com/some"…\n…"one/omarchy-calm-theme.git"',
            True,
        ),
        (
            {"target": "", "argv": ("short", "a-word-that-fits-the-second-line-alone")},
            'omarchy theme remove\nFor "claude-code": "short"\n"a-word-that-fits-the-second-line-alone"',
            True,
        ),
        (
            {"target": "", "argv": ("mmmmmmmmmm", "W" * 22, "i")},
            'omarchy theme remove\nFor "claude-code": "mmmmmmmmmm"\n"WWWWWWWWWWWWWWWWWWWWWW" "i"',
            True,
        ),
        (
            {"target": "", "client": 'x" approves: "', "argv": ('a" "b', "", "a  b", "<b>&")},
            'omarchy theme remove\nFor "x\\" approves: \\"": "a\\" \\"b" "" "a \\u0020b"\n"&lt;b&gt;&amp;"',
            True,
        ),
        (
            {"argv": ("x" * 200, "-y")},
            ('"Tokyo Night": omarchy theme remove\n'
            'For "claude-code": 2 of 2 arguments not shown:\nopen the panel or run omarchy-mcpctl questions'),
            False,
        ),
        (
            {"target": "", "argv": ("",) * 5_000},
            ("omarchy theme remove\n"
            'For "claude-code": 1000+ of 1000+ arguments not shown:\nopen the panel or run omarchy-mcpctl questions'),
            False,
        ),
        (
            {"target": "T" * 40, "argv": ()},
            ('"TTTTTTTTTTTTT"…: "omarchy theme re"…\n'
            'For "claude-code": not shown in full:\nopen the panel or run omarchy-mcpctl questions'),
            False,
        ),
        (
            {"target": "", "route": "omarchy " + "W" * 40, "argv": ()},
            ('"omarchy WWWWWWWWWWWWWWWWWW"…\n'
            'For "claude-code": not shown in full:\nopen the panel or run omarchy-mcpctl questions'),
            False,
        ),
    ],
)  # fmt: skip
def test_the_prompt_reads_as_written(changes: dict[str, object], body: str, complete: bool) -> None:
    asked = prompt(replace(SUBJECT, **changes), 7, 50)  # type: ignore[arg-type]  # rows of a table
    assert (asked.body, asked.complete) == (body, complete)


@pytest.mark.parametrize("argv", [("W" * 38,), ("i" * 16, "\U0001f600" + "i" * 58)], ids=["rest", "first character"])
def test_what_would_fit_but_for_the_marks_of_a_break_is_not_shown_in_part(argv: tuple[str, ...]) -> None:
    asked = prompt(replace(SUBJECT, target="", argv=argv), 7, 50)
    assert not asked.complete
    assert "WW" not in asked.body
    assert "ii" not in asked.body


def test_no_character_is_wider_on_the_card_than_it_is_counted() -> None:
    # of the typeface's own table, in thousandths of the type size
    for chars, wide in {"il'": 222, "*": 389, "aegp0~+": 584, "ABKPSVY&w": 778, "GOQ": 778, "mM": 833, "%": 889,
                        "W": 944, "@": 1015, "…漢": 1000}.items():  # fmt: skip
        assert all(width(char) * 100 >= wide for char in chars)


@pytest.mark.parametrize("number", [-1, 0, 7, 10**9, 10**5000], ids=["negative", "none", "one", "many", "unspeakable"])
def test_figures_are_bounded(number: int) -> None:
    asked = prompt(replace(SUBJECT, argv=()), number, number)
    assert re.fullmatch(r"Approval needed \(#[0-9]{1,6}\)", asked.summary)
    assert re.search(r"within [0-9]{1,6} s", asked.body)
    assert len(words(Answer.TIMED_OUT, SUBJECT, number)) < 400


def test_what_stands_for_itself_reads_left_to_right_and_alone() -> None:
    for char in map(chr, range(0x80, 0x110000)):
        if plain(char):
            assert unicodedata.category(char) in ("Lu", "Ll", "Lt", "Lo", "Lm")
            assert unicodedata.bidirectional(char) == "L"
            assert unicodedata.combining(char) == 0
            assert char <= "\uffff"
    assert all(map(plain, "aZ~éßĐжΩあー漢한"))
    assert not any(map(plain, TRICKS.translate(dict.fromkeys(map(ord, '<>&"\\ ')))))
    assert not any(map(plain, "\u01c0\u0559\U000e0041\ud800\U0001f600\uff21"))


@given(text=HOSTILE, limit=st.integers(0, 200))
def test_foreign_text_stays_one_visible_line_within_bounds(text: str, limit: int) -> None:
    kept = shown(text, limit)
    assert len(kept) <= limit + 1
    assert all(char == CUT or char.isascii() or plain(char) for char in kept)
    assert kept.isprintable()
    assert width(quoted(text, 100)[0]) <= 100


@pytest.mark.parametrize("name", ["client", "route", "target", "executable_digest", "argv"])
def test_the_digest_is_over_what_is_approved(name: str) -> None:
    changed = replace(SUBJECT, **{name: ("other",) if name == "argv" else "other"})  # type: ignore[arg-type]  # each field in turn
    assert digest_of(changed) != digest_of(SUBJECT)
    assert re.fullmatch("[0-9a-f]{64}", digest_of(SUBJECT))
    assert digest_of(replace(SUBJECT, tool="other", reason="other")) == digest_of(SUBJECT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a b",), ("a", "b")),
        (("a", ""), ("a",)),
        (("ab", "c"), ("a", "bc")),
        (("1:a",), ("a", "1:")),
        (("\ud83d\ude00",), ("\U0001f600",)),
        (("\ud800",), ("\\ud800",)),
    ],
)
def test_no_two_calls_share_a_digest_by_spelling(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert digest_of(replace(SUBJECT, argv=one)) != digest_of(replace(SUBJECT, argv=other))


FIELDS = st.tuples(HOSTILE, HOSTILE, HOSTILE, st.lists(HOSTILE, max_size=4))


@given(one=FIELDS, other=FIELDS)
def test_equal_digests_mean_equal_calls(
    one: tuple[str, str, str, list[str]], other: tuple[str, str, str, list[str]]
) -> None:
    first, second = (
        digest_of(replace(SUBJECT, client=client, route=route, target=target, argv=tuple(argv)))
        for client, route, target, argv in (one, other)
    )
    assert (first == second) is (one == other)


@pytest.mark.parametrize(
    ("options", "scope", "life"),
    [
        ({}, Scope.CALL, Life.ONCE),
        ({"scope": "call", "life": "once"}, Scope.CALL, Life.ONCE),
        ({"scope": "args", "life": "10min"}, Scope.ARGS, Life.TEN_MINUTES),
        ({"scope": "args", "life": "session"}, Scope.ARGS, Life.SESSION),
        ({"scope": Scope.ROUTE, "life": Life.ALWAYS}, Scope.ROUTE, Life.ALWAYS),
    ],
)
def test_an_approval_says_what_it_covers_and_for_how_long(options: dict[str, object], scope: Scope, life: Life) -> None:
    assert parse_approval({"digest": DIGEST, **options}) == Approval(digest=DIGEST, scope=scope, life=life)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"digest": None}, "'digest' must be the digest of the question"),
        ({"digest": DIGEST.upper()}, "'digest' must"),
        ({"digest": DIGEST + "\n"}, "'digest' must"),
        ({"digest": ""}, "'digest' must"),
        ({"scope": "all"}, "'scope' must be one of call, args, route"),
        ({"scope": ["args"]}, "'scope' must be one of"),
        ({"scope": True}, "'scope' must be one of"),
        ({"life": "forever"}, "'life' must be one of once, 10min, session, always"),
        ({"life": {}}, "'life' must be one of"),
        ({"life": "always"}, "'scope' must be args or route when 'life' is always"),
        ({"scope": "call", "life": "10min"}, "'scope' must be args or route when 'life' is 10min"),
        ({"scope": "route"}, "'life' must be 10min, session or always when 'scope' is route"),
        ({"scope": "args", "life": "once"}, "'life' must be 10min, session or always when 'scope' is args"),
        ({"sc\u202eope\ud800": "args"}, "no option 'sc\\u202eope\\ud800'; there are digest, scope and life"),
    ],
)
def test_an_approval_that_makes_no_sense_is_refused_by_key(options: dict[str, object], why: str) -> None:
    refusal = parse_approval({"digest": DIGEST, **options})
    assert isinstance(refusal, str)
    assert refusal.startswith("cannot approve: ")
    assert why in refusal


def test_an_approval_without_a_digest_is_refused() -> None:
    assert "'digest'" in str(parse_approval({}))


def test_each_answer_has_its_own_words_and_says_that_nothing_ran() -> None:
    texts = {answer: words(answer, SUBJECT, 50) for answer in Answer}
    assert len(set(texts.values())) == len(Answer)
    for answer, text in texts.items():
        assert ("nothing ran" in text) is (answer is not Answer.ACCEPTED)
        assert "'omarchy theme remove'" in text
        assert not re.search(r"try again|once more|repeat|retry", text)
    assert "Do not try to get it done another way" in texts[Answer.DECLINED]
    assert "Silence is ambiguous" in texts[Answer.TIMED_OUT]
    assert "within 50 s" in texts[Answer.TIMED_OUT]
    assert "for 50 s" in texts[Answer.NOT_ASKED_AGAIN]
    for answer in (Answer.UNSUPPORTED, Answer.UNREACHABLE):
        assert 'add "omarchy theme remove" to policy.allow in config.toml' in texts[answer]
    assert "why is not known" in texts[Answer.WITHDRAWN]


def test_each_cause_is_said_and_no_two_alike() -> None:
    texts = {words(Answer.WITHDRAWN, SUBJECT, 50, cause) for cause in Cause}
    assert len(texts) == len(Cause)
    assert "(the client cancelled the call)" in words(Answer.WITHDRAWN, SUBJECT, 50, Cause.CLIENT_CANCELLED)
    another = words(Answer.NOT_ASKED_AGAIN, SUBJECT, 0, Cause.ANOTHER_OPEN)
    assert "is not asked about it now (another question of this client is still open)" in another


@given(route=HOSTILE, answer=st.sampled_from(Answer), cause=st.none() | st.sampled_from(Cause))
def test_words_are_one_printable_line(route: str, answer: Answer, cause: Cause | None) -> None:
    text = words(answer, replace(SUBJECT, route=route), 50, cause)
    assert text.isprintable()
    assert len(text) < 500 + 2 * MAX_SHOWN


@pytest.mark.parametrize(
    ("deadline", "now", "look"),
    [
        (50.0, 0.0, LOOK_S),
        (50.0, 47.0, 3.0),
        (50.0, 50.0, None),
        (50.0, 9_000.0, None),  # the machine slept, and a timer of 50 s has just begun
    ],
)
def test_a_deadline_is_looked_at_by_the_clock_and_never_left_to_a_timer(
    deadline: float, now: float, look: float | None
) -> None:
    assert next_look(deadline, now) == look
