"""When a client has to leave the person alone: after a no, for a time that doubles; and never many questions at once.

Pure module. Times come in as seconds of a clock that only runs forward.

    may_ask(memory, client, digest, now_s) -> Wait | None          how long to leave it, or None: ask
    after(memory, client, digest, answer, now_s) -> Memory         what is remembered once a question has ended

A no is remembered beyond its wait and forgotten step by step, so that asking the moment a wait is over doubles it.
"""

import math
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from omarchy_mcp.policy.questions import Answer, Cause

FIRST_WAIT_S = 300
LONGEST_WAIT_S = 3_600
MOST_REFUSALS = 5  # that count; the wait is the longest by then
DECAY_S = 3_600  # of quiet after a wait, for which one refusal is forgotten
BURST = 12  # questions of one client
BURST_WINDOW_S = 600
MAX_MARKS = 1_024  # calls remembered; beyond, the one whose wait ended first is forgotten
MAX_CLIENTS = 256  # clients remembered; beyond, the one that asked longest ago is forgotten

# What a person did, or let pass. A question that nobody saw, or that was withdrawn, is no refusal.
_REFUSALS = frozenset({Answer.DECLINED, Answer.CANCELLED, Answer.TIMED_OUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Whole seconds to wait, and why: ``refused_before`` or ``too_often``."""

    seconds: int
    reason: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Refusals of one call that still count, and when its wait ends."""

    refusals: int
    until_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is remembered: refusals by client and call, and when each client's latest questions ended."""

    marks: MappingProxyType[tuple[str, str], Mark] = field(default_factory=lambda: MappingProxyType({}))
    asked: MappingProxyType[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))


def may_ask(memory: Memory, client: str, digest: str, now_s: float) -> Wait | None:
    """Whether a client may put this call to the person now; the longer wait counts."""
    mark = memory.marks.get((client, digest))
    refused = min(mark.until_s - now_s, LONGEST_WAIT_S) if mark is not None else 0
    times = memory.asked.get(client, ())
    burst = times[-BURST] + BURST_WINDOW_S - now_s if len(times) >= BURST else 0
    if max(refused, burst) <= 0:
        return None
    reason = Cause.REFUSED_BEFORE if refused >= burst else Cause.TOO_OFTEN
    return Wait(seconds=math.ceil(max(refused, burst)), reason=reason)


def after(memory: Memory, client: str, digest: str, answer: Answer, now_s: float) -> Memory:
    """The memory once a question has ended; one that was never put changes nothing."""
    if answer in (Answer.NOT_ASKED_AGAIN, Answer.UNSUPPORTED):
        return memory
    times = (*memory.asked.get(client, ()), now_s)[-BURST:]
    asked = {name: kept for name, kept in memory.asked.items() if name != client} | {client: times}
    while len(asked) > MAX_CLIENTS:
        del asked[min(asked, key=lambda name: asked[name][-1])]
    memory = replace(memory, asked=MappingProxyType(asked))
    if answer is Answer.ACCEPTED:
        kept = {call: mark for call, mark in memory.marks.items() if call != (client, digest)}
        return replace(memory, marks=MappingProxyType(kept))
    return _refused(memory, (client, digest), now_s) if answer in _REFUSALS else memory


def _refused(memory: Memory, call: tuple[str, str], now_s: float) -> Memory:
    marks = {other: mark for other, mark in memory.marks.items() if _standing(mark, now_s)}
    refusals = min((_standing(marks[call], now_s) if call in marks else 0) + 1, MOST_REFUSALS)
    wait = min(FIRST_WAIT_S * 2 ** (refusals - 1), LONGEST_WAIT_S)
    marks[call] = Mark(refusals=refusals, until_s=now_s + wait)
    while len(marks) > MAX_MARKS:
        del marks[min(marks, key=lambda other: marks[other].until_s)]
    return replace(memory, marks=MappingProxyType(marks))


def _standing(mark: Mark, now_s: float) -> int:
    """How many of the refusals still count."""
    return max(0, mark.refusals - max(0, int((now_s - mark.until_s) // DECAY_S)))
