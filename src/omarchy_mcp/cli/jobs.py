"""The verbs about the commands agents have started."""

from collections.abc import Mapping, Sequence

from omarchy_mcp.cli import control
from omarchy_mcp.cli.exits import Exit
from omarchy_mcp.cli.options import Json, Request
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.cli.text import Colour, fit, pad, paint, printable, stamp, width
from omarchy_mcp.session.bus import plain

COLUMNS = ("JOB", "STATE", "STARTED", "CLIENT", "ROUTE")
WIDEST = 60


async def show(output: Output, *, legend: bool = True) -> int:
    """Show the jobs that are not over, the oldest first."""
    async with control.connected() as bus:
        reply = await control.ask(bus, "Jobs")
    jobs: list[dict[str, object]] = plain(reply.body[0])
    if output.json is not Json.OFF:
        for job in jobs:
            output.data(job)
    elif jobs:
        output.lines(table(jobs, colours=output.colours)[0 if legend else 1 :])
    else:
        output.remark("no command of an agent's is running")
    return Exit.DONE


def table(jobs: Sequence[Mapping[str, object]], *, colours: bool) -> list[str]:
    """The jobs as a table, its headings first."""
    rows = [cells(job) for job in jobs]
    widths = [max(map(width, column)) for column in zip(COLUMNS, *rows, strict=True)]
    head, *lines = ("  ".join(map(pad, row, widths)).rstrip() for row in (COLUMNS, *rows))
    return [paint(head, Colour.LINE, on=colours), *lines]


def cells(job: Mapping[str, object]) -> tuple[str, ...]:
    """The cells of a job's row; what is not known of it is "-"."""
    started = job.get("started_usec")
    texts = (fit(printable(job.get(key, ""), 200), WIDEST) or "-" for key in ("id", "state", "client", "route"))
    id_, state, client, route = texts
    return id_, state, stamp(started) if isinstance(started, int) else "-", client, route


async def stop(request: Request, output: Output) -> int:
    """End a job."""
    (job,) = request.operands
    async with control.connected() as bus:
        await control.ask(bus, "StopJob", "s", [job], seconds=control.ACT_S)
    if output.json is not Json.OFF:
        output.data({"verb": request.verb, "outcome": "ok", "job": job})
    else:
        output.remark(f"job {printable(job, 40)} was ended")
    return Exit.DONE
