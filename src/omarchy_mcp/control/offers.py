"""Questions that are also put to the client that called: each by a nonce that is good for one answer.

The server seals the nonce into what it hands the client, and brings it back with the client's answer; whatever is
brought, it is spent.  Security boundary: a nonce that is not known here lets nothing run, so no answer counts twice.
"""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from omarchy_mcp.control.questions import Question, Questions
from omarchy_mcp.policy import offers
from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.offers import Offer
from omarchy_mcp.policy.questions import Answer
from omarchy_mcp.session import configuration
from omarchy_mcp.session.bus import BusError
from omarchy_mcp.session.contract import ERROR
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event, clean

MAX_OFFERS = 64
"""Nonces kept, those of questions that are over among them; the oldest goes first."""

MAX_NAME = 128
MIN_NONCE = 32
SPENT = "it was used before, or nobody was asked"


@dataclass(slots=True, kw_only=True)
class _Kept:
    """One offer, and how its question ended if it has."""

    offer: Offer
    question: Question
    ended: Answer | None = None


class Offers:
    """All offers whose nonce is not spent."""

    def __init__(self, questions: Questions, audit: Writer) -> None:
        self._questions = questions
        self._audit = audit
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def make(self, question: Question, nonce: str, declared: str) -> None:
        """A question that was just opened is also put to the client that calls itself so, for one answer."""
        offer = Offer(
            digest=question.digest, client=question.subject.client, declared=clean(declared, MAX_NAME),
            until_s=question.deadline,
        )  # fmt: skip
        self._kept[nonce] = _Kept(offer=offer, question=question)
        while len(self._kept) > MAX_OFFERS:
            self._kept.popitem(last=False)

    def ended(self, question: Question, answer: Answer) -> None:
        """A question is over: an answer of the client to it comes too late, and is told how it ended."""
        for kept in self._kept.values():
            if kept.question is question:
                kept.ended = answer

    def redeem(self, asker: str, nonce: str, told: Mapping[str, object]) -> Answer | None:
        """Spend a nonce for an answer; returns how the question has ended now, None while the desk may still answer.

        `told`: digest, client, declared and action (accept, decline, cancel, or "" for none).

        Raises:
            BusError: NotFound, DigestMismatch or NotPending: it is no answer to anything; the text is for the model.
        """
        kept = self._kept.pop(nonce, None)
        digest, client, action = (str(told.get(key, "")) for key in ("digest", "client", "action"))
        declared = clean(str(told.get("declared", "")), MAX_NAME)
        if kept is None or kept.question.asker != asker:
            raise self._refused("NotFound", SPENT, declared, str(told.get("call_id", "")))
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        why = offers.misfit(kept.offer, digest, client, declared, now_s)
        refused = kept.ended is not None and kept.ended is not Answer.ACCEPTED
        if why is not None and not refused:
            self._questions.withdraw(asker, kept.question.id)
            raise self._refused("DigestMismatch", why, declared, kept.question.call_id)
        return self._late(kept, action, declared) if kept.ended is not None else self._answered(kept, action, declared)

    def _answered(self, kept: _Kept, action: str, declared: str) -> Answer | None:
        allowed = offers.may_answer(configuration.current().may_answer, kept.offer.client, declared)
        answer = offers.counted(action, allowed=allowed)
        by = f"the client '{shown(declared)}'"
        if answer is not None:
            self._questions.answer(kept.question.id, answer, by)
        elif action == "accept":
            self._ignored(f"{by} may not approve (policy.may_answer), so its yes was ignored", declared, kept)
        return answer

    def _late(self, kept: _Kept, action: str, declared: str) -> Answer | None:
        """The desk was first: its answer holds, but what it approved and nobody has run yet can still be declined."""
        if action == "decline" and kept.ended is Answer.ACCEPTED:
            self._ignored(f"the client '{shown(declared)}' declined what was approved: it does not run", declared, kept)
            return Answer.DECLINED
        if action in ("accept", "decline"):
            self._ignored("an answer of the client came after its question was over", declared, kept)
        return kept.ended

    def _ignored(self, message: str, declared: str, kept: _Kept) -> None:
        self._record(message, declared, kept.question.call_id)

    def _refused(self, error: str, why: str, declared: str, call_id: str) -> BusError:
        self._record(f"an answer of the client '{shown(declared)}' was refused: {why}", declared, call_id)
        return BusError(f"{ERROR}.{error}", f"the client's answer does not count: {why}")

    def _record(self, message: str, declared: str, call_id: str) -> None:
        self._audit.write(
            Event.QUESTION, message, call_id=call_id or None, action="ignored", caller=f"the client '{shown(declared)}'"
        )
