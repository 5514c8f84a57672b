"""Taking times and counts; nothing here decides whether they are good."""

import asyncio
import json
import re
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.rivals import Rival
from system import wire
from system.client import Era

TURNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Some durations, in milliseconds."""

    p50: float
    p99: float
    count: int


def times(seconds: Sequence[float]) -> Times:
    """Sum up durations given in seconds."""
    ordered = sorted(1_000 * value for value in seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return Times(p50=statistics.median(ordered), p99=p99, count=len(ordered))


def took(act: Callable[[], object]) -> float:
    """How long one act takes, in seconds."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def cold(rival: Rival) -> float:
    """From connecting to a sleeping server to its first answer, in seconds."""
    rival.sleep()
    begun = time.perf_counter()
    with socket.create_connection((wire.HOST, rival.port), timeout=30) as connection:
        connection.sendall(rival.request("initialize", Era.HANDSHAKE))
        answer = b""
        while b'"result"' not in answer:
            more = connection.recv(65_536)
            if not more:
                raise AssertionError(f"{rival.name} closed: {answer[:300]!r}")
            answer += more
    return time.perf_counter() - begun


def resident(pid: int) -> float:
    """Resident memory of a process, in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) / 1_024


def wake_ups(pid: int) -> int:
    """How often the threads of a process went to sleep by themselves so far: each woke up for something."""
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(encoding="utf-8"), re.MULTILINE)
        count += int(found[1]) if found else 0
    return count


def idle(pids: Sequence[int], seconds: float) -> list[int]:
    """Wake-ups of processes that nobody asks anything, over a time."""
    before = [wake_ups(pid) for pid in pids]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as nobody:  # a wait that is measured, not a pause
        nobody.bind("")
        nobody.settimeout(seconds)
        try:
            nobody.recv(1)
        except TimeoutError:
            return [wake_ups(pid) - count for pid, count in zip(pids, before, strict=True)]
    raise AssertionError("somebody spoke to nobody")


class Connection:
    """A kept connection that sends ready-made bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: bytes) -> bytes:
        """Send a request, return the body of its answer."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
            return body
        length = re.search(rb"content-length: (\d+)", head)
        return await self.reader.readexactly(int(length[1])) if length else b""


async def _hammer(rival: Rival, clients: int, seconds: float) -> tuple[list[float], float]:
    request = rival.request("tools/call", Era.MODERN)
    connections = [
        Connection(*await asyncio.open_connection(wire.HOST, rival.port, limit=1 << 20)) for _ in range(clients)
    ]
    for connection in connections:
        assert "result" in json.loads(await connection.ask(request)), rival.name
    lasted: list[float] = []
    end = time.perf_counter() + seconds

    async def loop(connection: Connection) -> None:
        while (begun := time.perf_counter()) < end:
            body = await connection.ask(request)
            lasted.append(time.perf_counter() - begun)
            assert b'"result"' in body, body[:200]

    begun = time.perf_counter()
    await asyncio.gather(*map(loop, connections))
    whole = time.perf_counter() - begun
    for connection in connections:
        connection.writer.close()
        await connection.writer.wait_closed()
    return lasted, len(lasted) / whole


def calls(rivals: Sequence[Rival], clients: int, seconds: float) -> dict[str, tuple[list[float], float]]:
    """Of each rival, the durations of trivial tool calls in seconds and calls per second, so many clients at once.

    They take turns, so that what else the machine does falls on all of them.
    """
    lasted: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    rates: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    for _ in range(TURNS):
        for rival in rivals:
            durations, rate = asyncio.run(_hammer(rival, clients, seconds / TURNS))
            lasted[rival.name] += durations
            rates[rival.name].append(rate)
    return {name: (lasted[name], statistics.median(rates[name])) for name in lasted}
