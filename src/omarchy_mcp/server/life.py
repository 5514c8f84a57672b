"""The server's life: what it is given, ready, reloads, and an end that writes everything down."""

import asyncio
import contextlib
import gc
import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass

from omarchy_mcp import VERSION
from omarchy_mcp.desktop.omarchy import Omarchy
from omarchy_mcp.server.acting import Acting
from omarchy_mcp.server.app import build
from omarchy_mcp.server.asking import Asking
from omarchy_mcp.server.clients import Clients
from omarchy_mcp.server.gate import Gate
from omarchy_mcp.server.held import Held
from omarchy_mcp.server.http import Door, Server, configure
from omarchy_mcp.server.live import Live
from omarchy_mcp.server.offering import Offering
from omarchy_mcp.server.recording import Recorder
from omarchy_mcp.server.reviewing import Reviewing
from omarchy_mcp.server.running import Runner
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.server.together import Together
from omarchy_mcp.server.tokens import Digests, Tokens
from omarchy_mcp.server.tools import NAMES, Tools
from omarchy_mcp.server.toolset import Toolset
from omarchy_mcp.session import environment, log
from omarchy_mcp.session.bus import DBUS, Bus, BusError, Signal
from omarchy_mcp.session.contract import NAME
from omarchy_mcp.session.files import read_key
from omarchy_mcp.session.jobs import Jobs
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.manager import Manager, NoManagerError
from omarchy_mcp.session.notify import Passed, ServiceManager
from omarchy_mcp.session.pause import Pause
from omarchy_mcp.session.records import Event

logger = logging.getLogger(__name__)

FAILED = 1
BUS_GONE = 3
GONE = "the bus is gone"
BROKEN = "a part of it failed"
COUNT_S = 0.05


@dataclass(slots=True, kw_only=True)
class Desktop:
    """The session's side: absent pieces mean that nothing can be run, and the reason is said with each call."""

    bus: Bus | None = None
    manager: Manager | None = None
    jobs: Jobs | None = None
    omarchy: Omarchy | None = None
    missing: str = ""


async def find_desktop(service_manager: ServiceManager) -> Desktop:
    """Connect to the session's bus and service manager."""
    try:
        bus = await Bus.connect()
    except BusError as error:
        return Desktop(missing=error.text)
    try:
        manager = await Manager.connect(bus)
    except (NoManagerError, BusError) as error:
        return Desktop(bus=bus, missing=str(error))
    jobs = Jobs(manager, environment.runtime_dir() / "jobs", service_manager.keep)
    omarchy = Omarchy(manager, jobs, environment.cache_dir())
    return Desktop(bus=bus, manager=manager, jobs=jobs, omarchy=omarchy)


class Life:
    """One run of the server."""

    def __init__(self, passed: Passed) -> None:
        self._passed = passed
        self._service_manager = ServiceManager()
        self._audit = Writer(self._audit_changed)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._report: Callable[[], None] | None = None
        self._settings = Settings(environment.config_file(), self._audit, NAMES)
        self._tokens = Tokens(environment.state_dir(), self._audit, self._admitted)
        self._clients = Clients()
        self._why = "told to"
        self._toolset: Toolset
        self._door: Door
        self._live: Live
        self._held: Held

    async def run(self) -> int:
        """Serve until told to stop; returns the exit status."""
        self._loop = asyncio.get_running_loop()
        self._settings.load()
        log.set_level(self._settings.current.log_level)
        self._tokens.ensure()
        desktop = await find_desktop(self._service_manager)
        recorder = Recorder(self._audit, desktop.bus)
        pause = Pause(environment.runtime_dir())
        runner = Runner(desktop.jobs, recorder, pause, desktop.missing)
        held = self._held = Held(recorder.call)
        asking = Offering(Together(Asking(desktop.bus)), desktop.bus, held) if desktop.bus is not None else None
        reviewing = Reviewing(desktop.bus) if desktop.bus is not None else None
        gate = Gate(desktop.omarchy, self._settings, desktop.missing, asking, reviewing)
        await self._adopt(desktop, runner, recorder)
        port = self._passed.sockets[0].getsockname()[1]
        tools = Tools(acting=Acting(gate=gate, runner=runner, settings=self._settings, held=held))
        seal = read_key(environment.state_dir() / "seal")
        app, self._toolset = await build(tools, recorder, port, self._clients, pause, seal)
        door = self._door = Door(app, port, self._tokens.current, self._health, self._clients.forget)
        server = Server(configure(door), door)
        self._live = Live(
            self._settings, self._toolset, self._clients, desktop.bus, lambda: recorder.report(self._state(desktop))
        )
        self._handle_signals(server)
        gc.freeze()  # what was imported is never collected (run.py: nor was it so far): no pauses for looking at it
        gc.enable()
        serving = asyncio.ensure_future(server.serve(sockets=self._passed.sockets))
        await asyncio.wait({serving, asyncio.ensure_future(server.running.wait())}, return_when=asyncio.FIRST_COMPLETED)
        helpers = self._helpers(server, door, reviewing, desktop, recorder)
        self._announce(port, recorder, desktop)
        try:
            await serving
        finally:
            self._service_manager.stopping("stopping")
            for helper in helpers:
                helper.cancel()
            runner.close()
            held.close()
            self._audit.write(Event.LIFECYCLE, f"server stopped: {self._why}", action="stopped", reason=self._why)
            await asyncio.to_thread(self._audit.close)
        return {GONE: BUS_GONE, BROKEN: FAILED}.get(self._why, 0)

    def _announce(self, port: int, recorder: Recorder, desktop: Desktop) -> None:
        self._audit.write(
            Event.LIFECYCLE,
            f"server started, version {VERSION}, port {port}",
            action="started",
            version=VERSION,
            port=port,
        )
        self._service_manager.ready(f"serving {self._offered} tools on 127.0.0.1:{port}")
        if desktop.bus is not None:
            bus = desktop.bus
            # a control service that starts later knows nothing of us yet
            bus.match(f"type='signal',sender='{DBUS}',member='NameOwnerChanged',arg0='{NAME}'")
            bus.listen(lambda signal: self._greet(signal, recorder, desktop))
            self._report = lambda: recorder.report(self._state(desktop))
            self._report()

    def _audit_changed(self) -> None:
        """The record is lost or found again: the person sees it in the status.  Called from the writer's thread."""
        if self._loop is not None and self._report is not None:
            self._loop.call_soon_threadsafe(self._report)

    def _greet(self, signal: Signal, recorder: Recorder, desktop: Desktop) -> None:
        if signal.sender == DBUS and signal.member == "NameOwnerChanged" and signal.body[0] == NAME and signal.body[2]:
            recorder.report(self._state(desktop))

    def _state(self, desktop: Desktop) -> dict[str, object]:
        health = self._audit.health
        known = desktop.omarchy.known if desktop.omarchy else None
        return {
            "server_version": VERSION,
            "tools": self._offered,
            "tools_declared": len(NAMES),
            "config_ok": not self._settings.problem,
            "config_problem": self._settings.problem,
            "config_watch": self._live.problem,
            "omarchy_path": str(known.path) if known else "",
            "audit": health.state,
            "audit_why": health.why,
            "token_file": str(self._tokens.path),
            "token_problem": self._tokens.problem,
            "clients": self._door.attached,
        }

    @property
    def _offered(self) -> int:
        return len(self._toolset.parameters)

    def _health(self) -> dict[str, object]:
        return {"ok": True, "server": "omarchy-mcp", "version": VERSION, "tools": self._offered}

    def _admitted(self, digests: Digests) -> None:
        """Clients have come or gone: what one that is gone still listens to ends."""
        self._door.close_streams(keep=set(digests.values()))
        if self._report is not None:
            self._report()

    async def _adopt(self, desktop: Desktop, runner: Runner, recorder: Recorder) -> None:
        """Take over jobs of an earlier run, and record what became of those that ended meanwhile."""
        if desktop.jobs is None:
            return
        with contextlib.suppress(BusError):
            for job in await desktop.jobs.adopt(self._passed.kept, self._settings.current.max_output_b):
                if not job.exited.is_set():
                    recorder.job_adopted(job.id, (job.origin.client, job.origin.tool, job.origin.route))
                runner.adopt(job)

    def _handle_signals(self, server: Server) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        loop.add_signal_handler(signal.SIGHUP, self._live.reload)

    def _helpers(
        self, server: Server, door: Door, reviewing: Reviewing | None, desktop: Desktop, recorder: Recorder
    ) -> list["asyncio.Task[None]"]:
        helpers = [
            self._watchdog(),
            self._idle(server, door, desktop),
            self._follow(reviewing, recorder, desktop),
            self._live.follow(),
            self._tokens.follow(),
            self._count(door, recorder),
        ]
        if desktop.bus is not None:
            helpers.append(self._bus(server, desktop.bus))
        tasks = [asyncio.ensure_future(helper) for helper in helpers]
        for task in tasks:
            task.add_done_callback(lambda task: self._see(task, server))
        return tasks

    def _see(self, helper: "asyncio.Task[None]", server: Server) -> None:
        """What runs for ever must not end unnoticed."""
        if not helper.cancelled() and (error := helper.exception()) is not None:
            logger.error("a task of ours failed", exc_info=error)
            self._why = BROKEN
            server.stop()

    async def _watchdog(self) -> None:
        while self._service_manager.watchdog_s:
            self._service_manager.watchdog()
            await asyncio.sleep(self._service_manager.watchdog_s / 2)

    async def _bus(self, server: Server, bus: Bus) -> None:
        await bus.gone
        self._why = GONE
        server.stop()

    async def _follow(self, reviewing: Reviewing | None, recorder: Recorder, desktop: Desktop) -> None:
        """List the commands before the first call needs them and whenever they change, and tell what was found."""
        if reviewing is not None and desktop.omarchy is not None:
            await reviewing.follow(desktop.omarchy, lambda: recorder.report(self._state(desktop)))

    async def _count(self, door: Door, recorder: Recorder) -> None:
        """Tell how many clients are attached, when that changes; a restart of theirs is told once."""
        while True:
            await door.attached_changed.wait()
            await asyncio.sleep(COUNT_S)
            door.attached_changed.clear()
            recorder.report({"clients": door.attached})

    async def _idle(self, server: Server, door: Door, desktop: Desktop) -> None:
        """Leave when nothing would be lost, if the user wants that: no request, stream, session or running job."""
        while True:
            self._live.moved.clear()
            seconds = self._settings.current.idle_exit_s
            if seconds == 0:
                await self._live.moved.wait()
                continue
            await door.idle.wait()
            seen = door.served
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._live.moved.wait(), seconds)
                continue
            busy = self._clients.sessions or self._held.count or (desktop.jobs is not None and desktop.jobs.running)
            if door.idle.is_set() and door.served == seen and not busy:
                self._why = f"idle for {seconds} s"
                server.stop()
                return
