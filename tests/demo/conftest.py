"""The demo desktop for each test."""

from pathlib import Path

import pytest

from .stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A demo desktop as it comes."""
    made = Stage(tmp_path)
    made.run("demo-desktop", "path")
    return made
