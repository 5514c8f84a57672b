"""How long a question takes on the bus, as a monitor sees it; the person's own time is not in it."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from system import desktop
from system.bus import NAME, Caller, connected, monitored, text
from system.consent import asking
from system.product import CONTROL, Product
from system.screen import screen
from system.world import wait_until

BATCH = 10
"""Questions before the control service is started anew, which forgets how many a client has asked."""

RULES = (
    f"type='method_call',destination='{NAME}',member='Ask'",
    f"type='signal',interface='{NAME}',member='QuestionOpened'",
    "type='signal',member='PropertiesChanged',arg0='org.freedesktop.systemd1.Service'",
)
JOB = "/unit/app_2domarchymcp_"
STARTED = "ExecMainStartTimestampMonotonic"


class Watch:
    """When one question was asked, when it was there, and when its command was started: seconds of one clock."""

    def __init__(self) -> None:
        self.asked = 0.0
        self.opened: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.started: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def see(self, member: str, path: str, body: list[Any]) -> None:
        """Take in what the bus shows."""
        now = time.monotonic()
        if member == "Ask":
            self.asked = now
        elif member == "QuestionOpened" and not self.opened.done():
            self.opened.set_result(now)
        elif member == "PropertiesChanged" and JOB in path and not self.started.done():
            begun = body[1].get(STARTED)
            if begun is not None and begun.value:
                self.started.set_result(begun.value / 1e6)  # of the service manager, when it forked


async def once(product: Product, person: Caller, pool: ThreadPoolExecutor, number: int) -> tuple[float, float]:
    """One question, answered at once: seconds until it is there, and from the answer until its command is started."""
    watch = Watch()
    async with monitored(product.world, watch.see, *RULES):
        calling = asyncio.get_running_loop().run_in_executor(pool, product.rpc().do, desktop.ASKED, str(number))
        opened = await asyncio.wait_for(watch.opened, 10)
        (row,) = await person.ask("Questions")
        answered = time.monotonic()
        assert await person.ask("Approve", "sa{sv}", row["id"], {"digest": text(row["digest"])}) is not None
        started = await asyncio.wait_for(watch.started, 10)
        assert (await calling).outcome == "ok"
    return opened - watch.asked, started - answered


async def _batch(product: Product, first: int) -> list[tuple[float, float]]:
    with ThreadPoolExecutor(1) as pool:
        async with connected(product.world) as connection:
            return [await once(product, Caller(connection), pool, first + number) for number in range(BATCH)]


def round_trips(product: Product, count: int) -> tuple[list[float], list[float]]:
    """So many questions: the seconds until each was there, and from its answer until its command was started."""
    taken: list[tuple[float, float]] = []
    with asking(product), screen(product):
        while len(taken) < count:
            product.world.systemctl("restart", CONTROL)
            wait_until(product.control.owner, "the control service is there")
            taken += asyncio.run(_batch(product, len(taken)))[1:]  # the first finds everything cold
    return [asked for asked, _ in taken], [started for _, started in taken]
