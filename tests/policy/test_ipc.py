import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy.config import RESTRICTIVE, Config
from omarchy_mcp.policy.ipc import rate_ipc, row_for
from omarchy_mcp.policy.ipc_table import TABLE
from omarchy_mcp.policy.review import NOTHING_HELD
from omarchy_mcp.policy.selfguard import PLUGIN_ID, guard, guard_ipc, names_us
from omarchy_mcp.policy.tiers import Tier
from omarchy_mcp.policy.verdict import decide_ipc


@pytest.mark.parametrize(
    ("target", "function", "args"),
    [
        ("shell", "ping", []),
        ("media", "playPause", []),
        ("idle", "disable", []),
        ("lock", "isLocked", []),
        ("omarchy.monitor", "brightness", ["55"]),
        ("omarchy.weather", "toggle", []),
        ("background", "set", ["/home/me/Pictures/a b.jpg"]),
        ("osd", "show", ['{"message": "hi"}']),
        (PLUGIN_ID, "status", []),
        (PLUGIN_ID, "recent", []),
    ],
)
def test_listed_calls_run(target: str, function: str, args: list[str]) -> None:
    verdict = decide_ipc(target, function, args, config=Config(), held=NOTHING_HELD)
    assert (verdict.tier, verdict.allowed) == (Tier.SAFE, True)
    assert decide_ipc(target, function, args, config=RESTRICTIVE, held=NOTHING_HELD).allowed


@pytest.mark.parametrize(
    ("target", "function", "args"),
    [
        ("shell", "call", ["omarchy.menu", "runAction", "touch x"]),
        ("shell", "summon", ["omarchy.menu", '{"menu":"system.suspend"}']),
        ("shell", "setPluginEnabled", ["other.plugin", "false"]),
        ("image-selector", "cancel", ["/home/me/.bashrc"]),
        ("image-selector", "preload", ["a", "b", "c", "d"]),
        ("lock", "lock", []),
        ("omarchy.tailscale", "down", []),
        ("third.party", "anything", []),
        ("media", "playPause", ["extra"]),
        ("media", "PLAYPAUSE", []),
        ("omarchy.monitor", "brightness", ["1000"]),
        ("background", "set", ["/etc/passwd"]),
        ("background", "set", ["relative.png"]),
    ],
)
def test_unlisted_calls_are_guarded(target: str, function: str, args: list[str]) -> None:
    verdict = decide_ipc(target, function, args, config=Config(), held=NOTHING_HELD)
    assert (verdict.tier, verdict.allowed, verdict.askable) == (Tier.GUARDED, False, True)
    assert decide_ipc(target, function, args, config=Config(ask=True), held=NOTHING_HELD).would_ask
    assert decide_ipc(target, function, args, config=Config(allow=frozenset({"shell"})), held=NOTHING_HELD).allowed


EVERYTHING = Config(allow=frozenset({"shell"}), allow_groups=frozenset({"shell"}), ask=True)


@pytest.mark.parametrize("function", ["invokeLast", "invokelast", "INVOKELAST"])
def test_clicking_a_notification_is_never_let_through(function: str) -> None:
    verdict = decide_ipc("notifications", function, [], config=EVERYTHING, held=NOTHING_HELD, granted="g")
    assert (verdict.tier, verdict.allowed, verdict.askable) == (Tier.BLOCKED, False, False)


@pytest.mark.parametrize(
    ("target", "function", "args"),
    [
        (PLUGIN_ID, "stop", []),
        (PLUGIN_ID, "status", ["x"]),
        (PLUGIN_ID.upper(), "stop", []),
        ("shell", "setPluginEnabled", [PLUGIN_ID, "false"]),
        ("shell", "summon", ["omarchy.menu", '{"x":"io\\u002egithub.bruce\\u002dforte.mcp-server"}']),
        ("shell", "summon", ["x", "io%2Egithub.bruce-forte%2emcp-server"]),
        ("shell", "call", ["x", "y", "io.github.bruce_forte.OmarchyMcp1"]),
        ("shell", "call", ["x", "run", "systemctl --user stop omarchy-mcp.service"]),
        ("shell", "rescanPlugins", []),
        ("shell", "reloadConfig", []),
        ("notifications", "dismissAll", []),
        ("notifications", "dismiss", ["Approval"]),
        ("notifications", "clear", []),
        ("notifications", "setDnd", ["true"]),
        ("notifications", "showHistory", []),
        ("osd", "show", ['{"message": "Approval needed: x"}']),
        ("osd", "show", ['{"message": "Ap\\x70roval needed"}']),
    ],
)
def test_calls_that_reach_this_server_are_refused_whatever_is_allowed(
    target: str, function: str, args: list[str]
) -> None:
    verdict = decide_ipc(target, function, args, config=EVERYTHING, held=NOTHING_HELD, granted="g")
    assert (verdict.allowed, verdict.would_ask, verdict.askable, verdict.rule) == (
        False,
        False,
        False,
        "self-guard",
    )
    assert PLUGIN_ID in verdict.reason


def test_bad_names_and_bad_arguments_are_refused() -> None:
    for target, function, args in [
        ("-q", "x", []),
        ("a b", "x", []),
        ("a", "x\n", []),
        ("a", "b", ["../x"]),
        ("", "", []),
    ]:
        verdict = decide_ipc(target, function, args, config=EVERYTHING, held=NOTHING_HELD)
        assert not verdict.allowed
        assert not verdict.would_ask


def test_the_person_can_deny_a_listed_call_by_function_or_target() -> None:
    for entry in ("shell media playpause", "shell media", "shell"):
        verdict = decide_ipc("media", "playPause", [], config=Config(deny=frozenset({entry})), held=NOTHING_HELD)
        assert (verdict.allowed, verdict.askable, verdict.rule) == (False, False, f"deny:{entry}")


def test_every_row_has_a_reason_and_is_found_by_its_own_shape() -> None:
    assert all(row.reason for row in TABLE.values())
    assert row_for("shell", "ping", []) is not None
    assert row_for("shell", "ping", ["x"]) is None


@pytest.mark.parametrize(
    ("binary", "args"),
    [
        ("omarchy-restart-shell", []),
        ("omarchy-refresh-shell", []),
        ("omarchy-bar", ["defaults"]),
        ("omarchy-bar", ["reset"]),
        ("omarchy-plugin", ["rescan"]),
        ("omarchy-plugin", ["disable", PLUGIN_ID]),
        ("omarchy-refresh-config", ["omarchy/shell.json"]),
        ("omarchy-notification-dismiss", ["anything"]),
        ("omarchy-toggle-notification-silencing", []),
        ("omarchy-restart-app", ["quickshell"]),
        ("omarchy-restart-app", ["/usr/bin/qs", "-c", "x"]),
        ("omarchy-toggle", ["omarchy-mcp.service", "on"]),
        ("omarchy-notification-send", ["Approval needed: theme"]),
        ("omarchy-launch-editor", ["/home/me/.config/omarchy/mcp/config.toml"]),
        ("omarchy-hook", ["omarchy-", "mcp"]),
    ],
)
def test_commands_that_reach_this_server_are_named(binary: str, args: list[str]) -> None:
    why = guard(binary, args)
    assert why is not None
    assert PLUGIN_ID in why


@pytest.mark.parametrize(
    ("binary", "args"),
    [
        ("omarchy-theme-set", ["tokyo-night"]),
        ("omarchy-bar", ["position", "top"]),
        ("omarchy-plugin", ["list"]),
        ("omarchy-restart-app", ["waybar"]),
        ("omarchy-refresh-config", ["hypr/hyprlock.conf"]),
        ("omarchy-notification-send", ["Tests passed"]),
    ],
)
def test_commands_that_do_not_are_let_on(binary: str, args: list[str]) -> None:
    assert guard(binary, args) is None


@given(st.text(), st.text(), st.lists(st.text()))
def test_no_call_raises_and_only_listed_ones_run(target: str, function: str, args: list[str]) -> None:
    verdict = decide_ipc(target, function, args, config=Config(), held=NOTHING_HELD)
    assert not verdict.allowed or (target, function, len(args)) in TABLE
    assert rate_ipc(target, function, args).reason
    guard(target, args)
    guard_ipc(target, function, args)


@given(st.lists(st.text()))
def test_naming_this_server_is_seen_wherever_it_stands(args: list[str]) -> None:
    assert names_us([*args, PLUGIN_ID])
    assert names_us([f"{''.join(args)}OMARCHY-MCP.service"])
