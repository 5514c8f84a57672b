"""Each command's rating: the worst it can do over any arguments, and why.

Pure module. The scan of its script decides; floors and pins only ever raise. One rating per binary feeds search,
resources, the gate and the preview; none of them rates anew.

    rate(registry, scripts) -> Ratings        scripts: the text of every file in the command folder, by name
    rating_of(ratings, command) -> Rating     guarded when nothing is known
    changed(ratings, binary, digests) -> bool whether a script that had a say in the rating is another by now
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from omarchy_mcp.policy.ipc import ipc_effect
from omarchy_mcp.policy.rating import Rating, Tier
from omarchy_mcp.policy.registry import Command, Registry, key
from omarchy_mcp.policy.tier_table import GUARDED_GROUPS, GUARDED_ROUTES, PINS, SAFE_GROUPS
from omarchy_mcp.scan.capabilities import HARMLESS, REASONS, Capability, Finding
from omarchy_mcp.scan.folder import Scan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """The ratings of one registry by binary, the scripts behind each, and the digest of every script."""

    by_binary: Mapping[str, Rating] = field(default_factory=dict)
    closures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


_UNRATED = Rating(tier=Tier.GUARDED, reason="it was never looked at", rule="unrated", origin="policy")
_UNREADABLE = Rating(
    tier=Tier.GUARDED,
    reason="its script cannot be read",
    rule="unreadable",
    origin="scan",
    capabilities=(Capability.UNCLEAR,),
)
_DECLARED_ROOT = Rating(
    tier=Tier.BLOCKED,
    reason=REASONS[Capability.ROOT],
    rule="declared-root",
    origin="registry",
    capabilities=(Capability.ROOT,),
)


def rating_of(ratings: Ratings, command: Command) -> Rating:
    """The command's rating; guarded when nothing is known, blocked when it declares root."""
    return _DECLARED_ROOT if command.requires_sudo else ratings.by_binary.get(command.binary, _UNRATED)


def rate(registry: Registry, scripts: Mapping[str, bytes]) -> Ratings:
    """Rate every command of a registry; never raises."""
    scan = Scan(scripts, ipc_effect)
    rated = {command.binary: _rate(command, scan) for command in registry.commands}
    return Ratings(
        by_binary=rated,
        closures={binary: scan.closure(binary) for binary in rated},
        digests={name: digest(text) for name, text in scripts.items()},
    )


def digest(text: bytes) -> str:
    """What a script is recognised by."""
    return hashlib.sha256(text).hexdigest()


def changed(ratings: Ratings, binary: str, digests: Mapping[str, str]) -> bool:
    """Whether any script behind a rating is another one now, gone, or there where it was not."""
    closure = ratings.closures.get(binary)
    return closure is None or any(ratings.digests.get(name) != digests.get(name) for name in closure)


def _rate(command: Command, scan: Scan) -> Rating:
    if command.requires_sudo:
        return _DECLARED_ROOT
    findings = scan.worst(command.binary)
    if findings is None:
        return _UNREADABLE
    found = {finding.capability for finding in findings}
    capabilities = tuple(capability for capability in REASONS if capability in found)
    dangerous = [capability for capability in capabilities if capability not in HARMLESS]
    if dangerous:
        worst = dangerous[0]
        reason = f"{REASONS[worst]} ({_where(findings, worst)})"
        tier = Tier.BLOCKED if worst is Capability.ROOT else Tier.GUARDED
        return Rating(tier=tier, reason=reason, rule=f"scan:{worst}", origin="scan", capabilities=capabilities)
    route = key(command.route)
    if route in PINS:
        return Rating(tier=Tier.GUARDED, reason=PINS[route], rule="pin", origin="table", capabilities=capabilities)
    floor = _floor(command, inert=not found & {Capability.WRITES, Capability.CHANGES})
    if floor:
        return Rating(tier=Tier.GUARDED, reason=floor, rule="floor", origin="table", capabilities=capabilities)
    reason = "nothing it does is dangerous, whatever its arguments"
    return Rating(tier=Tier.SAFE, reason=reason, rule="scan", origin="scan", capabilities=capabilities)


def _floor(command: Command, *, inert: bool) -> str:
    """Why a command is guarded though its script shows nothing; a script that changes nothing needs no floor."""
    if key(command.route) in GUARDED_ROUTES:
        return "this route is guarded"
    if inert:
        return ""
    if command.group in GUARDED_GROUPS:
        return f"group '{command.group}' is guarded"
    return "" if command.group in SAFE_GROUPS else f"group '{command.group}' is not one known to be harmless"


def _where(findings: Iterable[Finding], capability: Capability) -> str:
    """Where a capability was seen first, as script and line."""
    name, _, line = min(finding.where for finding in findings if finding.capability is capability).rpartition(":")
    return f"{name}, line {line}"


__all__ = ["Rating", "Ratings", "Tier", "changed", "digest", "rate", "rating_of"]
