"""Asking the person through the control service, which alone holds questions and grants.

Whatever goes wrong on the way is an answer that lets nothing run.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from omarchy_mcp.policy.questions import Answer, Asked
from omarchy_mcp.server.progress import PROGRESS_S, Progress
from omarchy_mcp.session.bus import DBUS, Bus, BusError, Reply, Signal, Variant, variant, variants
from omarchy_mcp.session.contract import NAME, PATH

logger = logging.getLogger(__name__)

LATE_S = 5.0
"""How long after its deadline a question may still end at the control service before it counts as unreachable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What became of a question, and what is to be said of it where that is more; without an answer there was none."""

    answer: Answer | None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """That a question is put to the client as well: how that calls itself, and the nonce its one answer comes by."""

    declared: str
    nonce: str
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the question is open under this offer; never when it is not, or was already under another."""


class Asking:
    """Puts questions, and waits for their ends."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._control = ""
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        bus.match(f"type='signal',sender='{NAME}',path='{PATH}',interface='{NAME}',member='QuestionClosed'")
        bus.listen(self._hear)

    async def granted(self, asked: Asked) -> str:
        """The id of a grant that covers a call, "" when none does or nobody can be asked for one."""
        try:
            reply = await self._bus.call(NAME, PATH, NAME, "Granted", "a{sv}", [facts(asked)])
        except BusError as error:
            logger.warning("cannot look for a grant: %s", error)
            return ""
        return str(reply.body[0])

    async def ask(
        self, asked: Asked, call_id: str, seconds: int, progress: Progress | None, offer: Offer | None = None
    ) -> Answered:
        """Put a question and wait for its end, telling the client now and then that somebody is being asked."""
        body = facts(asked) | {"call_id": variant(call_id), "timeout": Variant("u", seconds)}
        if offer is not None:
            body |= variants({"nonce": offer.nonce, "declared": offer.declared})
        putting = asyncio.ensure_future(self._bus.call(NAME, PATH, NAME, "Ask", "a{sv}", [body]))
        try:
            reply = await asyncio.shield(putting)
        except asyncio.CancelledError:  # it is put all the same, and must not be left on the screen
            putting.add_done_callback(self._take_back)
            raise
        except BusError as error:
            refused = error.name.endswith(".Refused")
            return Answered(
                answer=Answer.NOT_ASKED_AGAIN if refused else Answer.UNREACHABLE, text=error.text if refused else ""
            )
        self._control = reply.sender
        question = question_of(reply)
        waiting = self._waiting[question] = asyncio.get_running_loop().create_future()
        if offer is not None:
            offer.opened.set()
        try:
            return Answered(answer=await self._wait(waiting, seconds, progress))
        except asyncio.CancelledError:
            self._withdraw(question)
            raise
        finally:
            self._waiting.pop(question, None)

    def _take_back(self, putting: "asyncio.Task[Reply]") -> None:
        if not putting.cancelled() and putting.exception() is None:
            self._withdraw(question_of(putting.result()))

    def _withdraw(self, question: str) -> None:
        self._bus.post(NAME, PATH, NAME, "Withdraw", "s", [question])

    @staticmethod
    async def _wait(waiting: "asyncio.Future[Answer]", seconds: int, progress: Progress | None) -> Answer:
        waited = 0.0
        while waited < seconds + LATE_S:
            done, _ = await asyncio.wait({waiting}, timeout=PROGRESS_S)
            if done:
                return waiting.result()
            waited += PROGRESS_S
            if progress is not None:
                await progress(waited, seconds, "the person at the desk is being asked")
        return Answer.UNREACHABLE

    def _hear(self, signal: Signal) -> None:
        if signal.sender == DBUS and signal.member == "NameOwnerChanged" and signal.body[0] == NAME:
            for waiting in self._waiting.values():  # whoever held the questions is gone, and they with it
                if not waiting.done():
                    waiting.set_result(Answer.UNREACHABLE)
        elif signal.sender == self._control and signal.member == "QuestionClosed":
            question, answer = signal.body
            waiting_for = self._waiting.get(question)
            if waiting_for is not None and not waiting_for.done():
                known = answer in set(Answer)
                waiting_for.set_result(Answer(answer) if known else Answer.UNREACHABLE)


def question_of(reply: Reply) -> str:
    """The id of the question that was put."""
    return str(reply.body[0]).rpartition("/")[2]


def facts(asked: Asked) -> dict[str, Variant]:
    """A call as the control service is told of it."""
    subject = asked.subject
    return variants(
        {
            "client": subject.client,
            "tool": subject.tool,
            "route": subject.route,
            "argv": list(subject.argv),
            "target": subject.target,
            "binary": subject.binary,
            "executable": subject.executable,
            "executable_digest": subject.executable_digest,
            "capabilities": [str(each) for each in subject.capabilities],
            "reason": subject.reason,
            "tier": str(asked.tier),
            "rule": asked.rule,
        }
    )
