"""The rules in force as a client reads them, with what each decides. Pure module.

rules_in_force(config, verdicts) -> dict      verdicts: the outlook of every command under that configuration
"""

from collections import Counter
from collections.abc import Sequence

from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.review import RULE
from omarchy_mcp.policy.tiers import Tier
from omarchy_mcp.policy.verdict import Verdict

SHELL = "shell "


def rules_in_force(config: Config, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Put the rules and what they decide into one mapping; nothing is decided here."""
    decided: dict[str, list[str]] = {}
    for verdict in verdicts:
        decided.setdefault(verdict.rule, []).append(verdict.route)
    kinds = (("deny", config.deny), ("allow", config.allow), ("allow_groups", config.allow_groups))
    rules = [
        {"rule": f"{kind}:{name}", "covers": covered(name, sorted(decided.get(f"{kind}:{name}", [])))}
        for kind, names in kinds
        for name in sorted(names)
    ]
    tiers = Counter(str(verdict.tier) for verdict in verdicts)
    return {
        "only_safe": config.restrictive,
        "guarded": "asked" if config.ask and not config.restrictive else "refused",
        "ask_timeout_s": config.ask_timeout_s,
        "rules": rules,
        "held": sorted(decided.get(RULE, [])),
        "disabled_tools": sorted(config.disabled_tools),
        "commands": {str(tier): tiers[str(tier)] for tier in Tier},
        "runnable": sum(verdict.allowed for verdict in verdicts),
    }


def covered(name: str, routes: list[str]) -> list[str]:
    """What a rule decides; functions of the shell are no commands, and are named by the rule itself."""
    return routes or ([f"omarchy {name}"] if name.startswith(SHELL) else [])
