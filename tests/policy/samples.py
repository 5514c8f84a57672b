"""Registries, records and ratings the policy tests share."""

import json
from typing import Any

from omarchy_mcp.policy.registry import Command, Registry, parse
from omarchy_mcp.policy.tiers import Rating, Ratings, Tier
from omarchy_mcp.scan.capabilities import Capability


def record(route: str, **changes: Any) -> dict[str, Any]:
    words = route.split()
    return {
        "route": route,
        "binary": "-".join(words),
        "group": words[1],
        "name": " ".join(words[2:]),
        "summary": "",
        "args": "",
        "examples": [],
        "requires_sudo": False,
        "hidden": False,
        "aliases": [],
        "filename_route": route,
        "routes": [route],
    } | changes


def registry(*records: Any) -> Registry:
    return parse(json.dumps({"ok": True, "commands": list(records)}))


def command(route: str, **changes: Any) -> Command:
    return registry(record(route, **changes)).commands[0]


SAFE = Rating(tier=Tier.SAFE, reason="nothing in it is dangerous", rule="scan", origin="scan")
GUARDED = Rating(
    tier=Tier.GUARDED, reason="it runs its arguments", rule="scan:exec", origin="scan", capabilities=(Capability.EXEC,)
)
BLOCKED = Rating(
    tier=Tier.BLOCKED, reason="it needs root", rule="scan:root", origin="scan", capabilities=(Capability.ROOT,)
)


def ratings(known: Registry, rating: Rating = SAFE, **by_binary: Rating) -> Ratings:
    named = {name.replace("_", "-"): value for name, value in by_binary.items()}
    return Ratings(by_binary={c.binary: named.get(c.binary, rating) for c in known.commands})
