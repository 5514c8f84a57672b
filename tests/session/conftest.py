"""The adapters of session/ against the real thing: a bus, a manager and a journal of the tests' own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from system.fixtures import installed_fixture, pytest_runtest_makereport
from system.product import Product

__all__ = ["installed_fixture", "pytest_runtest_makereport"]

Value = TypeVar("Value")
Run = Callable[[Awaitable[Value]], Value]


@pytest.fixture(autouse=True)
def in_the_session(installed: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process speaks to the private session's bus and manager, and to no other."""
    for name in ("INVOCATION_ID", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        if name in installed.world.env:
            monkeypatch.setenv(name, installed.world.env[name])


async def within(awaitable: Awaitable[Value], seconds: float = 5.0) -> Value:
    """Wait for an event, never for long."""
    return await asyncio.wait_for(awaitable, seconds)
