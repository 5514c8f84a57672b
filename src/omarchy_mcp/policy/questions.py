"""A question to the person at the desk: what it is about, how it reads, what an answer may say, what the model is told.

Pure module. Whatever a model or a program wrote is hostile here; nothing raises, and nothing grows with it.

    digest_of(subject) -> str                         what an approval is bound to
    prompt(subject, number, seconds) -> Prompt        the notification
    parse_approval(options) -> Approval | str         what `Approve` was given, or why it is refused
    words(answer, subject, seconds, cause) -> str     what the model is told, with what to do next
    next_look(deadline_s, now_s) -> float | None      when to look whether it is over
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from omarchy_mcp.policy.legible import CUT, escaped, filled, quoted, shown, width
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.selfguard import HEADLINE
from omarchy_mcp.policy.words_table import CAUSES, WORDS

MAX_NUMBER = 999_999  # of anything we put in figures; Python refuses to print very large ones

# Omarchy's card draws three lines of body, 352 px wide, at 14 px, and cuts off the rest. A line of ours is measured
# in tenths of the type size, so that what we call complete is really on the screen.
LINE = 250
CLIENT_ROOM = 90
LED = "open the panel or run omarchy-mcpctl questions"

LOOK_S = 5.0  # between looks at the clock: a timer stands still while the machine sleeps, the deadline does not

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Answer(StrEnum):
    """How a question ended. Only ``accepted`` lets anything run."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    """Taken off the screen without a yes or a no."""
    TIMED_OUT = "timed_out"
    UNSUPPORTED = "unsupported"
    """Nothing here can ask anybody."""
    UNREACHABLE = "unreachable"
    """It could not be put before the person, or was lost before it was answered."""
    WITHDRAWN = "withdrawn"
    NOT_ASKED_AGAIN = "not_asked_again"


class Cause(StrEnum):
    """Why a question was withdrawn, not put, or not put again."""

    CLIENT_GONE = "client_gone"
    CLIENT_CANCELLED = "client_cancelled"
    ASKER_GONE = "asker_gone"
    STOPPED = "stopped"
    FROZEN = "frozen"
    POLICY_CHANGED = "policy_changed"
    COMMAND_CHANGED = "command_changed"
    NO_SERVER = "no_server"
    NO_ACTIONS = "no_actions"
    SILENCED = "silenced"
    SERVER_GONE = "server_gone"
    REFUSED_BEFORE = "refused_before"
    TOO_OFTEN = "too_often"
    ANOTHER_OPEN = "another_open"
    ONE_RUN = "one_run"
    TOO_MANY_OPEN = "too_many_open"
    IN_CLIENT = "in_client"


class Scope(StrEnum):
    """What an approval covers."""

    CALL = "call"
    ARGS = "args"
    ROUTE = "route"


class Life(StrEnum):
    """How long an approval holds."""

    ONCE = "once"
    TEN_MINUTES = "10min"
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The one call a question is about. ``argv`` holds the arguments alone; the program is ``executable``."""

    client: str
    tool: str
    route: str
    argv: tuple[str, ...]
    target: str
    binary: str
    executable: str
    executable_digest: str
    capabilities: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call to ask about, and how the policy rated it."""

    subject: Subject
    tier: Tier
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A notification. Unless it is ``complete`` it must not be approvable where it is shown."""

    summary: str
    body: str
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A yes, to exactly what."""

    digest: str
    scope: Scope
    life: Life


def digest_of(subject: Subject) -> str:
    """What an approval is bound to: route, arguments, target, executable's digest and client; never raises."""
    parts = (subject.route, subject.target, subject.executable_digest, subject.client, *subject.argv)
    hashed = hashlib.sha256(b"omarchy-mcp question 1\n")
    for part in parts:
        # each with its length before it, and lone surrogates as they are: no two calls spell the same bytes
        spelled = part.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(spelled) + spelled)
    return hashed.hexdigest()


def prompt(subject: Subject, number: int, seconds: int) -> Prompt:
    """The question as a notification: three lines, each no wider than the card, the target in the first.

    Foreign text stands between double quotes, and no quote in it closes them. What is invisible, could overlap or
    reorder its neighbours, or looks like something else is spelled as an escape. All arguments are shown or none; a
    long name of a client is cut, which takes nothing from what is approved.
    """
    first, whole = _what(subject)
    client, _ = quoted(subject.client, CLIENT_ROOM)
    asks = f"For {client}: "
    rows = _arguments(subject.argv, LINE - width(asks), LINE) if whole else None
    if rows is not None:
        second, third = rows
        lines = (first, asks + second, third or f"No answer within {_figure(seconds)} s refuses it.")
    else:
        lines = (first, asks + _unshown(len(subject.argv)), LED)
    return Prompt(
        summary=f"{HEADLINE} (#{_figure(number)})",
        body=escaped("\n".join(lines)),
        complete=rows is not None,
    )


def _figure(number: int) -> str:
    return str(max(0, min(number, MAX_NUMBER)))


def _unshown(count: int) -> str:
    if not count:
        return "not shown in full:"
    figure = str(count) if count < 1_000 else "1000+"
    return f"{figure} of {figure} arguments not shown:"


def _what(subject: Subject) -> tuple[str, bool]:
    """The first line, and whether it says all of the target and the route."""
    target, whole = quoted(subject.target, LINE)
    label = f"{target}: " if subject.target else ""
    for route in (subject.route, subject.route.removeprefix("omarchy ")):
        name, named = (route, True) if _NAME.fullmatch(route) else quoted(route, LINE)
        if whole and named and width(label + name) <= LINE:
            return label + name, True
    label = f"{quoted(subject.target, LINE // 2)[0]}: " if subject.target else ""
    return label + quoted(subject.route, LINE - width(label))[0], False


def _arguments(argv: Sequence[str], first: int, second: int) -> tuple[str, str] | None:
    """All arguments on two lines of these widths, or None; one that is broken is in quotes on both."""
    if not argv:
        return "no arguments.", ""
    tokens: list[list[str]] = []
    room = first + second
    for arg in argv:
        cells, whole = filled(arg, room)
        room -= width(cells) + width('""')
        if not whole or room < 0:
            return None
        tokens.append(cells)
    for count in range(len(tokens), -1, -1):
        head, tail = _row(tokens[:count]), _row(tokens[count:])
        if width(head) <= first and width(tail) <= second:
            return head, tail
    return _broken(tokens, first, second)


def _broken(tokens: Sequence[list[str]], first: int, second: int) -> tuple[str, str] | None:
    """As above, with the first argument that does not fit on the first line broken where the line ends."""
    count = next(n for n in range(len(tokens)) if width(_row(tokens[: n + 1])) > first)
    cells = tokens[count]
    for at in range(len(cells) - 1, 0, -1):
        head = f"{_row([*tokens[:count], cells[:at]])}{CUT}"
        if width(head) <= first:
            tail = f"{CUT}{_row([cells[at:], *tokens[count + 1 :]])}"
            return (head, tail) if width(tail) <= second else None
    return None


def _row(tokens: Iterable[Iterable[str]]) -> str:
    return " ".join(f'"{"".join(cells)}"' for cells in tokens)


def parse_approval(options: Mapping[str, object]) -> Approval | str:
    """Read what an approval was given: `digest`, `scope` (call) and `life` (once); a text says what is wrong."""
    unknown = sorted(name for name in options if name not in ("digest", "scope", "life"))
    if unknown:
        return f"cannot approve: there is no option '{shown(unknown[0])}'; there are digest, scope and life"
    digest = options.get("digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return "cannot approve: 'digest' must be the digest of the question, 64 lower-case hexadecimal digits"
    scope = options.get("scope", Scope.CALL)
    if scope not in tuple(Scope):
        return f"cannot approve: 'scope' must be one of {', '.join(Scope)}"
    life = options.get("life", Life.ONCE)
    if life not in tuple(Life):
        return f"cannot approve: 'life' must be one of {', '.join(Life)}"
    approval = Approval(digest=digest, scope=Scope(str(scope)), life=Life(str(life)))
    if approval.scope is Scope.CALL and approval.life is not Life.ONCE:
        return f"cannot approve: 'scope' must be args or route when 'life' is {approval.life}"
    if approval.scope is not Scope.CALL and approval.life is Life.ONCE:
        return f"cannot approve: 'life' must be 10min, session or always when 'scope' is {approval.scope}"
    return approval


def next_look(deadline_s: float, now_s: float) -> float | None:
    """In how many seconds to look whether a question is over; None: it is.  Both by a clock that counts sleep."""
    left = deadline_s - now_s
    return min(left, LOOK_S) if left > 0 else None


def words(answer: Answer, subject: Subject, seconds: int, cause: Cause | None = None) -> str:
    """What the model is told. ``seconds``: the deadline, for ``not_asked_again`` the time left to wait."""
    route = shown(subject.route)
    if answer is Answer.ACCEPTED:
        return f"the person at the desk approved '{route}' with exactly these arguments; go on with its result"
    why = f" ({CAUSES[cause]})" if cause is not None else ""
    if answer is Answer.WITHDRAWN and cause is None:
        why = " (why is not known)"
    span = f"for {_figure(seconds)} s" if seconds > 0 else "now"
    text = WORDS[answer].format(route=route, seconds=_figure(seconds), span=span, why=why)
    return f"cannot run '{route}': {text}"
