"""The decision over one call, from a registry, ratings, the person's configuration and what was looked up.

Pure module. Order: unknown, blocked, deny, self-guard, argument rules, grants, review, allow, tier. One value
answers the gate, the search results, the resources and the preview.

    decide(registry, route, args, *, ratings, config, held, listings={}, granted="") -> Verdict
    decide_ipc(target, function, args, *, config, held, granted="") -> Verdict
    outlook(command, *, ratings, config, held) -> Verdict    the worst over any arguments, for lists
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from omarchy_mcp.policy import arguments, review, selfguard
from omarchy_mcp.policy.arguments import Fault
from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.ipc import rate_ipc, well_named
from omarchy_mcp.policy.listings import NO_LISTINGS, Listings
from omarchy_mcp.policy.registry import Command, Registry, find, key, near
from omarchy_mcp.policy.review import Held
from omarchy_mcp.policy.routes import Lowering, lowered
from omarchy_mcp.policy.tiers import Rating, Ratings, Tier, rating_of
from omarchy_mcp.scan.capabilities import Capability

SHELL_BINARY = "omarchy-shell"
SHELL_ROUTE = "omarchy shell"
MAX_SHOWN = 120  # characters of a name somebody else wrote, in a text of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happens to one call, and every word anyone is told about it.

    ``allowed``: run it. ``would_ask``: put it to the person first. Neither: refuse with ``reason``.
    ``lapsed``: a rule for these arguments was written for another version of the command, so it says nothing.
    ``askable``: policy.ask would make a question of it. ``binary`` is empty when nothing could be run.
    ``held``: what is new about the command since it was last acknowledged, empty when nothing is.
    """

    route: str
    binary: str
    args: tuple[str, ...]
    tier: Tier
    allowed: bool
    askable: bool
    would_ask: bool
    reason: str
    rule: str
    origin: str
    capabilities: tuple[Capability, ...] = ()
    ways_out: tuple[str, ...] = ()
    did_you_mean: tuple[str, ...] = ()
    target: str = ""
    lapsed: bool = False
    held: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call as the person's lists may name it, and as texts of ours show it."""

    shown: str
    verb: str
    binary: str
    args: tuple[str, ...]
    names: frozenset[str]
    group: str
    held: str


def decide(
    registry: Registry,
    route: str,
    args: Sequence[str],
    *,
    ratings: Ratings,
    config: Config,
    held: Held,
    listings: Listings = NO_LISTINGS,
    granted: str = "",
) -> Verdict:
    """Decide one call; ``granted`` names a grant that covers exactly it. Never raises."""
    command = find(registry, route)
    if command is None:
        return _unknown(registry, route, tuple(args))
    rating = rating_of(ratings, command)
    call = _call(command, tuple(args), review.why(held, command.route, rating.tier))
    fault = arguments.fault_in(args, command.args)
    words = list(args[1:] if list(args[:1]) == ["-q"] else args) if command.binary == SHELL_BINARY else []
    if len(words) >= 2 and rating.tier is not Tier.BLOCKED:
        guarded = selfguard.guard_ipc(words[0], words[1], words[2:])
        rating = rate_ipc(words[0], words[1], words[2:])
        names = call.names | _ipc_call(words[0], words[1], (), "").names
        call = replace(call, names=names, held=review.why(held, command.route, rating.tier))
        return _judge(call, rating, config, granted, guarded=guarded, fault=fault or _ipc_fault(words))
    guarded = selfguard.guard(command.binary, args)
    if rating.tier is not Tier.GUARDED:
        return _judge(call, rating, config, granted, guarded=guarded, fault=fault)
    lowering = lowered(command, args, listings)
    if lowering.safe:
        rule = f"arguments:{key(command.route)}"
        rating = replace(rating, tier=Tier.SAFE, reason=lowering.reason, rule=rule, origin="table")
    verdict = _judge(call, rating, config, granted, guarded=guarded, fault=fault or _unresolved(lowering))
    near_misses = lowering.refusal.near if lowering.refusal is not None else ()
    return replace(verdict, target=lowering.label, lapsed=lowering.lapsed, did_you_mean=near_misses)


def _unresolved(lowering: Lowering) -> Fault | None:
    """An argument that names nothing is refused before anyone is asked."""
    if lowering.refusal is None:
        return None
    return Fault(rule="not-found" if lowering.looked else "could-not-look", text=lowering.refusal.problem)


def decide_ipc(
    target: str, function: str, args: Sequence[str], *, config: Config, held: Held, granted: str = ""
) -> Verdict:
    """Decide one call into the shell. Never raises."""
    words = (target, function, *args)
    rating = rate_ipc(target, function, args)
    return _judge(
        _ipc_call(target, function, tuple(args), review.why(held, SHELL_ROUTE, rating.tier)),
        rating,
        config,
        granted,
        guarded=selfguard.guard_ipc(target, function, args),
        fault=arguments.fault(words) or _ipc_fault(words),
    )


def outlook(command: Command, *, ratings: Ratings, config: Config, held: Held) -> Verdict:
    """What a command comes to before anything is known of its arguments: the worst of them."""
    rating = rating_of(ratings, command)
    call = _call(command, (), review.why(held, command.route, rating.tier))
    return _judge(call, rating, config, "", guarded=None, fault=None)


def _judge(
    call: _Call, rating: Rating, config: Config, granted: str, *, guarded: str | None, fault: Fault | None
) -> Verdict:
    """The order of decisions, once for all doors."""
    if rating.tier is Tier.BLOCKED:
        why = f"{rating.reason}, and policy lets no agent do that"
        return _verdict(call, rating, why, rule=rating.rule, origin=rating.origin)
    denied = sorted(call.names & config.deny)
    if denied:
        return _verdict(call, rating, "the person at the desk denies it", rule=f"deny:{denied[0]}", origin="config")
    if guarded is not None:
        return _verdict(call, rating, guarded, rule="self-guard", origin="policy")
    if fault is not None:
        return _verdict(call, rating, fault.text, rule=fault.rule, origin="policy")
    if call.held:  # what makes it safe for some arguments was written for what was there before
        rating = replace(rating, tier=Tier.GUARDED)
    return _weigh(call, rating, config, granted)


def _weigh(call: _Call, rating: Rating, config: Config, granted: str) -> Verdict:
    """The rest of the order, for a call that nothing forbids."""
    if rating.tier is Tier.SAFE:
        return _verdict(call, rating, rating.reason, rule=rating.rule, origin=rating.origin, allowed=True)
    if config.restrictive:
        why = "the configuration could not be read, so only safe calls run"
        return _verdict(call, rating, why, rule="restrictive", origin="config")
    if granted:
        return _verdict(call, rating, "a grant covers it", rule=f"grant:{granted}", origin="grant", allowed=True)
    if call.held:
        why = f"{call.held}, and it is held until acknowledged ('omarchy-mcpctl review' or the panel)"
        return _guarded(call, replace(rating, reason=why, rule=review.RULE, origin="policy"), config)
    allow = sorted(call.names & config.allow)
    if allow or call.group in config.allow_groups:
        rule = f"allow:{allow[0]}" if allow else f"allow_groups:{call.group}"
        return _verdict(call, rating, "the configuration allows it", rule=rule, origin="config", allowed=True)
    return _guarded(call, rating, config)


def _guarded(call: _Call, rating: Rating, config: Config) -> Verdict:
    verdict = _verdict(call, rating, f"{rating.reason}, so the person at the desk decides", rule=rating.rule,
                       origin=rating.origin)  # fmt: skip
    if config.ask:
        return replace(verdict, askable=True, would_ask=True)
    ways_out = (
        "the person can acknowledge it, and config.toml counts for it again: omarchy-mcpctl review, or the panel"
        if call.held
        else f'the person can let it run always: add "{call.shown}" to policy.allow in config.toml',
        "the person can be asked each time: set policy.ask = true in config.toml",
    )
    return replace(verdict, askable=True, ways_out=ways_out)


def _verdict(call: _Call, rating: Rating, why: str, *, rule: str, origin: str, allowed: bool = False) -> Verdict:
    return Verdict(
        route=call.shown, binary=call.binary, args=call.args, tier=rating.tier, allowed=allowed, askable=False,
        would_ask=False, reason=why if allowed else f"cannot {call.verb} '{call.shown}': {why}", rule=rule,
        origin=origin, capabilities=rating.capabilities, held=call.held,
    )  # fmt: skip


def _unknown(registry: Registry, route: str, args: tuple[str, ...]) -> Verdict:
    shown = _printable(" ".join(route.split()))
    return Verdict(
        route=shown, binary="", args=args, tier=Tier.BLOCKED, allowed=False, askable=False, would_ask=False,
        reason=f"cannot run '{shown}': there is no such command; search for one", rule="unknown-route",
        origin="registry", did_you_mean=near(registry, route),
    )  # fmt: skip


def _call(command: Command, args: tuple[str, ...], held: str) -> _Call:
    names = frozenset(map(key, (command.route, *command.aliases, command.filename_route)))
    return _Call(shown=command.route, verb="run", binary=command.binary, args=args, names=names,
                 group=key(command.group), held=held)  # fmt: skip


def _ipc_call(target: str, function: str, args: tuple[str, ...], held: str) -> _Call:
    shown = f"omarchy shell {target} {function}"
    names = frozenset(map(key, (shown, f"shell {target}", "shell")))
    return _Call(shown=_printable(shown), verb="call", binary=SHELL_BINARY, args=(target, function, *args),
                 names=names, group="shell", held=held)  # fmt: skip


def _ipc_fault(words: Sequence[str]) -> Fault | None:
    if well_named(words[0], words[1]):
        return None
    return Fault(rule="ipc-name", text="a target and a function are names of letters, digits, '.', '_' and '-'")


def _printable(text: str) -> str:
    """Text somebody else wrote, safe in a line of ours."""
    return "".join(char if char.isprintable() else "?" for char in text[:MAX_SHOWN])
