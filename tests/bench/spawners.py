"""The two ways of starting a command, measured beside each other and beside what everybody knows.

    python tests/bench/spawners.py [RUNS]      inside a session: demo/private_session.py run -- …

`service` is the product's spawner (session/jobs.py).  `scope` is the other way the design weighed: a child of
ours behind a pipe, moved into a scope of its own, then let go.  docs/decisions.md says which was taken and why.
"""

# ruff: noqa: E402 - what is measured is outside the product; the product is not installed anywhere

import asyncio
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "src")]

from omarchy_mcp.policy.callers import JOB_SLICE
from omarchy_mcp.session.bus import Bus, Variant
from omarchy_mcp.session.jobs import Environment, Jobs, Origin
from omarchy_mcp.session.manager import MANAGER, PATH, Manager

COMMAND = ["/bin/true"]
GATE = 'read -r _ && exec "$@" </dev/null'


class Scopes:
    """Starts a command as a child of this process in a scope of its own."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._waiting: dict[str, asyncio.Future[None]] = {}
        manager.bus.match(f"type='signal',path='{PATH}',interface='{MANAGER}',member='JobRemoved'")
        manager.bus.listen(self._hear)

    def _hear(self, signal: object) -> None:
        if getattr(signal, "member", "") == "JobRemoved":
            waiting = self._waiting.pop(signal.body[2], None)  # type: ignore[attr-defined]  # a Signal
            if waiting is not None:
                waiting.set_result(None)

    async def run(self) -> None:
        """Start the command, let it go once it is in its scope, wait for its end."""
        name = f"app-omarchymcp-scope-{secrets.token_hex(6)}.scope"
        ours, theirs = os.pipe()
        process = subprocess.Popen(["/bin/sh", "-c", GATE, "sh", *COMMAND], stdin=ours, stdout=subprocess.DEVNULL)
        os.close(ours)
        done = self._waiting[name] = asyncio.get_running_loop().create_future()
        properties = [
            ["PIDs", Variant("au", [process.pid])],
            ["Slice", Variant("s", JOB_SLICE)],
            ["CollectMode", Variant("s", "inactive-or-failed")],
        ]
        await self._manager.call("StartTransientUnit", "ssa(sv)a(sa(sv))", [name, "fail", properties, []])
        await done
        os.write(theirs, b"\n")
        os.close(theirs)
        await exit_of(process)


async def exit_of(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a child by its pidfd."""
    ended = asyncio.get_running_loop().create_future()
    pidfd = os.pidfd_open(process.pid)
    loop = asyncio.get_running_loop()
    loop.add_reader(pidfd, ended.set_result, None)
    ended.add_done_callback(lambda _: loop.remove_reader(pidfd))
    await ended
    os.close(pidfd)
    process.wait()


async def plain(argv: list[str]) -> None:
    """Start a program and wait for it."""
    await exit_of(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))


async def measure(name: str, runs: int, once: Callable[[], Awaitable[None]]) -> float:
    """Print the median and the 99th percentile of one way, in ms, and our processor time per run."""
    await once()
    taken = []
    before = time.process_time()
    for _ in range(runs):
        started = time.perf_counter()
        await once()
        taken.append((time.perf_counter() - started) * 1000)
    ours = (time.process_time() - before) * 1000 / runs
    taken.sort()
    median = statistics.median(taken)
    print(f"{name:28s} p50 {median:6.2f} ms   p99 {taken[int(len(taken) * 0.99)]:6.2f} ms   cpu {ours:5.2f} ms")
    return median


async def main(runs: int) -> None:
    """Measure all ways in one run."""
    bus = await Bus.connect()
    manager = await Manager.connect(bus)
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(manager, Path(folder), lambda _name, _fd: None)
        scopes = Scopes(manager)
        origin = Origin(client="bench", tool="bench", route="bench")

        async def service() -> None:
            job = await jobs.start(secrets.token_hex(6), COMMAND, origin, Environment(add={}, unset=[]), 4096)
            await job.wait(10)

        run = ["systemd-run", "--user", "--quiet", "--wait", "--pipe", "--collect"]
        by_program = await measure("systemd-run --wait --pipe", runs, lambda: plain([*run, *COMMAND]))
        by_service = await measure("service (taken)", runs, service)
        by_scope = await measure("scope", runs, scopes.run)
        alone = await measure("plain child", runs, lambda: plain(COMMAND))
    print(f"service / systemd-run {by_service / by_program:.2f}   service / scope {by_service / by_scope:.2f}")
    print(f"service - plain child {by_service - alone:.1f} ms   scope - plain child {by_scope - alone:.1f} ms")
    await bus.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
