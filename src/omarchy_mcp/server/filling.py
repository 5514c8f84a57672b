"""Having the person choose a name that a call lacks, from what is there: a theme, a font.

It is never consent: the call then is what it would be had its client named the same thing itself.
"""

import asyncio
from collections.abc import Sequence

from omarchy_mcp.desktop.omarchy import NoOmarchyError
from omarchy_mcp.policy import arguments
from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.listings import Kind
from omarchy_mcp.server.forms import Form, Forms, Reply, State
from omarchy_mcp.server.gate import Gate
from omarchy_mcp.server.held import Held
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.session.bus import BusError

MOST_CHOICES = 100
"""Names in a form: beyond, the model does better to search."""

FILL_S = 45.0
"""How long a person has to choose; a client gives up after 60 s."""


async def fill(
    gate: Gate, held: Held, route: str, args: Sequence[str], call: CallRecord, forms: Forms
) -> Sequence[str] | Form:
    """The arguments, with the one that was lacking if it was chosen; or the form to choose it by, for the client."""
    if args or not forms.shows:
        return args
    if forms.state is not None:
        return forms.state.args if forms.state.nonce else chosen(forms.reply)
    try:
        found = await gate.choices(route, args)
    except (NoOmarchyError, BusError):
        return args  # the gate says so
    if found is None:
        return args
    form = form_of(route, found, call)
    if form is None:
        return args
    if forms.repeats:
        held.hold(call, FILL_S)
        return form
    try:
        return chosen(await asyncio.wait_for(forms.show(form), FILL_S))
    except TimeoutError:
        return args


def form_of(route: str, found: tuple[Kind, tuple[str, ...]], call: CallRecord) -> Form | None:
    """A form that offers what an argument could be."""
    kind, names = found
    fitting = tuple(name for name in dict.fromkeys(names) if arguments.fault([name]) is None)[:MOST_CHOICES]
    if not fitting:
        return None
    cut = f" The first {MOST_CHOICES} are listed." if len(names) > MOST_CHOICES else ""
    message = f"Which {kind} is it to be? An agent calls '{shown(route)}' and names none.{cut}"
    return Form(message=message, title=str(kind).capitalize(), choices=fitting, state=State(call=call.id))


def chosen(reply: Reply | None) -> tuple[str, ...]:
    """The argument a person chose, none when they did not."""
    return (reply.choice,) if reply is not None and reply.action == "accept" and reply.choice else ()
