"""Argument rules of single routes: a guarded route is safe for arguments that fit one of the table.

Pure module. A rule can only lower, only from guarded, and only while the record declares the ``args`` the rule was
written for; when that text changes the rule lapses and says so.

    lowered(command, args, listings) -> Lowering       what the rule for this call says
    wanted(command, args) -> tuple[Kind, ...]          what has to be listed before it can say it
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from omarchy_mcp.policy.listings import Kind, Listings, Resolution, resolve
from omarchy_mcp.policy.registry import Command, key
from omarchy_mcp.policy.route_table import RULES, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """``safe``: with these arguments the route is; ``refusal``: one of them names nothing; ``lapsed``: no rule now."""

    safe: bool = False
    reason: str = ""
    label: str = ""
    refusal: Resolution | None = None
    looked: bool = True
    lapsed: bool = False


# Where the pattern is not enough, because something happens when it is not there
_MUST_BE_THERE = frozenset({Kind.FILE, Kind.PROGRAM})


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
