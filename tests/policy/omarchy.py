"""A real command folder for tests, where there is one: OMARCHY_PATH names it."""

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

from omarchy_mcp.policy.registry import Registry, parse
from omarchy_mcp.policy.tiers import Ratings, rate

DEMO = Path(__file__).parents[2] / "demo"


def real() -> Path:
    """The real Omarchy these tests run against, or a skip that says how to have one."""
    path = os.environ.get("OMARCHY_PATH", "")
    if not path or not (Path(path) / "bin" / "omarchy").is_file():
        pytest.skip("OMARCHY_PATH names no Omarchy; set it to a checkout of basecamp/omarchy to run these")
    return Path(path)


@lru_cache(maxsize=4)
def folder(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((path / "bin").glob("omarchy*")) if file.is_file()}


@lru_cache(maxsize=4)
def listed(path: Path) -> Registry:
    command = [str(path / "bin" / "omarchy"), "commands", "--all", "--json"]
    environment = {"PATH": f"{path / 'bin'}:{os.environ['PATH']}", "OMARCHY_PATH": str(path), "HOME": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=True)
    assert json.loads(done.stdout)["ok"]
    return parse(done.stdout)


@lru_cache(maxsize=4)
def rated(path: Path) -> Ratings:
    return rate(listed(path), folder(path))
