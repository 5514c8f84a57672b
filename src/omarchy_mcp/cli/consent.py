"""The verbs by which a person answers questions and takes grants back.

Security boundary: what `approve` lets run is the call it has shown; the digest it sends is that call's.
"""

import asyncio
from collections.abc import Callable, Sequence

from omarchy_mcp.cli import control
from omarchy_mcp.cli.exits import CtlError, Exit
from omarchy_mcp.cli.options import PROGRAM, Json, Request
from omarchy_mcp.cli.questions import grant_lines, listed, question_lines, whole
from omarchy_mcp.cli.render import Values, number
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.cli.text import count
from omarchy_mcp.session.bus import Bus, plain, variants
from omarchy_mcp.session.contract import ERROR

NOT_FOUND = f"{ERROR}.NotFound"
GONE = frozenset({NOT_FOUND, f"{ERROR}.NotPending"})
"""What was to end has ended already."""

REACH = {"args": " with these arguments", "route": " with any arguments"}
LASTING = {"10min": "for 10 minutes", "session": "until this session ends", "always": "always"}


def run(request: Request, output: Output) -> int:
    """Carry out one of these verbs; returns the exit status.

    Raises:
        CtlError: it cannot be done.
    """
    match request.verb:
        case "questions":
            return show(request, output, "Questions", question_lines, "no question is open")
        case "approve":
            return approve(request, output)
        case "deny":
            return asyncio.run(deny(request, output))
        case "grants":
            return show(request, output, "Grants", grant_lines, "nothing is granted for longer than one call")
        case _:
            return asyncio.run(revoke(request, output))


def show(request: Request, output: Output, member: str, lines: Callable[..., list[str]], none: str) -> int:
    """Show everything a method lists, or say that there is none."""
    found = asyncio.run(look(member))
    if output.json is not Json.OFF:
        output.data(found)
    elif found:
        width, colours = output.columns, output.colours
        output.lines(listed([lines(each, width, colours=colours, legend=request.legend) for each in found]))
    else:
        output.remark(none)
    return Exit.DONE


def approve(request: Request, output: Output) -> int:
    """Show a question and let its call run; asks first when no number was typed.

    Nothing is connected while the person reads, so that an interrupt ends it at once.
    """
    if not request.question and not output.interactive:
        raise CtlError("cannot approve without a number: give the question's, such as 'approve 3'", Exit.USAGE)
    chosen = pick(asyncio.run(look("Questions")), request.question, "approve")
    name = number(chosen, "number")
    if output.json is Json.OFF:
        output.lines(question_lines(chosen, output.columns, colours=output.colours, legend=False))
        if not request.question and not output.confirm(f"Approve{granted(request, chosen)}?"):
            raise CtlError(f"not approved; '{PROGRAM} deny {name}' refuses it", Exit.FAILED)
    asyncio.run(allow(chosen, request.scope, request.life))
    if output.json is Json.OFF:
        output.remark(f"approved #{name}{granted(request, chosen)}")
    else:
        output.data({"verb": request.verb, "outcome": "ok", "numbers": [name]})
    return Exit.DONE


def granted(request: Request, question: Values) -> str:
    """What is allowed beyond one call, in words."""
    if request.life not in LASTING:
        return ""
    route = whole(question.get("route", ""))
    return f"; allowed {LASTING[request.life]}: '{route}'{REACH.get(request.scope, '')}"


async def allow(question: Values, scope: str, life: str) -> None:
    """Approve the question that was shown, and no other.

    Raises:
        CtlError: it is over, or the service refuses.
    """
    options = variants({"digest": str(question.get("digest", "")), "scope": scope, "life": life})
    async with control.connected() as bus:
        await control.ask(bus, "Approve", "sa{sv}", [str(question.get("id", "")), options])


async def deny(request: Request, output: Output) -> int:
    """Refuse the call of one question, or of all that are open."""
    async with control.connected() as bus:
        found = await ask_for(bus, "Questions")
        chosen = found if request.every else [pick(found, request.question, "deny")]
        ids = [str(each.get("id", "")) for each in chosen]
        done = await each_of(bus, "Deny", "sa{sv}", [[each, {}] for each in ids], lenient=request.every)
    numbers = [number(each, "number") for each, ended in zip(chosen, done, strict=True) if ended]
    if output.json is not Json.OFF:
        output.data({"verb": request.verb, "outcome": "ok", "numbers": numbers})
    else:
        output.remark(f"denied {', '.join(f'#{each}' for each in numbers)}" if numbers else "no question is open")
    return Exit.DONE


async def revoke(request: Request, output: Output) -> int:
    """Take back one grant, or all of them."""
    async with control.connected() as bus:
        ids = [request.grant]
        if request.every:
            ids = [str(each.get("id", "")) for each in await ask_for(bus, "Grants")]
        done = await each_of(bus, "Revoke", "s", [[each] for each in ids], lenient=request.every)
    gone = [each for each, ended in zip(ids, done, strict=True) if ended]
    if output.json is not Json.OFF:
        output.data({"verb": request.verb, "outcome": "ok", "grants": gone})
    else:
        output.remark(f"took back {count(len(gone), 'grant')}" if gone else "nothing is granted")
    return Exit.DONE


async def each_of(
    bus: Bus, member: str, signature: str, bodies: Sequence[Sequence[object]], *, lenient: bool
) -> list[bool]:
    """Call a method once for each body; with `lenient`, False stands for what had ended already.

    Raises:
        CtlError: a call failed.
    """
    done = []
    for body in bodies:
        try:
            await control.ask(bus, member, signature, body)
            done.append(True)
        except CtlError as error:
            if not lenient or error.name not in GONE:
                raise
            done.append(False)
    return done


def pick(found: Sequence[Values], wanted: int, verb: str) -> Values:
    """The question of that number; without one (0), the only question there is.

    Raises:
        CtlError: it is not open, or there are several.
    """
    if not wanted and len(found) > 1:
        numbers = ", ".join(f"#{number(each, 'number')}" for each in found)
        text = f"cannot {verb} without a number: {len(found)} questions are open ({numbers})"
        raise CtlError(text, Exit.USAGE, more=(f"'{PROGRAM} questions' shows them",))
    for each in found:
        if wanted in (0, number(each, "number")):
            return each
    which = f"no question #{wanted} is open" if wanted else "no question is open"
    raise CtlError(f"cannot {verb}: {which}", Exit.FAILED, NOT_FOUND)


async def look(member: str) -> list[dict[str, object]]:
    """What is open, or granted.

    Raises:
        CtlError: the control service does not tell.
    """
    async with control.connected() as bus:
        return await ask_for(bus, member)


async def ask_for(bus: Bus, member: str) -> list[dict[str, object]]:
    """The mappings a method gives."""
    found: list[dict[str, object]] = plain((await control.ask(bus, member)).body[0])
    return found
