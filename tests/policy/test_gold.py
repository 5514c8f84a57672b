"""The scan against a table a person made: OMARCHY_PATH names the checkout, OMARCHY_MCP_GOLD the table.

OMARCHY_PATH=… OMARCHY_MCP_GOLD=….jsonl pytest -s tests/policy/test_gold.py
"""

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from omarchy_mcp.policy.registry import find
from omarchy_mcp.policy.tiers import Tier, rate, rating_of
from policy import omarchy

ORDER = [Tier.SAFE, Tier.GUARDED, Tier.BLOCKED]


def gold() -> list[tuple[str, Tier]]:
    path = os.environ.get("OMARCHY_MCP_GOLD", "")
    if not path:
        pytest.skip("OMARCHY_MCP_GOLD names no gold table (one JSON record a line, with route and expected_tier)")
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(row["route"], Tier(row["expected_tier"])) for row in rows]


def test_no_command_is_rated_below_the_gold_table() -> None:
    path, wanted = omarchy.real(), gold()
    registry, ratings = omarchy.listed(path), omarchy.rated(path)
    table: Counter[tuple[Tier, Tier]] = Counter()
    under, over, missing = [], [], []
    for route, tier in wanted:
        command = find(registry, route)
        if command is None:
            missing.append(route)
            continue
        rating = rating_of(ratings, command)
        table[tier, rating.tier] += 1
        if ORDER.index(rating.tier) < ORDER.index(tier):
            under.append((route, rating.rule))
        if ORDER.index(rating.tier) > ORDER.index(tier):
            over.append((route, tier.value, rating.tier.value, rating.reason))
    agreement = sum(table[tier, tier] for tier in ORDER) / max(1, sum(table.values()))
    print(f"\n{'gold':>8} | " + " ".join(f"{tier.value:>8}" for tier in ORDER))
    for tier in ORDER:
        print(f"{tier.value:>8} | " + " ".join(f"{table[tier, rated]:>8}" for rated in ORDER))
    print(f"agreement {agreement:.4f}, under {len(under)}, over {len(over)}, not in this registry {len(missing)}")
    for row in over:
        print("over:", *row, sep="  ")
    assert under == []
    assert len(over) <= 15
    assert agreement >= 0.95


def test_the_whole_registry_is_scanned_in_two_seconds() -> None:
    path = omarchy.real()
    registry, scripts = omarchy.listed(path), omarchy.folder(path)
    if sys.gettrace() is not None:
        pytest.skip("coverage is being measured, which takes its own time")
    started = time.process_time()
    rate(registry, scripts)
    took = time.process_time() - started
    print(f"\nscan of {len(registry.commands)} commands, {len(scripts)} scripts: {took:.2f} s of processor time")
    assert took < 2.0 or os.environ.get("OMARCHY_MCP_SLOW_MACHINE")


def test_every_row_of_the_real_registry_is_read() -> None:
    registry = omarchy.listed(omarchy.real())
    assert registry.problems == ()
    assert len(registry.commands) > 300
