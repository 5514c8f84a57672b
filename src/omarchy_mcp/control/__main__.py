"""The control service's life: on the bus, ready, until told to stop or the bus is gone."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from typing import Any

from omarchy_mcp import VERSION
from omarchy_mcp.control.jobs import Jobs
from omarchy_mcp.control.service import NAME, Control
from omarchy_mcp.control.units import Units
from omarchy_mcp.session import environment, log
from omarchy_mcp.session.bus import Bus, BusError
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.manager import Manager, NoManagerError
from omarchy_mcp.session.notify import ServiceManager
from omarchy_mcp.session.pause import Pause
from omarchy_mcp.session.records import Event

logger = logging.getLogger(__name__)

BUS_GONE = 3
NAME_TAKEN = 4


async def watchdog(service_manager: ServiceManager) -> None:
    """Tell the service manager that the event loop runs, twice as often as it asks."""
    while service_manager.watchdog_s:
        service_manager.watchdog()
        await asyncio.sleep(service_manager.watchdog_s / 2)


async def serve() -> int:
    """Serve until SIGTERM; returns the exit status.

    A lost bus ends the process: the service manager starts it again, which is simpler and surer than
    reconnecting with everything that was agreed on the old connection.
    """
    service_manager = ServiceManager()
    bus = await Bus.connect()
    manager = await Manager.connect(bus)
    runtime = environment.runtime_dir()
    pause = Pause(runtime)
    units = Units(bus, manager, pause)
    units.watch()
    audit = Writer()
    control = Control(bus, units, Jobs(manager, runtime / "jobs", pause), audit)
    await control.publish()
    if not await bus.request_name(NAME):
        logger.error("another process owns %s on the bus", NAME)
        return NAME_TAKEN
    audit.write(Event.LIFECYCLE, f"control service started, version {VERSION}", action="control_started")
    service_manager.ready("ready")
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    tasks: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(task) for task in (stop.wait(), watchdog(service_manager), control.follow())
    ]
    failed = asyncio.ensure_future(first_failure(tasks[1:]))
    await asyncio.wait({tasks[0], bus.gone, failed}, return_when=asyncio.FIRST_COMPLETED)
    service_manager.stopping("stopping")
    for task in (*tasks, failed):
        task.cancel()
    control.close()
    audit.close()
    await bus.close()
    return 0 if stop.is_set() else BUS_GONE


async def first_failure(tasks: Sequence["asyncio.Future[Any]"]) -> None:
    """Return when one of our own tasks has failed; what runs for ever must not end unnoticed."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        if not task.cancelled() and task.exception() is not None:
            logger.error("a task of ours failed", exc_info=task.exception())
            return
    await asyncio.get_running_loop().create_future()


def main(_arguments: list[str]) -> int:
    """Run the control service."""
    log.install()
    try:
        return asyncio.run(serve())
    except (BusError, NoManagerError) as error:
        logger.error("%s", error)  # noqa: TRY400 - a reason, not a fault of ours
        return BUS_GONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
