"""What the client of one call can show a person, and what it brought back: a form of the protocol, in both eras.

The era of the handshake asks on the call's own stream and can take the form back.  The modern one cannot be asked
while a call is open: the call is answered with the form, and repeated with what came of it and with a state of ours,
which the SDK seals and holds to the same tool, arguments and client.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequests, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from omarchy_mcp.policy.legible import CUT, spelled
from omarchy_mcp.policy.questions import Subject
from omarchy_mcp.session.records import clean

logger = logging.getLogger(__name__)

MAX_NAME = 128
LINE = 72
MAX_LINES = 4
"""What Claude Code shows of a form in a terminal of 80 columns: lines and columns beyond are cut, and with them what
would run.  What does not fit is for the desk alone."""

ENDING = "Accept runs it once. The desk is asked too; the first answer counts. {} s"

CHOICE = "choice"
"""The one field a form of ours may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a call that is answered with a form has to know when it comes back.

    `nonce` is of the question the form is about; without one the form only fills in an argument.  `args` are those
    the question is about where a form filled them in before.
    """

    call: str
    nonce: str = ""
    args: tuple[str, ...] = ()

    def dump(self) -> str:
        """As it is sealed."""
        return json.dumps({"call": self.call, "nonce": self.nonce, "args": self.args})


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form: its text, what can be chosen (nothing: it is accepted or declined), and what comes back with it."""

    message: str
    title: str = ""
    choices: tuple[str, ...] = ()
    state: State

    @property
    def schema(self) -> dict[str, Any]:
        """The form's fields."""
        if not self.choices:
            return {"type": "object", "properties": {}}
        choice = {"type": "string", "title": self.title, "enum": list(self.choices)}
        return {"type": "object", "properties": {CHOICE: choice}, "required": [CHOICE]}

    def as_result(self) -> InputRequiredResult:
        """The form as the answer to a call."""
        params = ElicitRequestFormParams(message=self.message, requested_schema=self.schema)
        asked: InputRequests = {CHOICE: ElicitRequest(params=params)}
        return InputRequiredResult(input_requests=asked, request_state=self.state.dump())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What became of a form: accept, decline or cancel, and what was chosen."""

    action: str
    choice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """One call's client: how it calls itself, whether it shows forms, and what it brought back from one."""

    client: str = ""
    shows: bool = False
    repeats: bool = False
    """Whether a form is the answer to a call, which is then repeated."""

    state: State | None = None
    reply: Reply | None = None
    context: Context | None = field(default=None, repr=False)

    @property
    def comes_back(self) -> bool:
        """Whether this is a call whose question the client was asked as well."""
        return self.state is not None and bool(self.state.nonce)

    @property
    def declines(self) -> bool:
        """Whether the client says no to it, whatever else lets it run by now."""
        return self.comes_back and self.reply is not None and self.reply.action == "decline"

    async def show(self, form: Form) -> Reply | None:
        """Ask on the stream of the call; cancelling this takes the form back.  None: it was not shown."""
        if self.context is None:
            return None
        try:
            result = await self.context.session.elicit_form(
                form.message, form.schema, related_request_id=self.context.request_id
            )
        except (MCPError, ValidationError) as error:
            logger.info("the client shows no form: %s", error)
            return None
        return reply_of(result)


def question_text(subject: Subject, seconds: int) -> str | None:
    """What a form about a call says, every argument whole; None when no client could be trusted to show all of it."""
    words = [*ours("An agent wants to run"), quoted(subject.route)]
    words += [*ours("on"), quoted(subject.target)] if subject.target else []
    words += [*ours("with"), *map(quoted, subject.argv)] if subject.argv else ours("without arguments")
    lines = wrapped(words)
    return "\n".join([*lines, ENDING.format(seconds)]) if len(lines) < MAX_LINES else None


def ours(text: str) -> list[list[str]]:
    """Words of ours, which no foreign one can pass for: those are in quotes."""
    return [list(word) for word in text.split()]


def quoted(word: str) -> list[str]:
    """A foreign word, as far as it could be shown."""
    return ['"', *spelled(word[: LINE * MAX_LINES]), '"']


def wrapped(words: Iterable[Sequence[str]]) -> list[str]:
    """Words on lines of bounded width; where one is broken both lines say so."""
    lines = [""]
    for word in words:
        if columns(lines[-1]) + 1 + columns(word) <= LINE:
            lines[-1] += (" " if lines[-1] else "") + "".join(word)
            continue
        lines.append("")
        for cell in word:
            if columns(lines[-1]) + columns(cell) >= LINE:
                lines[-1] += CUT
                lines.append(CUT)
            lines[-1] += cell
    return lines


def columns(cells: Iterable[str]) -> int:
    """How wide text is on a terminal at most: letters beyond ASCII may take two columns."""
    return sum(1 if char.isascii() else 2 for cell in cells for char in cell)


def forms_of(context: Context) -> Forms:
    """Look at the client of a call; outside of a request there is none to show anything."""
    if context.protocol_version is None:
        return Forms()
    capabilities = context.client_capabilities
    declared = capabilities.elicitation if capabilities is not None else None
    # One that says nothing of how it asks asks by forms; one that speaks of addresses alone opens a browser.
    shows = declared is not None and (declared.form is not None or declared.url is None)
    repeats = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    brought = (context.input_responses or {}).get(CHOICE)
    return Forms(
        client=declared_by(context.request_context),
        shows=shows and (repeats or context.session.can_send_request),
        repeats=repeats,
        state=state_of(context.request_state),
        reply=reply_of(brought) if isinstance(brought, ElicitResult) else None,
        context=context,
    )


def declared_by(ctx: ServerRequestContext[Any, Any]) -> str:
    """How a client calls itself; anybody who holds a token can say anything."""
    params = ctx.session.client_params
    return clean(params.client_info.name, MAX_NAME) if params is not None else ""


def reply_of(result: ElicitResult) -> Reply:
    """Read a form that came back."""
    chosen = (result.content or {}).get(CHOICE)
    return Reply(action=result.action, choice=chosen if isinstance(chosen, str) else "")


def state_of(text: str | None) -> State | None:
    """Read a state that was ours when it was sealed; one of another version is none."""
    try:
        told = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(told, Mapping):
        return None
    call, nonce, args = told.get("call"), told.get("nonce"), told.get("args")
    if not isinstance(call, str) or not isinstance(nonce, str) or not isinstance(args, list):
        return None
    return State(call=call, nonce=nonce, args=tuple(map(str, args)))
