"""What the tools give back: the shapes of their structured content, and the short text beside it.

Every shape is flat: clients' schema readers choke on references, unions and nulls.  A key that has nothing
to say is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent
from typing_extensions import TypedDict

from omarchy_mcp.policy.verdict import Verdict
from omarchy_mcp.server.catalogue import Row
from omarchy_mcp.server.gate import Refused
from omarchy_mcp.server.running import Ran
from omarchy_mcp.session.records import Outcome

MAX_TEXT = 4_000
"""Characters of the short text; the structured content has the rest."""


class RunAnswer(TypedDict, total=False):
    """What came of a command.

    There is more in it where there is more to say (ran, previewed, refused below); what is declared is what every
    client pays for in every conversation.
    """

    outcome: str
    route: str
    tier: str
    rule: str
    reason: str
    exit: int
    signal: int
    stdout: str
    stderr: str
    truncated: bool
    job: str
    duration_ms: int
    ways_out: list[str]


class ActAnswer(TypedDict, total=False):
    """What came of an act; the call that it stands for is `route`.  There is more in it, as in RunAnswer."""

    outcome: str
    route: str
    reason: str
    stdout: str
    job: str


class SearchAnswer(TypedDict, total=False):
    """Commands found, the best first."""

    query: str
    count: int
    commands: list[dict[str, Any]]
    reason: str


class TargetsAnswer(TypedDict, total=False):
    """Functions of the shell."""

    count: int
    functions: list[dict[str, Any]]
    outcome: str
    reason: str


class SawAnswer(TypedDict, total=False):
    """What came of a look; `why` says why nothing was seen."""

    outcome: str
    why: str
    reason: str


class TextAnswer(SawAnswer, total=False):
    """Text that was read."""

    text: str
    truncated: bool


class PictureAnswer(SawAnswer, total=False):
    """What a picture beside it shows: scale is its pixels for one of the original's."""

    width: int
    height: int
    scale: float
    flat: str


class DesktopAnswer(SawAnswer, total=False):
    """What is open; monitors and workspaces are beside the windows."""

    count: int
    windows: list[dict[str, Any]]
    focused: str


class StatusAnswer(SawAnswer, total=False):
    """How the machine is; each a command's own words."""

    theme: str
    battery: str
    network: str
    unknown: list[str]


def result(content: Mapping[str, object], text: str, *, error: bool) -> CallToolResult:
    """An answer: structured content without its empty parts, the text, and whether it went wrong."""
    kept = {key: value for key, value in content.items() if value not in (None, "", [], ())}
    text = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… (the structured content has all of it)"
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=kept, is_error=error)


def refused(refusal: Refused, duration_ms: int) -> CallToolResult:
    """A call that did not run: why, and what can be done."""
    verdict = refusal.verdict
    content: dict[str, object] = {
        "outcome": str(refusal.outcome),
        "reason": refusal.reason,
        "duration_ms": duration_ms,
    }
    hints: list[str] = []
    if verdict is not None:
        content |= {
            "route": verdict.route,
            "tier": str(verdict.tier),
            "rule": verdict.rule,
            "target": verdict.target,
            "did_you_mean": list(verdict.did_you_mean),
            "ways_out": list(verdict.ways_out),
        }
        hints = [f"did you mean: {', '.join(verdict.did_you_mean)}"] if verdict.did_you_mean else []
        hints += verdict.ways_out
    return result(content, "\n".join([f"{refusal.outcome}: {refusal.reason}", *hints]), error=True)


def ran(verdict: Verdict, outcome: Ran, duration_ms: int) -> CallToolResult:
    """A command that was started, or could not be."""
    about = {
        "route": verdict.route, "tier": str(verdict.tier), "rule": verdict.rule, "target": verdict.target,
        "job": outcome.job,
    }  # fmt: skip
    return _ran(about, outcome, duration_ms)


def seen(route: str, job: str, outcome: Ran, duration_ms: int) -> CallToolResult:
    """How a job is that was started before; one that failed is an error, as it would have been when waited for."""
    return _ran({"route": route, "job": job}, outcome, duration_ms)


def _ran(about: Mapping[str, object], outcome: Ran, duration_ms: int) -> CallToolResult:
    content = {
        "outcome": str(outcome.outcome),
        **about,
        "reason": outcome.reason,
        "exit": outcome.exit,
        "signal": outcome.signal,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
        "truncated": outcome.truncated,
        "duration_ms": duration_ms,
    }
    return result(content, in_words(outcome), error=outcome.outcome not in (Outcome.OK, Outcome.RUNNING))


def previewed(verdict: Verdict, argv: Sequence[str], duration_ms: int) -> CallToolResult:
    """What would become of a call; nothing ran."""
    content = {
        "outcome": str(Outcome.OK),
        "route": verdict.route,
        "tier": str(verdict.tier),
        "rule": verdict.rule,
        "reason": verdict.reason,
        "target": verdict.target,
        "allowed": verdict.allowed,
        "askable": verdict.askable,
        "would_ask": verdict.would_ask,
        "capabilities": [str(each) for each in verdict.capabilities],
        "argv": list(argv),
        "binary": verdict.binary,
        "did_you_mean": list(verdict.did_you_mean),
        "ways_out": list(verdict.ways_out),
        "duration_ms": duration_ms,
    }
    would = "run" if verdict.allowed else "be put to the person" if verdict.would_ask else "be refused"
    return result(content, f"nothing ran; it would {would}: {verdict.reason}", error=False)


def in_words(outcome: Ran) -> str:
    """The end of a command, then what it printed."""
    how = str(outcome.outcome)
    if outcome.job and outcome.outcome is Outcome.RUNNING:
        how = f"still running as job {outcome.job}; it goes on"
    elif outcome.exit:
        how += f", exit status {outcome.exit}"
    elif outcome.signal:
        how += f", ended by signal {outcome.signal}"
    if outcome.reason and outcome.outcome is not Outcome.RUNNING:
        how += f": {outcome.reason}"
    printed = [part.rstrip("\n") for part in (outcome.stdout, outcome.stderr) if part]
    return "\n".join([how, *printed])


def found(query: str, rows: Sequence[Row]) -> CallToolResult:
    """Search results, each with what would become of it."""
    lines = [
        f"{row['route']} {row.get('args', '')} [{row['tier']}] {row['summary']}".replace("  ", " ") for row in rows
    ]
    text = "\n".join(lines) if lines else f"no command matches {query!r}"
    return result({"query": query, "count": len(rows), "commands": list(rows)}, text, error=False)
