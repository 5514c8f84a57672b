"""Ways out of "safe" that were found in the real desktop: each ends refused or asked, by every spelling.

The rule these tests replace took a tier from a command's group and its declared root; NAIVE is that rule, and it
let each of these run.
"""

# ruff: noqa: E501  # tables: one row, one line

from pathlib import Path

import pytest

from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.registry import Command, find
from omarchy_mcp.policy.review import NOTHING_HELD
from omarchy_mcp.policy.selfguard import PLUGIN_ID
from omarchy_mcp.policy.tier_table import GUARDED_GROUPS, GUARDED_ROUTES
from omarchy_mcp.policy.tiers import Tier
from omarchy_mcp.policy.verdict import Verdict, decide, decide_ipc
from policy import omarchy

KEY = "../../../../.ssh/id_ed25519"
UNIT = "../../../../.config/systemd/user/omarchy-mcp.service"

# name, route, arguments
ROUTES: list[tuple[str, str, list[str]]] = [
    ("eval of the command", "launch or focus", ["x", "touch f"]),
    ("eval of the pattern", "launch or focus", ["x$(touch f)"]),
    ("eval behind an address", "launch or focus webapp", ["n", "https://x/$(touch f)"]),
    ("eval in a terminal", "launch or focus tui", ["x$(touch f)"]),
    ("a file as a hook", "hook", ["../../../../../tmp/f"]),
    ("a launcher that is code", "mise install", ['x"; touch f; echo "', "../../.config/omarchy/hooks/font-set", "true"]),
    ("sed by a line break", "font set", ["x/;e touch f\n\n#"]),
    ("sed without one", "font set", ["x/;e touch f"]),
    ("arithmetic", "transcode ascii", ["in.png", "out", "--width", "a[$(touch f)]"]),
    ("any file deleted", "toggle", [KEY, "off"]),
    ("our own unit masked", "toggle", [UNIT, "on"]),
    ("the arguments run", "restart app", ["bash", "-c", "touch f"]),
    ("the arguments run in a terminal", "launch tui", ["bash", "-c", "touch f"]),
    ("the arguments are the terminal's", "launch terminal", ["bash", "-c", "touch f"]),
    ("the argument is code", "launch floating terminal with presentation", ["touch f"]),
    ("any folder deleted", "theme remove", ["../../../Documents"]),
    ("an option that empties a folder", "theme install", ["-x"]),
    ("somebody's code in the compositor", "theme install", ["https://example.org/theme.git"]),
    ("a launcher in autostart", "webapp install", ["../../../.config/autostart/e", "https://x", "i", "sh -c 'touch f'"]),
    ("a launcher by a line break", "webapp install", ["e", "https://x\nExec=touch f", "i"]),
    ("a launcher of ours", "tui install", ["../autostart/e", "touch f", "float", "i"]),
    ("a drop-in for our own unit", "hook install", ["../../systemd/user/omarchy-mcp.service", "/tmp/x.conf"]),
    ("a hidden command by the dispatcher", "menu emoji", ["insert", "touch f"]),
    ("a root command by the dispatcher", "toggle", ["hybrid", "gpu"]),
    ("a root command by the dispatcher, joined", "toggle", ["hybrid-gpu", "on", "x"]),
    ("processes without end", "screensaver", []),
    ("a file sent out", "share", ["file", "/home/me/.ssh/id_ed25519"]),
    ("an option of the browser", "launch browser", ["--gpu-launcher=sh -c 'touch f'"]),
    ("an option after the address", "launch browser", ["https://x", "--gpu-launcher=sh"]),
    ("an option of the web app's browser", "launch webapp", ["https://x", "--load-extension=/tmp/x"]),
    ("a command of the editor", "launch config editor", ["+!touch f"]),
    ("a command after the file", "launch editor", ["/tmp/x", "+!touch f"]),
    ("our question forged", "notification send", ["Approval needed: omarchy update"]),
    ("our question forged by an option", "notification send", ["T", "B", "--app-name", "x"]),
    ("a click that runs", "notification send", ["T", "B", "--exec", "touch", "f"]),
    ("our question dismissed", "notification dismiss", ["Approval"]),
    ("our question kept away", "toggle notification silencing", []),
    ("an entry of the menu run", "menu", ["summon", "system.suspend"]),
    ("a widget that runs code", "bar plugin", ["set", "omarchy.clock", "exec", "touch f"]),
    ("a plugin nobody switched on", "bar plugin", ["add", "some.plugin"]),
    ("our widget gone", "bar", ["defaults"]),
    ("our widget gone by its file", "refresh config", ["omarchy/shell.json"]),
    ("our widget gone with the rest", "refresh shell", []),
    ("our plugin switched off", "plugin", ["disable", PLUGIN_ID]),
    ("our plugin loaded again", "plugin", ["rescan"]),
    ("the shell that asks ended", "restart shell", []),
    ("the shell ended as a program", "restart app", ["quickshell"]),
    ("Lua in the compositor", "hyprland window pop", ["os.execute('touch f') and 1", "1", "1", "1"]),
    ("nobody left to answer", "system lock", []),
    ("an editor of the caller's", "capture screenshot", ["region", "save", "--editor=/tmp/x"]),
    ("root by a dialogue", "dns", ["Cloudflare"]),
    ("every binary replaced", "dev link", ["/tmp/x"]),
]  # fmt: skip

CALLS: list[tuple[str, str, str, list[str]]] = [
    ("any method of any panel", "shell", "call", ["omarchy.menu", "runAction", "touch f"]),
    ("text into the focused window", "shell", "call", ["omarchy.emojis", "applySelected", "touch f"]),
    ("any file written", "shell", "summon", ["omarchy.menu", '{"mode":"input","selectionFile":"F","doneFile":"D"}']),
    ("an entry of the menu", "shell", "summon", ["omarchy.menu", '{"menu":"system.suspend"}']),
    ("an entry of the menu", "shell", "toggle", ["omarchy.menu", '{"menu":"system.suspend"}']),
    ("any file emptied", "image-selector", "cancel", ["/home/me/.bashrc"]),
    ("any file written", "image-selector", "open", ["a", "b", "c", "F", "D", "e", "f"]),
    ("our question clicked", "notifications", "invokeLast", []),
    ("our questions gone", "notifications", "dismissAll", []),
    ("our question gone", "notifications", "dismissOne", []),
    ("our questions gone", "notifications", "clear", []),
    ("our plugin off", "shell", "setPluginEnabled", [PLUGIN_ID, "false"]),
    ("our plugin hidden", "shell", "hide", [PLUGIN_ID]),
    ("our own stop", PLUGIN_ID, "stop", []),
    ("the screen locked", "lock", "lock", []),
]  # fmt: skip


def naive(command: Command) -> Tier:
    if command.requires_sudo:
        return Tier.BLOCKED
    guarded = command.group in GUARDED_GROUPS or command.route.removeprefix("omarchy ") in GUARDED_ROUTES
    return Tier.GUARDED if guarded else Tier.SAFE


def refused_or_asked(verdict: Verdict) -> bool:
    return not verdict.allowed


def spellings(command: Command) -> list[str]:
    """The route, its aliases, its file's route, the binary, and words run together as the dispatcher would."""
    route = command.route
    return [route, route.removeprefix("omarchy "), *command.aliases, command.filename_route, command.binary,
            f"  {route.replace(' ', '   ')} ", route.replace(" ", "-")]  # fmt: skip


def folder(which: str) -> Path:
    return omarchy.DEMO if which == "demo" else omarchy.real()


@pytest.mark.parametrize("which", ["demo", "real"])
@pytest.mark.parametrize(("name", "route", "args"), ROUTES, ids=[f"{name}: {route}" for name, route, _ in ROUTES])
def test_no_route_is_a_way_out(which: str, name: str, route: str, args: list[str]) -> None:
    path = folder(which)
    registry, ratings = omarchy.listed(path), omarchy.rated(path)
    command = find(registry, route)
    if command is None:
        assert which == "real", f"the demo desktop has no '{route}', which {name} needs"
        pytest.skip(f"this Omarchy has no '{route}'")
    for ask in (False, True):
        for spelling in spellings(command):
            verdict = decide(registry, spelling, args, ratings=ratings, config=Config(ask=ask), held=NOTHING_HELD)
            assert verdict.binary == command.binary
            assert refused_or_asked(verdict), (name, spelling, verdict)


def test_the_rule_before_let_most_of_them_run() -> None:
    registry = omarchy.listed(omarchy.DEMO)
    let_run = [name for name, route, _ in ROUTES if (c := find(registry, route)) and naive(c) is Tier.SAFE]
    assert len(let_run) >= 38


@pytest.mark.parametrize("which", ["demo", "real"])
@pytest.mark.parametrize(("name", "target", "function", "args"), CALLS)
def test_no_call_into_the_shell_is_a_way_out(
    which: str, name: str, target: str, function: str, args: list[str]
) -> None:
    path = folder(which)
    for ask in (False, True):
        config = Config(ask=ask)
        direct = decide_ipc(target, function, args, config=config, held=NOTHING_HELD)
        assert refused_or_asked(direct), name
        for quiet in ([], ["-q"]):
            routed = decide(omarchy.listed(path), "omarchy shell", [*quiet, target, function, *args],
                            ratings=omarchy.rated(path), config=config, held=NOTHING_HELD)  # fmt: skip
            assert refused_or_asked(routed), name
            assert (routed.tier, routed.would_ask) == (direct.tier, direct.would_ask) or routed.rule.startswith(
                "argument"
            )


@pytest.mark.parametrize("which", ["demo", "real"])
def test_a_words_route_is_never_longer_than_the_record_that_was_checked(which: str) -> None:
    path = folder(which)
    registry, ratings = omarchy.listed(path), omarchy.rated(path)
    for command in registry.commands:
        verdict = decide(registry, command.route, [], ratings=ratings, config=Config(), held=NOTHING_HELD)
        assert verdict.binary == command.binary
        assert (verdict.tier is Tier.BLOCKED) >= command.requires_sudo


@pytest.mark.parametrize("which", ["demo", "real"])
def test_root_is_refused_whatever_is_configured_and_no_setting_is_named(which: str) -> None:
    path = folder(which)
    registry, ratings = omarchy.listed(path), omarchy.rated(path)
    blocked = [
        c
        for c in registry.commands
        if decide(registry, c.route, [], ratings=ratings, config=Config(), held=NOTHING_HELD).tier is Tier.BLOCKED
    ]
    assert len(blocked) >= 10
    everything = Config(allow=frozenset(c.route.removeprefix("omarchy ") for c in blocked), ask=True,
                        allow_groups=frozenset(c.group for c in blocked))  # fmt: skip
    for command in blocked:
        verdict = decide(
            registry, command.route, [], ratings=ratings, config=everything, held=NOTHING_HELD, granted="any"
        )
        assert (verdict.allowed, verdict.askable, verdict.would_ask, verdict.ways_out) == (False, False, False, ())
        assert "policy lets no agent do that" in verdict.reason
        assert "policy.allow" not in verdict.reason
