import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.policy.review import NOTHING_HELD, Held
from omarchy_mcp.policy.selfguard import PLUGIN_ID
from omarchy_mcp.policy.tiers import Ratings, Tier, rating_of
from omarchy_mcp.policy.verdict import Verdict, decide, decide_ipc, outlook
from policy.samples import BLOCKED, GUARDED, ratings, record, registry

KNOWN = registry(
    record("omarchy theme list"),
    record("omarchy theme remove", args="[theme-name]", aliases=["omarchy untheme"]),
    record("omarchy dns", args="[Cloudflare|Google]"),
    record("omarchy channel set", args="<stable|edge>", requires_sudo=True),
    record("omarchy shell", args="[-q] <target> <method> [args...]"),
    record("omarchy restart shell"),
)
RATED = ratings(KNOWN, omarchy_theme_remove=GUARDED, omarchy_dns=BLOCKED, omarchy_shell=GUARDED)
EVERYTHING = Config(
    allow=frozenset({"theme remove", "dns", "channel set", "shell", "restart shell"}),
    allow_groups=frozenset({"theme", "channel", "dns", "shell", "restart"}),
    ask=True,
)


def judged(
    route: str,
    *args: str,
    config: Config = Config(),  # noqa: B008
    granted: str = "",
    held: Held = NOTHING_HELD,
) -> Verdict:
    return decide(KNOWN, route, args, ratings=RATED, config=config, held=held, granted=granted)


def test_a_safe_call_runs_and_says_what_would_run() -> None:
    verdict = judged("theme list")
    assert (verdict.tier, verdict.allowed, verdict.binary, verdict.args) == (
        Tier.SAFE,
        True,
        "omarchy-theme-list",
        (),
    )
    assert verdict.route == "omarchy theme list"


def test_an_unknown_route_is_refused_with_near_misses() -> None:
    verdict = judged("theme lst", "x")
    assert (verdict.allowed, verdict.askable, verdict.rule, verdict.binary) == (
        False,
        False,
        "unknown-route",
        "",
    )
    assert "omarchy theme list" in verdict.did_you_mean


def test_an_unknown_route_cannot_write_into_the_refusal() -> None:
    assert "\x1b" not in judged("\x1b[31m").reason
    assert len(judged("x" * 10_000).reason) < 250


@pytest.mark.parametrize("route", ["dns", "channel set"])
def test_a_root_route_is_refused_by_policy_whatever_is_configured(route: str) -> None:
    for config in (Config(), EVERYTHING, RESTRICTIVE):
        verdict = judged(route, *(["stable"] if route == "channel set" else []), config=config, granted="g1")
        assert (verdict.tier, verdict.allowed, verdict.askable, verdict.would_ask) == (
            Tier.BLOCKED,
            False,
            False,
            False,
        )
        assert "needs root, and policy lets no agent do that" in verdict.reason
        assert verdict.ways_out == ()
        for setting in ("config", "allow", "policy.", "ask"):
            assert setting not in verdict.reason.removeprefix(f"cannot run '{verdict.route}'")


def test_a_guarded_route_is_refused_with_both_ways_out() -> None:
    verdict = judged("theme remove", "nord")
    assert (verdict.tier, verdict.allowed, verdict.askable, verdict.would_ask) == (
        Tier.GUARDED,
        False,
        True,
        False,
    )
    assert verdict.reason.startswith("cannot run 'omarchy theme remove': it runs its arguments")
    assert ["policy.allow" in verdict.ways_out[0], "policy.ask" in verdict.ways_out[1]] == [True, True]


def test_with_ask_on_a_guarded_route_is_asked() -> None:
    verdict = judged("theme remove", "nord", config=Config(ask=True))
    assert (verdict.allowed, verdict.askable, verdict.would_ask, verdict.ways_out) == (False, True, True, ())


@pytest.mark.parametrize(
    ("config", "granted", "rule"),
    [
        (Config(allow=frozenset({"theme remove"})), "", "allow:theme remove"),
        (Config(allow=frozenset({"untheme"})), "", "allow:untheme"),
        (Config(allow_groups=frozenset({"theme"})), "", "allow_groups:theme"),
        (Config(), "g7", "grant:g7"),
    ],
)
def test_what_the_person_allowed_runs(config: Config, granted: str, rule: str) -> None:
    verdict = judged("theme remove", "nord", config=config, granted=granted)
    assert (verdict.allowed, verdict.rule, verdict.tier) == (True, rule, Tier.GUARDED)


def test_deny_outranks_everything_but_blocked_and_is_never_asked() -> None:
    config = Config(deny=frozenset({"theme remove", "theme list"}), allow=frozenset({"theme remove"}), ask=True)
    for route in ("theme remove", "untheme", "theme list"):
        verdict = judged(route, config=config, granted="g")
        assert (verdict.allowed, verdict.askable, verdict.rule.partition(":")[0]) == (False, False, "deny")


def test_self_guard_and_argument_rules_outrank_what_is_allowed() -> None:
    assert judged("restart shell", config=EVERYTHING, granted="g").rule == "self-guard"
    assert judged("theme remove", PLUGIN_ID, config=EVERYTHING, granted="g").rule == "self-guard"
    assert judged("theme remove", "../x", config=EVERYTHING, granted="g").rule == "argument-parent-folder"
    assert judged("theme list", "extra").rule == "argument-grammar"


def test_an_unreadable_configuration_leaves_only_safe_calls() -> None:
    assert judged("theme list", config=RESTRICTIVE).allowed
    verdict = judged("theme remove", config=RESTRICTIVE, granted="g")
    assert (verdict.allowed, verdict.askable, verdict.rule) == (False, False, "restrictive")


def test_the_shell_route_answers_like_the_shell_tool() -> None:
    assert judged("shell", "media", "playPause").allowed
    assert judged("shell", "-q", "media", "playPause").allowed
    assert not judged("shell", "media", "playPause", config=Config(deny=frozenset({"shell media"}))).allowed
    assert judged("shell", "shell", "call", "a", "b", "c").tier is Tier.GUARDED
    assert judged("shell", "notifications", "invokeLast", config=EVERYTHING).tier is Tier.BLOCKED
    assert judged("shell", "-q", "notifications", "dismissAll", config=EVERYTHING).rule == "self-guard"
    assert judged("shell", PLUGIN_ID, "stop", config=EVERYTHING).rule == "self-guard"
    assert judged("shell", PLUGIN_ID, "status").allowed
    assert judged("shell", "a b", "c", config=EVERYTHING).rule == "ipc-name"
    assert judged("shell", "media").rule == "argument-grammar"
    assert judged("shell", "--any", "x", config=EVERYTHING).rule == "argument-option"


def test_a_shell_program_that_needs_root_is_blocked_all_the_same() -> None:
    rated = ratings(KNOWN, omarchy_shell=BLOCKED)
    verdict = decide(KNOWN, "shell", ["media", "ping"], ratings=rated, config=Config(), held=NOTHING_HELD)
    assert verdict.tier is Tier.BLOCKED


def test_the_outlook_is_the_worst_over_any_arguments() -> None:
    by_route = {c.route: outlook(c, ratings=RATED, config=Config(ask=True), held=NOTHING_HELD) for c in KNOWN.commands}
    assert by_route["omarchy theme list"].allowed
    assert by_route["omarchy theme remove"].would_ask
    assert by_route["omarchy dns"].tier is Tier.BLOCKED
    assert by_route["omarchy channel set"].capabilities == ("root",)


def test_a_command_nobody_rated_is_guarded() -> None:
    assert rating_of(Ratings(), KNOWN.commands[0]).tier is Tier.GUARDED


@given(st.text() | st.sampled_from([c.route for c in KNOWN.commands]), st.lists(st.text()), st.booleans())
def test_no_call_raises_and_nothing_guarded_runs_unallowed(route: str, args: list[str], ask: bool) -> None:
    verdict = decide(KNOWN, route, args, ratings=RATED, config=Config(ask=ask), held=NOTHING_HELD)
    assert verdict.allowed == (verdict.allowed and verdict.tier is Tier.SAFE)
    assert not (verdict.allowed and verdict.would_ask)
    assert verdict.would_ask <= verdict.askable
    if verdict.allowed or verdict.would_ask:
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for arg in args for char in arg)


NEW = Held(routes={"omarchy theme remove": "it is new (it deletes folders)", "omarchy shell": "it was safe before"})


@pytest.mark.parametrize("config", [EVERYTHING, Config(ask=True), Config(allow=frozenset({"theme remove"}))])
def test_what_is_new_is_held_whatever_the_configuration_allows(config: Config) -> None:
    verdict = judged("untheme", "nord", config=config, held=NEW)
    assert (verdict.tier, verdict.allowed, verdict.askable, verdict.would_ask, verdict.rule) == (
        Tier.GUARDED, False, True, config.ask, "review",
    )  # fmt: skip
    assert verdict.held == "it is new (it deletes folders)"
    assert verdict.held in verdict.reason
    assert "omarchy-mcpctl review" in verdict.reason
    assert "the panel" in verdict.reason


def test_the_ways_out_of_being_held_are_to_acknowledge_and_to_be_asked() -> None:
    first, second = judged("theme remove", "nord", held=NEW).ways_out
    assert "omarchy-mcpctl review" in first
    assert "policy.ask" in second


def test_what_is_new_yields_to_a_grant_and_to_nothing_that_forbids_more() -> None:
    def rule(config: Config, granted: str = "", *args: str) -> str:
        return judged("theme remove", *(args or ("nord",)), config=config, granted=granted, held=NEW).rule

    assert rule(EVERYTHING, "g1") == "grant:g1"
    assert rule(RESTRICTIVE, "g1") == "restrictive"
    assert rule(Config(deny=frozenset({"theme remove"})), "g1") == "deny:theme remove"
    assert rule(EVERYTHING, "g1", PLUGIN_ID) == "self-guard"
    assert judged("dns", held=Held(routes={"omarchy dns": "it is new"})).tier is Tier.BLOCKED


def test_what_made_it_safe_counts_no_more_once_it_is_held() -> None:
    known = registry(record("omarchy theme set", args="<theme-name>"))
    rated = ratings(known, GUARDED)
    held = Held(routes={"omarchy theme set": "it can do more than before"})

    def decided(held: Held) -> Verdict:
        return decide(known, "theme set", ["nord"], ratings=rated, config=EVERYTHING, held=held)

    assert (decided(NOTHING_HELD).tier, decided(NOTHING_HELD).allowed) == (Tier.SAFE, True)
    assert (decided(held).tier, decided(held).allowed, decided(held).rule) == (Tier.GUARDED, False, "review")
    unsure = decided(Held(guarded="nobody knows"))
    assert (unsure.allowed, unsure.held) == (False, "nobody knows")


@pytest.mark.parametrize("call", [("media", "playPause"), ("bar", "unheardOf")])
def test_a_call_into_the_shell_is_held_with_the_program_that_makes_it(call: tuple[str, str]) -> None:
    direct = decide_ipc(*call, [], config=EVERYTHING, held=NEW)
    routed = judged("shell", *call, config=EVERYTHING, held=NEW)
    for verdict in (direct, routed):
        assert (verdict.tier, verdict.allowed, verdict.rule) == (Tier.GUARDED, False, "review")
        assert verdict.held == "it was safe before"


def test_where_nobody_knows_what_is_new_the_safe_runs_and_the_guarded_is_held() -> None:
    nobody_knows = Held(guarded="not known")
    assert judged("theme list", held=nobody_knows).allowed
    assert judged("shell", "media", "playPause", held=nobody_knows).allowed
    assert decide_ipc("media", "playPause", [], config=Config(), held=nobody_knows).allowed
    for verdict in (
        judged("theme remove", "nord", config=EVERYTHING, held=nobody_knows),
        judged("shell", "bar", "unheardOf", config=EVERYTHING, held=nobody_knows),
        decide_ipc("bar", "unheardOf", [], config=EVERYTHING, held=nobody_knows),
    ):
        assert (verdict.allowed, verdict.rule, verdict.held) == (False, "review", "not known")


def test_lists_show_what_is_held_as_the_gate_decides_it() -> None:
    by_route = {c.route: outlook(c, ratings=RATED, config=EVERYTHING, held=NEW) for c in KNOWN.commands}
    assert (by_route["omarchy theme remove"].rule, by_route["omarchy theme remove"].allowed) == ("review", False)
    assert by_route["omarchy theme list"].allowed
