"""Argument rules of single routes: a guarded route is safe for arguments that fit one. A table with reasons.

Pure module. A rule can only lower, only from guarded, and only while the record declares the ``args`` the rule was
written for; when that text changes the rule lapses and says so.

    lowered(command, args, listings) -> Lowering       what the rule for this call says
    wanted(command, args) -> tuple[Kind, ...]          what has to be listed before it can say it
"""

# ruff: noqa: E501  # a table: one row, one line

import re
from collections.abc import Sequence
from dataclasses import dataclass

from omarchy_mcp.policy.listings import Kind, Listings, Resolution, resolve
from omarchy_mcp.policy.registry import Command, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``pattern`` is over all arguments, each after a line break; its groups are named for what must be there."""

    args: str
    pattern: re.Pattern[str]
    reason: str
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """``safe``: with these arguments the route is; ``refusal``: one of them names nothing; ``lapsed``: no rule now."""

    safe: bool = False
    reason: str = ""
    label: str = ""
    refusal: Resolution | None = None
    looked: bool = True
    lapsed: bool = False


URL = r"\nhttps?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*)?"
WORD = r"\n(?!-)[^\n]+"

_NOTIFY = (
    "[-a] [--app-name <app-name>] [-g <glyph>] [-u <low|normal|critical>] [--image <path-or-uri>] <headline> "
    "[description] [notify-send options]"
)
_MODES = "[smart|region|windows|fullscreen] [slurp|copy|save] [--editor=<name>]"
_PLUGIN = "<list|rescan|enable|disable|add|update|remove|clone|edit|validate> [...]"

# route: declared arguments, pattern, why these arguments are safe, a program that has to be there
_ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("theme set", "<theme-name>", r"\n(?P<theme>\w[\w .-]*)", "a name, not a path; only '../' made it any folder", ""),
    ("font set", "<font-name>", r"\n(?P<font>\w[\w .+-]*)", "letters and digits; only other characters mean something to sed", ""),
    ("toggle", "<flag-name> [toggle|on|off]", r"\n[a-z0-9][a-z0-9-]*(?:\n(?:toggle|on|off))?", "a flag, not a path", ""),
    ("hyprland window pop", "[width height x y]", r"(?:\n[0-9]{1,5}){0,4}", "numbers; only text reaches the Lua", ""),
    ("launch browser", "[url]", rf"(?:{URL})?", "one address; only options run programs", ""),
    ("launch webapp", "<url>", URL, "one address; only options run programs", ""),
    ("launch terminal", "[command...]", "", "without arguments it only opens a terminal", ""),
    ("launch editor", "[--inline] <path>", r"\n/[^\n]*", "one file; only options and +commands run code", ""),
    ("launch config editor", "<path>", r"\n(?P<file>/[^\n]*)", "a file that is there, as for the editor", ""),
    ("launch 1password", "", "", "when it is installed nothing is installed", "1password"),
    ("launch signal", "", "", "when it is installed nothing is installed", "signal-desktop"),
    ("launch spotify", "", "", "when it is installed nothing is installed", "spotify"),
    ("capture screenshot", _MODES, r"(?:\n(?:smart|region|windows|fullscreen))?(?:\n(?:slurp|copy|save))?",
     "modes only; --editor= names a program", ""),
    ("menu", "[toggle|summon|close|refresh|ping] [route]", r"\n(?:close|refresh|ping)", "these run no entry", ""),
    ("migrate", "[--pending]", r"\n--pending", "it only lists", ""),
    ("plugin", _PLUGIN, r"\nlist", "it only lists", ""),
    ("notification send", _NOTIFY,
     rf"(?:\n-g{WORD}|\n-u\n(?:low|normal)|\n--image\n/[^\n]+)*{WORD}(?:{WORD})?", "text, a glyph and a picture", ""),
)  # fmt: skip

# Where the pattern is not enough, because something happens when it is not there
_MUST_BE_THERE = frozenset({Kind.FILE, Kind.PROGRAM})

RULES: dict[str, Rule] = {
    route: Rule(args=args, pattern=re.compile(pattern), reason=reason, program=program)
    for route, args, pattern, reason, program in _ROWS
}


def may_be_safe(command: Command) -> bool:
    """Whether there are arguments for which this command is safe though it is not for all."""
    rule = RULES.get(key(command.route))
    return rule is not None and rule.args == command.args


def program_of(command: Command) -> str:
    """The program whose presence makes a command safe, "" when none does."""
    rule = RULES.get(key(command.route))
    return rule.program if rule is not None else ""


def wanted(command: Command, args: Sequence[str]) -> tuple[Kind, ...]:
    """What has to be listed before the rule for this call can say that it is safe."""
    rule, match = _match(command, args)
    if rule is None or match is None:
        return ()
    kinds = [Kind(name) for name, said in match.groupdict().items() if said is not None]
    return (*kinds, *([Kind.PROGRAM] if rule.program else []))


def lowered(command: Command, args: Sequence[str], listings: Listings) -> Lowering:
    """What the rule for this call says; nothing when there is none or the arguments do not fit it."""
    rule, match = _match(command, args)
    if rule is None or rule.args != command.args:
        return Lowering(lapsed=rule is not None)
    if match is None:
        return Lowering()
    named = [(Kind(name), said) for name, said in match.groupdict().items() if said is not None]
    if rule.program:
        named.append((Kind.PROGRAM, rule.program))
    label = ""
    for kind, said in named:
        if kind not in listings:
            if kind in _MUST_BE_THERE:
                return Lowering(looked=False)
            continue  # the pattern alone makes it harmless; what is listed gives it a label
        found = resolve(kind, said, listings[kind])
        if found.problem and kind is Kind.PROGRAM:
            return Lowering()  # not installed: it asks to install, which is the person's to decide
        if found.problem:
            return Lowering(refusal=found, looked=listings[kind] is not None)
        label = found.label
    return Lowering(safe=True, reason=rule.reason, label=label)


def _match(command: Command, args: Sequence[str]) -> tuple[Rule | None, re.Match[str] | None]:
    rule = RULES.get(key(command.route))
    if rule is None or rule.args != command.args:
        return rule, None
    return rule, rule.pattern.fullmatch("".join(f"\n{arg}" for arg in args))
