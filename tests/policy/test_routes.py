import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.listings import MAX_NAMES, Kind, resolve
from omarchy_mcp.policy.registry import key
from omarchy_mcp.policy.review import NOTHING_HELD
from omarchy_mcp.policy.route_table import RULES
from omarchy_mcp.policy.routes import lowered, may_be_safe, program_of, wanted
from omarchy_mcp.policy.tiers import Tier
from omarchy_mcp.policy.verdict import Verdict, decide
from policy.samples import BLOCKED, GUARDED, command, ratings, record, registry

KNOWN = registry(*[record(f"omarchy {route}", args=rule.args) for route, rule in RULES.items()])
THEMES = ("Tokyo Night", "Nord", "Rosé Pine")


def judged(route: str, *args: str, **listings: tuple[str, ...] | None) -> Verdict:
    given = {Kind(kind): names for kind, names in listings.items()}
    return decide(
        KNOWN, route, args, ratings=ratings(KNOWN, GUARDED), config=Config(ask=True), held=NOTHING_HELD, listings=given
    )


@pytest.mark.parametrize(
    ("route", "args"),
    [
        ("theme set", ["nord"]),
        ("theme set", ["Tokyo Night"]),
        ("font set", ["CaskaydiaMono Nerd Font"]),
        ("toggle", ["screensaver-off", "on"]),
        ("hyprland window pop", ["800", "600", "10", "10"]),
        ("hyprland window pop", []),
        ("launch browser", ["https://example.org/a?b=c#d"]),
        ("launch browser", []),
        ("launch webapp", ["http://127.0.0.1:8080/"]),
        ("launch terminal", []),
        ("launch editor", ["/home/me/notes.md"]),
        ("capture screenshot", ["fullscreen", "save"]),
        ("capture screenshot", []),
        ("menu", ["close"]),
        ("migrate", ["--pending"]),
        ("plugin", ["list"]),
        ("notification send", ["-u", "low", "Done", "All tests pass"]),
        ("notification send", ["Done"]),
    ],
)
def test_arguments_that_fit_the_rule_make_a_guarded_route_safe(route: str, args: list[str]) -> None:
    verdict = judged(route, *args)
    assert (verdict.tier, verdict.allowed, verdict.rule) == (Tier.SAFE, True, f"arguments:{key(route)}")


@pytest.mark.parametrize(
    ("route", "args"),
    [
        ("theme set", ["../../x"]),
        ("theme set", ["a/b"]),
        ("theme set", ["-x"]),
        ("font set", ["x/;e id"]),
        ("font set", ["x/;e id\n\n#"]),
        ("toggle", ["../../.ssh/id_ed25519", "off"]),
        ("toggle", ["A_B"]),
        ("hyprland window pop", ["os.execute('id') and 1", "1", "1", "1"]),
        ("launch browser", ["--gpu-launcher=sh"]),
        ("launch browser", ["https://x", "--load-extension=/tmp/x"]),
        ("launch browser", ["file:///etc/passwd"]),
        ("launch browser", ["javascript:alert(1)"]),
        ("launch webapp", ["https://x y"]),
        ("launch terminal", ["bash", "-c", "id"]),
        ("launch editor", ["+!id"]),
        ("launch editor", ["/tmp/x", "+!id"]),
        ("launch editor", ["--inline", "/tmp/x"]),
        ("capture screenshot", ["--editor=sh"]),
        ("menu", ["summon", "system.suspend"]),
        ("menu", ["toggle"]),
        ("migrate", []),
        ("plugin", ["add", "https://x/y.git"]),
        ("notification send", ["-u", "critical", "x"]),
        ("notification send", ["-a", "x"]),
        ("notification send", ["x", "--exec", "sh"]),
        ("notification send", ["--app-name", "x", "y"]),
    ],
)
def test_arguments_that_do_not_fit_are_asked_or_refused(route: str, args: list[str]) -> None:
    verdict = judged(route, *args)
    assert not verdict.allowed
    assert verdict.tier is Tier.GUARDED


def test_a_rule_lapses_when_the_command_declares_other_arguments() -> None:
    other = registry(record("omarchy theme set", args="<theme-name> [--force]"))
    verdict = decide(other, "theme set", ["nord"], ratings=ratings(other, GUARDED), config=Config(), held=NOTHING_HELD)
    assert (verdict.tier, verdict.allowed, verdict.lapsed) == (Tier.GUARDED, False, True)
    assert not judged("theme set", "nord").lapsed


def test_a_rule_lowers_nothing_that_is_blocked_and_leaves_the_safe_alone() -> None:
    for rating in (BLOCKED,):
        verdict = decide(
            KNOWN, "theme set", ["nord"], ratings=ratings(KNOWN, rating), config=Config(), held=NOTHING_HELD
        )
        assert verdict.tier is Tier.BLOCKED
    verdict = decide(KNOWN, "theme set", ["nord"], ratings=ratings(KNOWN), config=Config(), held=NOTHING_HELD)
    assert verdict.rule == "scan"


def test_a_name_that_is_listed_is_labelled_and_one_that_is_not_is_refused_with_near_misses() -> None:
    found = judged("theme set", "tokyo-night", theme=THEMES)
    assert (found.allowed, found.target) == (True, "Tokyo Night")
    missing = judged("theme set", "tokio-night", theme=THEMES)
    assert (missing.allowed, missing.would_ask, missing.rule) == (False, False, "not-found")
    assert missing.did_you_mean == ("Tokyo Night",)
    assert "there is no theme 'tokio-night'" in missing.reason


def test_not_being_able_to_look_is_another_answer_than_not_found() -> None:
    verdict = judged("theme set", "nord", theme=None)
    assert (verdict.allowed, verdict.would_ask, verdict.rule) == (False, False, "could-not-look")
    assert "could not be listed just now" in verdict.reason


def test_what_has_to_be_there_is_looked_for_before_the_route_is_safe() -> None:
    assert judged("launch config editor", "/home/me/x.conf").would_ask
    assert judged("launch config editor", "/home/me/x.conf", file=("/home/me/x.conf",)).allowed
    assert judged("launch config editor", "/home/me/x.conf", file=()).rule == "not-found"
    assert judged("launch signal").would_ask
    assert judged("launch signal", program=("signal-desktop",)).allowed
    assert judged("launch signal", program=()).would_ask


def test_what_is_wanted_is_named_before_it_is_looked_for() -> None:
    assert wanted(command("omarchy theme set", args="<theme-name>"), ["nord"]) == (Kind.THEME,)
    assert wanted(command("omarchy theme set", args="<theme-name>"), ["a/b"]) == ()
    assert wanted(command("omarchy theme set", args="<other>"), ["nord"]) == ()
    assert wanted(command("omarchy launch signal"), []) == (Kind.PROGRAM,)
    assert wanted(command("omarchy theme list"), []) == ()


def test_resolving_is_exact_but_for_the_spelling_the_desktop_makes() -> None:
    assert resolve(Kind.THEME, "rosé-pine", THEMES).label == "Rosé Pine"
    assert resolve(Kind.FONT, "nord", ("Nord",)).problem
    assert resolve(Kind.THEME, "nor", THEMES).label == ""
    assert resolve(Kind.THEME, "x", tuple(map(str, range(MAX_NAMES * 2)))).near == ()


def test_a_route_tells_whether_it_may_be_safe_and_what_has_to_be_installed() -> None:
    assert may_be_safe(command("omarchy launch signal"))
    assert not may_be_safe(command("omarchy launch signal", args="[--new]"))
    assert not may_be_safe(command("omarchy theme list"))
    assert program_of(command("omarchy launch signal")) == "signal-desktop"
    assert program_of(command("omarchy theme list")) == ""


def test_every_rule_says_why() -> None:
    assert all(rule.reason for rule in RULES.values())


@given(st.sampled_from(sorted(RULES)), st.lists(st.text() | st.sampled_from(["on", "https://x", "..", "-x", "5", "a"])))
def test_no_arguments_raise_and_what_runs_is_clean(route: str, args: list[str]) -> None:
    verdict = judged(route, *args, theme=THEMES)
    lowered(KNOWN.commands[0], args, {})
    if verdict.allowed:
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for arg in args for char in arg)
        assert not any(arg.startswith("+") or ".." in arg.replace("...", "") for arg in args)


@given(st.text(), st.lists(st.text()))
def test_no_name_raises(said: str, names: list[str]) -> None:
    for kind in Kind:
        resolve(kind, said, tuple(names))
