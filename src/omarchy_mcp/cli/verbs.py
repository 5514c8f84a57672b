"""The verbs that ask the control service or read the record."""

import asyncio
from collections.abc import Mapping

from omarchy_mcp.cli import control, render
from omarchy_mcp.cli.exits import BY_STATE, CtlError, Exit, StatusExit
from omarchy_mcp.cli.options import Json, Request
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.session import environment
from omarchy_mcp.session.bus import plain

HIDDEN = ("args", "args_sha256")
"""What is never shown of a record, wherever it came from."""

REMARKS: Mapping[str, str] = {
    "start": "started: the port is held, now and after every login",
    "stop": "stopped: the port is closed until 'omarchy-mcpctl start'; running commands go on",
    "restart": "restarted",
    "freeze": "paused: what agents started is frozen, and new calls are refused until 'omarchy-mcpctl thaw'",
    "thaw": "agents go on",
    "reload": "the configuration was read again; 'omarchy-mcpctl status' says whether it is in order",
}

Records = list[dict[str, object]]


async def status(request: Request, output: Output) -> int:
    """Show how the server is; the exit status is systemctl's."""
    async with control.connected() as bus:
        try:
            reply = await control.ask(bus, "Status")
        except CtlError as error:
            seen = {unit: view.words for unit, view in (await control.units(bus)).items()}
            show_unknown(error, seen, output)
            if seen:
                error.more = ()  # it was shown just now
            report(error, request, output, machine=False)
            return StatusExit.UNKNOWN
    found: dict[str, object] = plain(reply.body[0])
    if output.json is not Json.OFF:
        output.data(found)
    else:
        config = environment.config_file()
        if not found.get("token_file") and (environment.state_dir() / "token").exists():
            found["token_file"] = str(environment.state_dir() / "token")
        lines = render.status_lines(found, str(config), config_there=config.exists(), colours=output.colours)
        output.lines(lines)
    return BY_STATE.get(str(found.get("state")), StatusExit.UNKNOWN)


def show_unknown(error: CtlError, units: Mapping[str, str], output: Output) -> None:
    """Show what is known when the control service says nothing."""
    if output.json is not Json.OFF:
        output.data({"state": "unknown", "problem": error.text, "error": error.name, "units": dict(units)})
    elif units:
        output.lines(render.unit_lines(units, colours=output.colours))


async def act(request: Request, output: Output) -> int:
    """Start, stop, restart, reload, freeze or thaw."""
    async with control.connected() as bus:
        await control.act(bus, request.verb.capitalize())
    if output.json is not Json.OFF:
        output.data({"verb": request.verb, "outcome": "ok"})
    else:
        output.remark(REMARKS[request.verb])
    return Exit.DONE


async def recent(request: Request, output: Output) -> int:
    """Show the newest records, oldest of them first."""
    try:
        records = await from_service(request.count)
    except CtlError as error:
        if error.status in (Exit.USAGE, Exit.NOT_PERMITTED):
            raise
        output.remark(f"{error.text}; reading the journal directly")
        records = await asyncio.to_thread(from_journal, request.count)
    shown = [without_arguments(record) for record in reversed(records)]
    if output.json is not Json.OFF:
        for record in shown:
            output.data(record)
    else:
        output.page(record_lines(shown, request, output))
    return Exit.DONE


def record_lines(records: Records, request: Request, output: Output) -> list[str]:
    """Records as a table."""
    table = render.table(records, output.columns, colours=output.colours)
    head = [table.head()] if request.legend and records else []
    return head + [table.line(record) for record in records]


async def from_service(number: int) -> Records:
    """Records as the control service reads them, newest first.

    Raises:
        CtlError: there is no bus, no control service, or it cannot read them.
    """
    async with control.connected() as bus:
        reply = await control.ask(bus, "Recent", "ua{sv}", [number, {}])
    records: Records = plain(reply.body[0])
    return records


def from_journal(number: int) -> Records:
    """Records as this process reads them, newest first.

    Raises:
        CtlError: they cannot be read.
    """
    from omarchy_mcp.session import journal  # noqa: PLC0415 - only where it is needed: start-up time

    try:
        return [dict(record.shown()) for record in journal.recent(number)]
    except journal.UnreadableError as error:
        raise CtlError(str(error), Exit.FAILED, control.UNREADABLE) from error


def follow(request: Request, output: Output) -> int:
    """Show the newest records, then each new one, until interrupted or nobody reads."""
    from omarchy_mcp.session import journal  # noqa: PLC0415 - only where it is needed: start-up time

    stream = journal.follow(request.count, output.hangup())
    first: Records = []
    for record in stream:
        if record is None:
            break
        first.append(without_arguments(record.shown()))
    if request.count and not first:
        output.remark("no record can be read from the journal so far")
    if output.json is Json.OFF:
        output.lines(record_lines(first, request, output))
        table = render.table(first, output.columns, colours=output.colours)
    else:
        for shown in first:
            output.data(shown)
    for record in stream:
        if record is None:
            continue
        shown = without_arguments(record.shown())
        if output.json is Json.OFF:
            output.lines([table.line(shown)])
        else:
            output.data(shown)
    return Exit.DONE


def without_arguments(record: Mapping[str, object]) -> dict[str, object]:
    """A record less what is never shown."""
    return {key: value for key, value in record.items() if key not in HIDDEN}


def report(error: CtlError, request: Request, output: Output, *, machine: bool = True) -> None:
    """Say why a verb failed: one line for the person, one object for the program."""
    if machine and output.json is not Json.OFF:
        output.data({"verb": request.verb, "outcome": "failed", "error": error.name, "message": error.text})
    output.error(error.text, name=error.name if request.verbose else "", more=error.more)


__all__ = ["act", "follow", "recent", "report", "status"]
