"""The verbs by which a person looks at what is new and acknowledges it.

Security boundary: what `acknowledge` lets go is the listing whose digest it was given, or that it has shown.
"""

import asyncio

from omarchy_mcp.cli import control
from omarchy_mcp.cli.consent import NOT_FOUND
from omarchy_mcp.cli.exits import CtlError, Exit
from omarchy_mcp.cli.options import PROGRAM, Json, Request
from omarchy_mcp.cli.questions import listed, row, texts, whole
from omarchy_mcp.cli.render import Values, number
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.cli.text import Colour, count, paint, stamp
from omarchy_mcp.session.bus import plain


def run(request: Request, output: Output) -> int:
    """Carry out one of these verbs; returns the exit status.

    Raises:
        CtlError: it cannot be done.
    """
    return show(request, output) if request.verb == "review" else acknowledge(request, output)


def show(request: Request, output: Output) -> int:
    """Show everything that is held, or say that nothing is."""
    told = asyncio.run(look())
    if output.json is not Json.OFF:
        output.data(told)
        return Exit.DONE
    if told.get("problem"):
        output.remark(whole(told["problem"]))
    if not commands(told):
        output.remark("nothing is held")
        return Exit.DONE
    legend = [f"Acknowledge all of it: '{PROGRAM} acknowledge {whole(told['digest'])}'"] if request.legend else []
    output.lines(listed([*blocks(told, output), *([legend] if legend else [])]))
    return Exit.DONE


def acknowledge(request: Request, output: Output) -> int:
    """Let what is held go: by its digest, or as it is shown and confirmed here.

    Nothing is connected while the person reads, so that an interrupt ends it at once.
    """
    digest = request.digest
    if not digest and not output.interactive:
        raise CtlError("cannot acknowledge without a digest: 'review' shows it with what it stands for", Exit.USAGE)
    if not digest:
        told = asyncio.run(look())
        held = commands(told)
        if not held:
            raise CtlError("cannot acknowledge: nothing is held", Exit.FAILED, NOT_FOUND)
        output.lines(listed(blocks(told, output)))
        digest = str(told.get("digest", ""))
        if not output.confirm(f"Acknowledge {count(len(held), 'command')}?"):
            raise CtlError("not acknowledged; nothing has changed", Exit.FAILED)
    asyncio.run(settle(digest))
    if output.json is Json.OFF:
        output.remark("acknowledged: config.toml and your grants count for it again")
    else:
        output.data({"verb": request.verb, "outcome": "ok", "digest": digest})
    return Exit.DONE


def commands(told: Values) -> list[Values]:
    """The commands of a listing."""
    found = told.get("commands")
    return found if isinstance(found, list) else []


def blocks(told: Values, output: Output) -> list[list[str]]:
    """A listing, a block for each command."""
    return [command_lines(each, output.columns, colours=output.colours) for each in commands(told)]


def command_lines(command: Values, width: int, *, colours: bool) -> list[str]:
    """One command; `width` is the terminal's, 0 when lines may be as long as they need."""
    more, all_of_it = texts(command, "more"), texts(command, "capabilities")
    before = [each for each in all_of_it if each not in more]
    rows = [
        ("News", whole(command.get("news", ""))),
        ("Was", whole(command.get("was", "")) or "not there"),
        ("Can do now", whole(", ".join(more)) or "nothing more"),
        ("And as before", whole(", ".join(before)) or "nothing"),
        ("Held since", stamp(number(command, "since_usec"))),
    ]
    head = paint(whole(command.get("route", "")), Colour.YELLOW, Colour.BOLD, on=colours)
    return [head, *(line for label, value in rows for line in row(label, value, width))]


async def look() -> dict[str, object]:
    """What is held.

    Raises:
        CtlError: the control service does not tell.
    """
    async with control.connected() as bus:
        told: dict[str, object] = plain((await control.ask(bus, "Review")).body[0])
    return told


async def settle(digest: str) -> None:
    """Acknowledge the listing of a digest.

    Raises:
        CtlError: it is another by now, or the service refuses.
    """
    async with control.connected() as bus:
        await control.ask(bus, "Acknowledge", "s", [digest])
