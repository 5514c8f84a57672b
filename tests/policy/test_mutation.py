"""Every dangerous fragment, put on top of every script that is rated safe, raises it."""

from pathlib import Path

import pytest

from omarchy_mcp.policy.ipc import ipc_effect
from omarchy_mcp.policy.tiers import Tier, rating_of
from omarchy_mcp.scan.capabilities import HARMLESS
from omarchy_mcp.scan.folder import Scan
from policy import omarchy
from scan.test_scan import FRAGMENTS

ROOT_HELPER = {"omarchy-mutation-root": b"#!/bin/bash\nsudo true\n"}


@pytest.mark.parametrize("which", ["demo", "real"])
def test_a_danger_raises_every_script_that_is_rated_safe(which: str) -> None:
    path: Path = omarchy.DEMO if which == "demo" else omarchy.real()
    scripts, ratings = omarchy.folder(path), omarchy.rated(path)
    safe = [c for c in omarchy.listed(path).commands if rating_of(ratings, c).tier is Tier.SAFE]
    assert len(safe) >= 20
    assert len(FRAGMENTS) >= 14
    missed = []
    for command in safe:
        head, _, body = scripts[command.binary].partition(b"\n")
        for fragment in FRAGMENTS:
            danger = fragment.replace("omarchy-root", "omarchy-mutation-root").encode()
            mutated = {**scripts, **ROOT_HELPER, command.binary: head + b"\n" + danger + b"\n" + body}
            found = Scan(mutated, ipc_effect).worst(command.binary)
            if found is None or not {finding.capability for finding in found} - HARMLESS:
                missed.append((command.route, fragment))
    assert missed == []
