"""What happens when the configuration changes while the server serves: in force, told to clients, announced."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

from omarchy_mcp.policy.config import Config
from omarchy_mcp.server.announce import Announcement, announce, faulty
from omarchy_mcp.server.clients import Clients
from omarchy_mcp.server.settings import AGAIN_S, Settings
from omarchy_mcp.server.toolset import Toolset
from omarchy_mcp.session import log
from omarchy_mcp.session.bus import Bus, BusError
from omarchy_mcp.session.contract import NAME, PATH
from omarchy_mcp.session.watching import Watch

LOOK_S = 2.0
"""How often the file is looked at where the kernel does not tell of changes."""


class Live:
    """Keeps the configuration in force what the file says."""

    def __init__(
        self, settings: Settings, toolset: Toolset, clients: Clients, bus: Bus | None, report: Callable[[], None]
    ) -> None:
        """`report` tells the control service how things are now."""
        self._settings = settings
        self._toolset = toolset
        self._clients = clients
        self._bus = bus
        self._report = report
        self._watch = Watch(settings.path)
        self._looking = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._faulty = ""
        self.moved = asyncio.Event()
        """Set when another configuration has come into force; cleared by whoever waits for it."""

    @property
    def problem(self) -> str:
        """Why the file is looked at every LOOK_S instead of being watched, or ""."""
        return self._watch.problem

    async def follow(self) -> None:
        """Look whenever something has happened to the file; runs until cancelled."""
        try:
            while True:
                before = self._watch.problem
                self._watch.arm()
                await self._look()
                if self._watch.problem != before:
                    self._report()
                seconds = LOOK_S if self._watch.problem else AGAIN_S if self._settings.gone else None
                await self._watch.wait(seconds)
        finally:
            self._watch.close()

    def reload(self) -> None:
        """Read the file at once, because somebody asks."""
        self._start(self._look(asked=True))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self, *, asked: bool = False) -> None:
        async with self._looking:
            before, problem = self._settings.current, self._settings.problem
            await (self._settings.reload() if asked else self._settings.look())
            after = self._settings.current
            if after is not before:
                await self._apply(before, after)
            if asked or after is not before or problem != self._settings.problem:
                self._report()
            self._tell_faults()

    async def _apply(self, before: Config, after: Config) -> None:
        """Do what follows from a change; telling it takes as long as it takes, and holds up no further change."""
        self.moved.set()
        log.set_level(after.log_level)
        if before.disabled_tools != after.disabled_tools and await self._toolset.offer(after.disabled_tools):
            self._start(self._clients.tell())
        self._tell(announce(before, after))

    def _tell_faults(self) -> None:
        """Tell the person once that the file is not in order, also when it was not so at the start."""
        fault, self._faulty = self._faulty, self._settings.problem
        if self._faulty not in ("", fault):
            self._tell(faulty(self._faulty, self._settings.current, rejected=self._settings.rejected))

    def _tell(self, said: Announcement | None) -> None:
        if said is not None and self._bus is not None:
            self._start(self._announce(self._bus, said))

    @staticmethod
    async def _announce(bus: Bus, said: Announcement) -> None:
        with contextlib.suppress(BusError):  # without a control service there is nobody to announce it
            await bus.call(NAME, PATH, NAME, "Announce", "ss", [said.summary, "\n".join(said.lines)])
