import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omarchy_mcp.control.grantfile import MAX_BYTES, MAX_PROBLEMS, ParsedGrants, dump, parse
from omarchy_mcp.policy.grants import (
    LAST_USEC,
    MAX_ARGS,
    MAX_GRANTS,
    MAX_TEXT,
    TEN_MINUTES_USEC,
    Grant,
    add,
    alive,
    covering,
    granted,
    may_store,
    prune,
    revoke,
    unsound,
)
from omarchy_mcp.policy.questions import Approval, Life, Scope
from omarchy_mcp.policy.rating import Tier
from policy.test_questions import HOSTILE, SUBJECT

NOW = 1_760_000_000_000_000
THEME = "omarchy theme install"
ALWAYS = Grant(
    id="g1",
    scope=Scope.ARGS,
    life=Life.ALWAYS,
    client="claude-code",
    route=THEME,
    args=("https://example.org/a.git",),
    created_usec=NOW,
    expires_usec=0,
    session="",
)
ANY = replace(ALWAYS, id="g2", scope=Scope.ROUTE, args=None)
BRIEF = replace(ALWAYS, id="g3", life=Life.TEN_MINUTES, expires_usec=NOW + TEN_MINUTES_USEC)
LOGIN = replace(ALWAYS, id="g4", life=Life.SESSION, session="c2")
ALL = (ALWAYS, ANY, BRIEF, LOGIN)
ARGS = ("https://example.org/a.git",)

WRITTEN = """{
  "version": 1,
  "_comment": "COMMENT",
  "grants": [
    {
      "id": "g3",
      "client": "claude-code",
      "route": "omarchy theme install",
      "scope": "args",
      "args": [
        "https://example.org/a.git"
      ],
      "life": "10min",
      "created": "2025-10-09T08:53:20.000000Z",
      "expires": "2025-10-09T09:03:20.000000Z"
    },
    {
      "id": "g4",
      "client": "claude-code",
      "route": "omarchy theme install",
      "scope": "route",
      "life": "session",
      "created": "2025-10-09T08:53:20.000000Z",
      "session": "c2"
    }
  ]
}
"""


def covers(grant: Grant, client: str = "claude-code", route: str = THEME, args: tuple[str, ...] = ARGS) -> bool:
    return covering([grant], client, route, args, NOW, "c2") is grant


def test_a_grant_covers_its_client_its_route_and_its_arguments_alone() -> None:
    assert covers(ALWAYS)
    assert not covers(ALWAYS, client="claude-code ")
    assert not covers(ALWAYS, route="omarchy theme remove")
    assert not covers(ALWAYS, route="omarchy theme-install")
    assert not covers(ALWAYS, args=())
    assert not covers(ALWAYS, args=(*ARGS, ""))
    assert not covers(ALWAYS, args=("https://example.org/A.git",))
    assert not covers(replace(ALWAYS, args=()))
    assert covers(replace(ALWAYS, args=()), args=())
    assert covers(ANY, args=("anything", "at all"))
    assert covering([], "claude-code", THEME, ARGS, NOW, "c2") is None


def test_the_first_that_covers_is_named() -> None:
    assert covering(ALL, "claude-code", THEME, list(ARGS), NOW, "c2") is ALWAYS
    assert covering(ALL, "claude-code", THEME, ["b"], NOW, "c2") is ANY


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (NOW, True),
        (NOW + TEN_MINUTES_USEC - 1, True),
        (NOW + TEN_MINUTES_USEC, False),
        (NOW + 10 * TEN_MINUTES_USEC, False),
        (NOW - 1, False),
    ],
)
def test_ten_minutes_end_and_a_clock_put_back_does_not_lengthen_them(now: int, holds: bool) -> None:
    assert alive(BRIEF, now, "c2") is holds
    assert (covering([BRIEF], "claude-code", THEME, ARGS, now, "c2") is BRIEF) is holds
    assert prune([BRIEF], now, "c2") == ((BRIEF,) if holds else ())


def test_a_session_ends_with_the_session() -> None:
    assert alive(LOGIN, NOW, "c2")
    assert not alive(LOGIN, NOW, "c3")
    assert not alive(LOGIN, NOW, "")
    assert prune(ALL, NOW, "c3") == (ALWAYS, ANY, BRIEF)


def test_what_is_never_stored_is_never_covered_whoever_wrote_it() -> None:
    lock = replace(ANY, route="omarchy update lock")
    assert covering([lock], "claude-code", "omarchy update lock", (), NOW, "") is None
    assert covering([lock], "claude-code", "omarchy Update-Lock", (), NOW, "") is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scope": Scope.CALL}, "one call"),
        ({"life": Life.ONCE}, "one call"),
        ({"args": None}, "'args' goes with"),
        ({"scope": Scope.ROUTE}, "'args' goes with"),
        ({"session": "c2"}, "'session' goes with"),
        ({"life": Life.SESSION}, "'session' goes with"),
        ({"expires_usec": NOW + 1}, "'expires' goes with"),
        ({"life": Life.TEN_MINUTES}, "'expires' goes with"),
        ({"life": Life.TEN_MINUTES, "expires_usec": NOW}, "ten minutes at most"),
        ({"life": Life.TEN_MINUTES, "expires_usec": NOW + TEN_MINUTES_USEC + 1}, "ten minutes at most"),
        ({"created_usec": -1}, "out of range"),
        ({"created_usec": LAST_USEC}, "out of range"),
        ({"id": ""}, "texts of 1 to"),
        ({"client": ""}, "texts of 1 to"),
        ({"route": "omarchy " + "x" * MAX_TEXT}, "texts of 1 to"),
        ({"life": Life.SESSION, "session": "x" * (MAX_TEXT + 1)}, "texts of 1 to"),
        ({"route": "theme install"}, "spelled out"),
        ({"args": ("x" * MAX_ARGS,)}, "longer than"),
        ({"args": ("",) * (MAX_ARGS + 1)}, "longer than"),
        ({"args": ("\ud83d",)}, "no character"),
        ({"client": "\ude00"}, "no character"),
    ],
)
def test_a_grant_that_is_odd_covers_nothing(changes: dict[str, object], why: str) -> None:
    odd = replace(ALWAYS, **changes)  # type: ignore[arg-type]  # rows of a table
    assert why in str(unsound(odd))
    assert covering([odd], odd.client, odd.route, odd.args or (), NOW, odd.session) is None


def test_sound_grants_are_sound() -> None:
    assert [unsound(grant) for grant in ALL] == [None] * 4


def approve(scope: Scope, life: Life, argv: tuple[str, ...] = ("a",)) -> Grant | str:
    approval = Approval(digest="0" * 64, scope=scope, life=life)
    return granted(approval, replace(SUBJECT, argv=argv), grant_id="g", now_usec=NOW, session="c2")


@pytest.mark.parametrize("scope", [Scope.ARGS, Scope.ROUTE])
@pytest.mark.parametrize("life", [Life.TEN_MINUTES, Life.SESSION, Life.ALWAYS])
def test_an_approval_makes_a_grant_of_the_very_call(scope: Scope, life: Life) -> None:
    grant = approve(scope, life)
    assert isinstance(grant, Grant)
    assert covering([grant], SUBJECT.client, SUBJECT.route, ["a"], NOW, "c2") is grant
    other = covering([grant], SUBJECT.client, SUBJECT.route, ["b"], NOW, "c2")
    assert (other is grant) is (scope is Scope.ROUTE)
    assert alive(grant, NOW + TEN_MINUTES_USEC, "c2") is (life is not Life.TEN_MINUTES)
    assert alive(grant, NOW, "c3") is (life is not Life.SESSION)


def test_an_approval_of_one_call_makes_none() -> None:
    assert (
        approve(Scope.CALL, Life.ONCE) == "cannot remember 'omarchy theme remove': an approval of one call is not kept"
    )
    assert "longer than" in str(approve(Scope.ARGS, Life.ALWAYS, ("x" * MAX_ARGS,)))


@pytest.mark.parametrize(
    ("facts", "args_why", "route_why"),
    [
        ({}, None, None),
        ({"tier": Tier.BLOCKED}, "blocked", "blocked"),
        ({"tier": Tier.SAFE}, "only guarded calls", "only guarded calls"),
        ({"rule": "self-guard"}, "acts on this server", "acts on this server"),
        ({"rule": "deny:theme install"}, "denies it", "denies it"),
        ({"askable": False}, "nobody would be asked", "nobody would be asked"),
        ({"route": "omarchy update lock"}, "asked each time", "asked each time"),
        ({"route": "update-lock"}, "asked each time", "asked each time"),
        ({"capabilities": ("file", "exec")}, None, "run as code"),
        ({"rule": "unrated"}, None, "could not be read"),
        ({"rule": "unreadable"}, None, "could not be read"),
    ],
)
def test_what_may_be_remembered(facts: dict[str, object], args_why: str | None, route_why: str | None) -> None:
    default = {"tier": Tier.GUARDED, "rule": "floor", "askable": True, "route": THEME, "capabilities": ("file",)}
    for scope, why in ((Scope.ARGS, args_why), (Scope.ROUTE, route_why)):
        refusal = may_store(scope, **{**default, **facts})  # type: ignore[arg-type]  # rows of a table
        assert (refusal is None) is (why is None)
        assert why is None or (why in str(refusal) and str(refusal).startswith("cannot remember '"))


def test_a_grant_replaces_the_one_that_says_the_same() -> None:
    grants = add(ALL, replace(BRIEF, id="g9", created_usec=NOW + 5, expires_usec=NOW + 6))
    assert isinstance(grants, tuple)
    assert [grant.id for grant in grants] == ["g1", "g2", "g4", "g9"]
    again = add(grants, replace(ANY, id="g1"))
    assert isinstance(again, tuple)
    assert [grant.id for grant in again] == ["g4", "g9", "g1"]


def test_grants_are_counted() -> None:
    many = tuple(replace(ALWAYS, id=f"{n}", args=(f"{n}",)) for n in range(MAX_GRANTS))
    assert "too many" in str(add(many, ANY))
    assert len(add(many[1:], ANY)) == MAX_GRANTS
    assert len(add(many, replace(many[0], id="new"))) == MAX_GRANTS


def test_a_grant_is_taken_back_by_its_id() -> None:
    assert revoke(ALL, "g2") == (ALWAYS, BRIEF, LOGIN)
    assert revoke(ALL, "none") == ALL


def test_the_file_is_written_for_people() -> None:
    written = dump([BRIEF, replace(LOGIN, scope=Scope.ROUTE, args=None)]).decode()
    comment = json.loads(written)["_comment"]
    assert written == WRITTEN.replace("COMMENT", comment)


def test_what_cannot_be_seen_is_spelled_as_an_escape_in_the_file() -> None:
    grant = replace(
        ALWAYS,
        args=(
            "é漢",
            "\u202e\u200b\x00\x7f\n\U000e0041\U0001f600\u05d0",
        ),
    )
    written = dump([grant])
    assert "é漢".encode() in written
    assert rb"\u202e\u200b\u0000\u007f\n\udb40\udc41\ud83d\ude00\u05d0" in written
    assert parse(written).grants == (grant,)


def test_as_many_grants_as_may_be_are_read_back_whatever_is_in_them() -> None:
    wide = "\U000e0041"
    long = Grant(
        id=wide * MAX_TEXT, scope=Scope.ARGS, life=Life.SESSION, client=wide * MAX_TEXT,
        route="omarchy " + wide * (MAX_TEXT - 8), args=("",) * (MAX_ARGS // 2) + (wide,) * (MAX_ARGS // 4),
        created_usec=NOW, expires_usec=0, session=wide * MAX_TEXT,
    )  # fmt: skip
    assert unsound(long) is None
    assert MAX_GRANTS * len(dump([long])) <= MAX_BYTES
    assert MAX_GRANTS * len(dump([replace(long, args=(wide * (MAX_ARGS - 1),))])) <= MAX_BYTES
    assert MAX_GRANTS * len(dump([replace(long, args=("",) * MAX_ARGS)])) <= MAX_BYTES


def test_a_moment_no_calendar_has_is_written_as_the_nearest_one() -> None:
    assert b"9999-12-31T23:59:59.999999Z" in dump([replace(ALWAYS, created_usec=10**30)])
    assert b"1970-01-01T00:00:00.000000Z" in dump([replace(ALWAYS, created_usec=-(10**30))])


def test_no_file_grants_nothing_and_is_no_problem() -> None:
    assert parse(None) == ParsedGrants(grants=(), problems=(), parsed=True)
    assert parse(dump([])) == ParsedGrants(grants=(), problems=(), parsed=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "line 1 column 1"),
        (b"{", "line 1"),
        (b'{"version": 1,\n"grants": [}', "line 2"),
        (b'{"version": 1,\n"grants": ["\xe9"]}', "not UTF-8 (line 2"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "it must be an object"),
        (b'{"grants": []}', "'version' must be 1"),
        (b'{"version": 2, "grants": []}', "'version' must be 1"),
        (b'{"version": true, "grants": []}', "'version' must be 1"),
        (b'{"version": 1.0, "grants": []}', "'version' must be 1"),
        (b'{"version": 1' + b"0" * 5_000 + b', "grants": []}', "cannot read consent.json"),
        (b'{"version": 1}', "'grants' must be a list"),
        (b'{"version": 1, "grants": {}}', "'grants' must be a list"),
        (b'{"version": 1, "grants": [], "grants": []}', "'grants' stands more than once"),
        (b'{"version": 1, "grants": [{"id": "a", "id": "b"}]}', "'id' stands more than once"),
        (b" " * (MAX_BYTES + 1), "larger"),
    ],
)
def test_a_file_that_is_none_grants_nothing_and_says_why(text: bytes, why: str) -> None:
    read = parse(text)
    assert (read.grants, read.parsed) == ((), False)
    assert len(read.problems) == 1
    assert why in read.problems[0]
    assert read.problems[0].startswith("cannot read consent.json: ")
    assert read.problems[0].endswith("; it grants nothing")


def test_a_byte_order_mark_and_an_editors_line_ends_do_not_matter() -> None:
    assert parse(b"\xef\xbb\xbf" + dump(ALL).replace(b"\n", b"\r\n")).grants == ALL


def file_of(entries: list[object], **more: object) -> bytes:
    return json.dumps({"version": 1, "grants": entries, **more}).encode()


ENTRY: dict[str, object] = json.loads(dump([ALWAYS]))["grants"][0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": None}, "'id' must be a text"),
        ({"id": ""}, "'id' must be a text"),
        ({"client": 7}, "'client' must be a text"),
        ({"route": ["a"]}, "'route' must be a text"),
        ({"route": "omarchy update lock"}, "is asked each time"),
        ({"route": "theme install"}, "spelled out"),
        ({"scope": "call"}, "'scope' must be one of args, route"),
        ({"scope": {}}, "'scope' must be one of"),
        ({"life": "once"}, "'life' must be one of 10min, session, always"),
        ({"life": True}, "'life' must be one of"),
        ({"args": "x"}, "'args' must be a list of texts"),
        ({"args": [1]}, "'args' must be a list of texts"),
        ({"args": ["\ud800"]}, "no character"),
        ({"created": "yesterday"}, "'created' must be a time like 1970-01-01T00:00:00.000000Z"),
        ({"created": "2025-10-09T08:53:20"}, "'created' must be a time like"),
        ({"created": "2025-10-09"}, "'created' must be a time like"),
        ({"created": 1}, "'created' must be a text"),
        ({"created": "0001-01-01T00:00:00+23:59"}, "'created' is out of range"),
        ({"created": "9999-12-31T23:59:59-23:59"}, "'created' is out of range"),
        ({"created": "\ud800025-10-09T08:53:20Z"}, "'created' must be a time like"),
        ({"expires": "2025-10-09T08:54:00Z"}, "'expires' goes with"),
        ({"life": "10min", "expires": "2026-10-09T08:54:00Z"}, "ten minutes at most"),
        ({"until": "2026"}, "there is no key 'until'"),
        ({"\u202e": 1}, "there is no key '\\u202e'"),
    ],
)
def test_an_odd_entry_grants_nothing_and_is_named_while_the_others_hold(changes: dict[str, object], why: str) -> None:
    read = parse(file_of([ENTRY | {"id": "a"}, ENTRY | changes, ENTRY | {"id": "b"}]))
    assert [grant.id for grant in read.grants] == ["a", "b"]
    assert read.parsed
    assert len(read.problems) == 1
    assert read.problems[0].startswith("consent.json: grant 2: ")
    assert read.problems[0].endswith(", ignoring")
    assert why in read.problems[0]


@pytest.mark.parametrize("name", [name for name in ENTRY if name != "args"])
def test_an_entry_that_lacks_something_grants_nothing(name: str) -> None:
    read = parse(file_of([{key: value for key, value in ENTRY.items() if key != name}]))
    assert read == ParsedGrants(
        grants=(), problems=(f"consent.json: grant 1: '{name}' is missing, ignoring",), parsed=True
    )


@pytest.mark.parametrize("entry", [None, 1, "x", []])
def test_an_entry_that_is_no_object_grants_nothing(entry: object) -> None:
    assert "grant 1: it must be an object" in parse(file_of([entry])).problems[0]


def test_an_id_is_one_grants_alone() -> None:
    read = parse(file_of([ENTRY, ENTRY | {"args": ["other"]}]))
    assert read.grants == (ALWAYS,)
    assert "grant 2: its id is taken by one before it" in read.problems[0]


def test_a_time_may_be_written_in_any_zone() -> None:
    read = parse(file_of([ENTRY | {"created": "2025-10-09T10:53:20+02:00"}]))
    assert read.grants == (ALWAYS,)


def test_a_key_nobody_knows_is_named_and_the_grants_hold() -> None:
    read = parse(file_of([ENTRY], grant=[], zz="\x00"))
    assert read.grants == (ALWAYS,)
    assert read.problems == (
        "consent.json: there is no key 'grant', ignoring",
        "consent.json: there is no key 'zz', ignoring",
    )


def test_more_than_can_be_held_is_left_out_and_problems_are_counted() -> None:
    read = parse(file_of([ENTRY | {"id": f"{n}"} for n in range(MAX_GRANTS + 100)]))
    assert len(read.grants) == MAX_GRANTS
    assert len(read.problems) == MAX_PROBLEMS + 1
    assert f"grant {MAX_GRANTS + 1}: there are more than {MAX_GRANTS}" in read.problems[0]
    assert read.problems[-1] == "consent.json: and 80 more"


NAMES = HOSTILE.filter(bool)
GRANTS = st.builds(
    lambda base, client, args, created, scoped: replace(
        base,
        client=client,
        route="omarchy " + client,
        args=tuple(args) if scoped else None,
        scope=Scope.ARGS if scoped else Scope.ROUTE,
        created_usec=created,
        expires_usec=created + 1 if base.life is Life.TEN_MINUTES else 0,
    ),
    st.sampled_from(ALL),
    NAMES,
    st.lists(HOSTILE, max_size=5),
    st.integers(0, LAST_USEC - TEN_MINUTES_USEC),
    st.booleans(),
)


@settings(max_examples=300)
@given(st.lists(GRANTS, max_size=5, unique_by=lambda grant: grant.id))
def test_what_was_written_is_read_back(grants: list[Grant]) -> None:
    sound = tuple(grant for grant in grants if unsound(grant) is None)
    read = parse(dump(grants))
    assert read.grants == sound
    assert len(read.problems) == len(grants) - len(sound)
    assert parse(dump(read.grants)) == ParsedGrants(grants=sound, problems=(), parsed=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | HOSTILE | st.sampled_from(list(ENTRY.values())),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(HOSTILE | st.sampled_from(list(ENTRY)), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(
    st.binary(max_size=200)
    | st.builds(lambda value: json.dumps(value).encode(), JSON)
    | st.builds(
        lambda entries: file_of(list(entries)),
        st.lists(
            st.builds(
                lambda more: ENTRY | more, st.dictionaries(st.sampled_from([*ENTRY, "expires"]), JSON, max_size=2)
            )
        ),
    )
)
def test_reading_never_raises_and_settles_at_once(text: bytes) -> None:
    read = parse(text)
    assert read.parsed or read.grants == ()
    assert all(problem.isprintable() for problem in read.problems)
    assert parse(dump(read.grants)).grants == read.grants
    assert dump(parse(dump(read.grants)).grants) == dump(read.grants)
