"""One table: each figure beside its target, all ratios taken in one run on this machine.

usage: bench.py [--quick] [--json FILE]
"""

import argparse
import asyncio
import json
import statistics
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import bare_bus, measure, questions, records, rivals
from bench.measure import Times, times, took
from bench.rivals import Rival
from system import bus, desktop
from system.client import Era
from system.product import CONTROL, SERVICE, Product, close_shared, shared
from system.streams import Held
from system.world import REPO

UNWATCHED = "[Service]\nWatchdogSec=0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    figure: str
    value: str
    against: str
    ratio: float | None
    target: str
    met: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured."""

    rounds: int
    seconds: float
    runs: int
    idle: float
    records: int


FULL = Scale(rounds=10, seconds=4, runs=100, idle=20, records=100_000)
QUICK = Scale(rounds=3, seconds=1, runs=20, idle=5, records=0)


def compared(figure: str, ours: float, theirs: float, unit: str, target: float, *, least: bool = False) -> Row:
    """A row whose target is a ratio: at most so much, or at least."""
    ratio = ours / theirs
    met = ratio >= target if least else ratio <= target
    sign = "≥" if least else "≤"
    return Row(
        figure=figure, value=f"{ours:.4g} {unit}", against=f"{theirs:.4g} {unit}", ratio=round(ratio, 3),
        target=f"{sign} {target} x", met=met,
    )  # fmt: skip


def absolute(figure: str, value: float, unit: str, target: float | None) -> Row:
    """A row whose target is a figure, or which has none."""
    wanted = "reported" if target is None else f"≤ {target:g} {unit}"
    met = None if target is None else value <= target
    return Row(figure=figure, value=f"{value:.4g} {unit}", against="", ratio=None, target=wanted, met=met)


def starts(ours: Rival, sdk: Rival, floor: Rival, scale: Scale) -> Iterator[Row]:
    """Cold activation and memory, rounds interleaved; the first round fills the bytecode caches."""
    taken: dict[str, list[float]] = {rival.name: [] for rival in (ours, sdk, floor)}
    memory: dict[str, list[float]] = {name: [] for name in taken}
    for number in range(scale.rounds + 1):
        for rival in (ours, sdk, floor):
            seconds = measure.cold(rival)
            if number:
                taken[rival.name].append(1_000 * seconds)
                memory[rival.name].append(measure.resident(rival.pid))
    median = {name: statistics.median(values) for name, values in taken.items()}
    held = {name: statistics.median(values) for name, values in memory.items()}
    yield compared("cold activation to first answer", median[ours.name], median[sdk.name], "ms", 1.15)
    yield absolute("… a bare ASGI app, the floor", median[floor.name], "ms", None)
    yield compared("memory after the first answer", held[ours.name], held[sdk.name], "MB", 1.25)


def calls(ours: Rival, sdk: Rival, floor: Rival, scale: Scale) -> Iterator[Row]:
    """A trivial tool call: latency of one client, throughput of 64."""
    taken = measure.calls((ours, sdk, floor), 1, scale.seconds)
    single: dict[str, Times] = {name: times(lasted) for name, (lasted, _) in taken.items()}
    yield compared("trivial tools/call p50, 1 client", single[ours.name].p50, single[sdk.name].p50, "ms", 1.5)
    yield compared("trivial tools/call p99, 1 client", single[ours.name].p99, single[sdk.name].p99, "ms", 1.5)
    yield absolute("… a bare ASGI app, the floor, p50", single[floor.name].p50, "ms", None)
    rate = {name: rate for name, (_, rate) in measure.calls((ours, sdk), 64, scale.seconds).items()}
    yield compared("tools/call throughput, 64 clients", rate[ours.name], rate[sdk.name], "calls/s", 0.8, least=True)


def runs(product: Product, scale: Scale) -> Iterator[Row]:
    """One trivial command end to end, three ways, interleaved."""
    rpc, program = product.rpc(), str(product.desktop.path / "bin" / "omarchy-theme-probe-true")
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: rpc.do(desktop.TRUE),
        "systemd-run": lambda: product.world.run("systemd-run", "--user", "--quiet", "--wait", "--pipe", program),
        "subprocess": lambda: product.world.run(program),
    }
    lasted: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(scale.runs + 5):
        for name, way in ways.items():
            seconds = took(way)
            if number >= 5:  # the first ones warm up
                lasted[name].append(seconds)
    figures = {name: times(values) for name, values in lasted.items()}
    yield compared("omarchy_run of a trivial command, p50, against systemd-run --wait --pipe",
                   figures["ours"].p50, figures["systemd-run"].p50, "ms", 1.0)  # fmt: skip
    yield Row(
        figure="… against a plain subprocess, p50", value=f"{figures['ours'].p50:.4g} ms",
        against=f"{figures['subprocess'].p50:.4g} ms",
        ratio=round(figures["ours"].p50 / figures["subprocess"].p50, 3), target="reported", met=None,
    )  # fmt: skip
    yield absolute("… its p99", figures["ours"].p99, "ms", None)


def answers(product: Product, scale: Scale) -> Iterator[Row]:
    """The control service on a kept connection, as the bar asks it."""
    product.control.status()
    count = records.fill(product, scale.records)
    both: tuple[tuple[str, str, str, tuple[object, ...], float], ...] = (
        ("Status", "Status", "", (), 5.0),
        (f"Recent(8) of {count}", "Recent", "ua{sv}", (8, {}), 10.0),
    )
    for figure, member, signature, body, target in both:
        lasted = asyncio.run(bus.times(product.world, member, signature, body, scale.runs * 2))
        yield absolute(f"{figure} over the bus, p50", times(lasted).p50, "ms", None)
        yield absolute(f"{figure} over the bus, p99", times(lasted).p99, "ms", target)
    bare = rivals.bare_bus(product)
    ask = ("call", bare_bus.NAME, bare_bus.PATH, bare_bus.NAME, "Status")
    ways: dict[str, Callable[[], object]] = {
        CONTROL: product.control.status,
        bare: lambda: bus.busctl(product.world, *ask),
    }
    started: dict[str, list[float]] = {unit: [] for unit in ways}
    for number in range(scale.rounds + 1):
        for unit, way in ways.items():
            product.world.systemctl("stop", unit)
            seconds = took(way)
            if number:  # the first fills the bytecode caches
                started[unit].append(seconds)
    held = {unit: measure.resident(product.pid(unit)) for unit in ways}
    yield compared("Status that starts the control service, by busctl, p50", times(started[CONTROL]).p50,
                   times(started[bare]).p50, "ms", 1.3)  # fmt: skip
    yield compared("memory of the control service", held[CONTROL], held[bare], "MB", 1.2)


def consent(product: Product, scale: Scale) -> Iterator[Row]:
    """A question's way over the bus, there and back, without the person's own time."""
    there, back = questions.round_trips(product, scale.runs)
    for figure, seconds in (("question: asked until it is on the bus", there),
                            ("question: answered until its command is started", back)):  # fmt: skip
        yield absolute(f"{figure}, p50", times(seconds).p50, "ms", None)
        yield absolute(f"{figure}, p99", times(seconds).p99, "ms", 50.0)


def rest(product: Product, scale: Scale) -> Iterator[Row]:
    """Wake-ups with nobody there, the watchdog set aside."""
    with ExitStack() as unwatched:
        for unit in (SERVICE, CONTROL):
            unwatched.enter_context(product.changed(unit, UNWATCHED))
        product.world.systemctl("restart", CONTROL)
        product.control.status()
        product.rpc().do(desktop.TRUE)
        measure.idle([product.pid()], 2)  # what a call leaves to be done is done by then
        counts = measure.idle([product.pid(), product.pid(CONTROL)], scale.idle)
    for name, count in zip(("server", "control service"), counts, strict=True):
        yield absolute(f"wake-ups of the {name} at rest in {scale.idle:g} s", count, "", 0)


def restarts(product: Product, scale: Scale) -> Iterator[Row]:
    """How long a restart takes with streams of both eras attached and nothing else to do."""
    lasted = []
    with ExitStack() as attached:
        streams = [attached.enter_context(Held(product, era)) for era in Era]
        for _ in range(scale.rounds):
            for stream in streams:
                stream.wait()
            lasted.append(took(product.restart))
    yield absolute("restart with two streams attached, p50", times(lasted).p50, "ms", 1_200)


def show(rows: list[Row]) -> str:
    """The table."""
    widths = [max(len(row.figure) for row in rows), 16, 16, 7]
    lines = []
    for row in rows:
        met = {True: "met", False: "MISSED", None: ""}[row.met]
        ratio = f"{row.ratio:.2f} x" if row.ratio is not None else ""
        lines.append(
            f"{row.figure:<{widths[0]}}  {row.value:>{widths[1]}}  {row.against:>{widths[2]}}  {ratio:>{widths[3]}}"
            f"  {row.target:<14} {met}".rstrip()
        )
    titles = (f"{'here':>{widths[1]}}", f"{'compared with':>{widths[2]}}", f"{'ratio':>{widths[3]}}", "target")
    head = "  ".join([f"{'figure':<{widths[0]}}", *titles])
    return "\n".join([head, "-" * len(head), *lines])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it works")
    parser.add_argument("--json", type=Path, default=REPO / "build" / "bench.json", help="where the figures go")
    asked = parser.parse_args()
    scale = QUICK if asked.quick else FULL
    warnings.simplefilter("ignore", ResourceWarning)
    product = shared()
    try:
        ours, sdk, floor = (
            rivals.the_product(product),
            *(rivals.bare(product, name) for name in ("bare_sdk", "bare_asgi")),
        )
        rows = [
            *starts(ours, sdk, floor, scale), *calls(ours, sdk, floor, scale), *runs(product, scale),
            *answers(product, scale), *consent(product, scale), *restarts(product, scale), *rest(product, scale),
        ]  # fmt: skip
    finally:
        close_shared()
    print(show(rows))
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"\nthe same as JSON: {asked.json}")


if __name__ == "__main__":
    main()
