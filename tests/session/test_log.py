"""Our own diagnostics."""

import logging
from collections.abc import Iterator

import pytest

from omarchy_mcp.policy.config import LOG_LEVELS
from omarchy_mcp.session import log


@pytest.fixture(name="logger")
def ours() -> Iterator[logging.Logger]:
    logger = logging.getLogger("omarchy_mcp")
    before = logger.level
    yield logger
    logger.setLevel(before)


@pytest.mark.parametrize(
    ("name", "level"), [*zip(LOG_LEVELS, (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR), strict=True)]
)
def test_every_level_of_the_configuration_is_one(logger: logging.Logger, name: str, level: int) -> None:
    log.set_level(name)
    assert logger.level == level
