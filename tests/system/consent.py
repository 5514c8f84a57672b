"""What tests of consent share: rules that ask, calls that wait, answers, and what must hold once a question is over."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from system import desktop, journal
from system.bus import text
from system.client import Answer, Era
from system.product import CONTROL, Product
from system.screen import Screen, screen
from system.world import wait_until

DEADLINE = 5
"""Seconds for an answer, the least the configuration takes; a row that waits for it uses this."""

PATIENT = 60


@contextmanager
def asking(product: Product, seconds: int | None = PATIENT, more: str = "") -> Iterator[None]:
    """The person's configuration says to ask, for a while; memory of earlier questions is gone.

    With no `seconds` it says nothing of them.
    """
    timeout = f"ask_timeout_s = {seconds}\n" if seconds is not None else ""
    product.desktop.write_config(f"ask = true\n{timeout}{more}")
    product.world.systemctl("restart", CONTROL)
    product.wake()
    product.control.call("Reload")  # before systemd 253 it returns when the server was told, not when it has read
    wait_until(lambda: rule(product) in ("ask", "deny"), "the rules are in force")
    try:
        yield
    finally:
        product.desktop.write_config()
        (product.state / "consent.json").unlink(missing_ok=True)
        if product.healthy():  # else it reads at its start
            product.control.call("Reload")


def rule(product: Product) -> str:
    """What would become of the guarded call now."""
    told = product.rpc().call("omarchy_run", route=desktop.ASKED, args=[], preview=True).data
    return "ask" if told["would_ask"] else "deny" if str(told["rule"]).startswith("deny") else "refuse"


@pytest.fixture(name="asked")
def asked_fixture(product: Product) -> Iterator[Product]:
    """A product that asks."""
    with asking(product):
        yield product


@pytest.fixture(name="shown")
def shown_fixture(asked: Product) -> Iterator[Screen]:
    """Its screen."""
    with screen(asked) as it:
        yield it


@pytest.fixture(name="pool")
def pool_fixture() -> Iterator[ThreadPoolExecutor]:
    """Clients that call at the same time."""
    with ThreadPoolExecutor(8) as pool:
        yield pool


def call(product: Product, pool: ThreadPoolExecutor, *args: str, era: Era = Era.MODERN) -> "Future[Answer]":
    """Begin the guarded call."""
    client = product.rpc(era)
    return pool.submit(client.do, desktop.ASKED, *args, seconds=120)


def questions(product: Product) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = product.control.call("Questions") or []
    return rows


def heard(product: Product) -> None:
    """What was on the bus before this has been handled by the control service and by the server: buses keep order."""
    questions(product)
    assert product.healthy()


def question(product: Product) -> dict[str, Any]:
    """The one open question, as the person's side has it."""
    rows = wait_until(lambda: questions(product), "an open question", 15)
    assert len(rows) == 1, rows
    return rows[0]


def approve(product: Product, row: dict[str, Any], **options: str) -> str:
    """Approve over the bus; returns the error's name, "" for none."""
    given = {"digest": row["digest"], **options}
    words = {key: text(value) for key, value in given.items()}
    return product.control.raw("Approve", "sa{sv}", (row["id"], words))[0]


def ended(
    product: Product, consent: str, shown: Screen | None = None, runs: int = 0, besides: Sequence[str] = ()
) -> None:
    """See what must hold after a question: how often it ran, nothing on the screen, one record of how it ended.

    `besides` are the ends of other questions of the same test, in any order.
    """
    assert len(product.desktop.runs()) == runs
    wait_until(lambda: not questions(product), "no question is open")
    if shown is not None:
        wait_until(lambda: not shown.questions(), "nothing is left on the screen")
    if not journal.readable(product.world):
        return
    since = BEGUN[0]

    def records() -> list[journal.Entry]:
        return [each for each in product.records("question", since=since) if "OMARCHY_MCP_CONSENT" in each]

    wanted = sorted([consent, *besides])
    wait_until(lambda: len(records()) >= len(wanted), "a record of the question")
    assert sorted(each["OMARCHY_MCP_CONSENT"] for each in records()) == wanted


BEGUN = [0.0]


@pytest.fixture(autouse=True)
def begun_fixture() -> None:
    """When the test began, for reading its records."""
    BEGUN[0] = journal.moment()
