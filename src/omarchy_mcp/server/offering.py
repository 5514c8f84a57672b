"""Putting a question to the client that called as well, where the person has named it: the first answer counts.

What an answer is worth is the control service's to say, which spends the nonce it comes by.  Whatever goes wrong on
the way is an answer that lets nothing run, and leaves the question to the desk.
"""

import asyncio
import logging
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.offers import may_answer
from omarchy_mcp.policy.questions import Answer, Asked, Cause, digest_of, words
from omarchy_mcp.server.asking import LATE_S, Answered, Offer
from omarchy_mcp.server.forms import Form, Forms, State, question_text
from omarchy_mcp.server.held import Held
from omarchy_mcp.server.progress import Progress
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.session.bus import Bus, BusError, variants
from omarchy_mcp.session.contract import ERROR, NAME, PATH

logger = logging.getLogger(__name__)

CHANGED = "the client's answer does not count: the call is no longer the one that was shown"


class Asker(Protocol):
    """Puts questions to the desk."""

    async def granted(self, asked: Asked) -> str:
        """The id of a grant that covers a call, or ""."""

    async def ask(
        self, asked: Asked, call_id: str, seconds: int, progress: Progress | None, offer: Offer | None = None
    ) -> Answered:
        """Put a question and wait for its end; cancelling this withdraws it."""


@dataclass(slots=True, kw_only=True, eq=False)
class Wait:
    """The wait for the desk, and the call whose client is told of it: none until its call comes back."""

    asked: Asked
    declared: str
    call_id: str
    progress: Progress | None
    work: "asyncio.Task[Answered] | None" = None
    said: str = ""
    """The action of a form on the call's stream: the question may have ended by it before its answer is here."""

    async def tell(self, waited: float, longest: float, what: str) -> None:
        """Tell whoever waits."""
        if self.progress is not None:
            await self.progress(waited, longest, what)

    async def end(self) -> Answered:
        """Wait for the end; whoever is cancelled meanwhile takes the question along."""
        assert self.work is not None  # noqa: S101 - it is set as soon as there is a question
        try:
            return await asyncio.shield(self.work)
        except asyncio.CancelledError:
            self.withdraw()
            raise

    def withdraw(self) -> None:
        """Let the question be asked no more; one that is over stays as it ended."""
        if self.work is not None:
            self.work.cancel()


class Offering:
    """Asks the desk, and by a form the client that may answer."""

    def __init__(self, asking: Asker, bus: Bus, held: Held) -> None:
        self._asking = asking
        self._bus = bus
        self._held = held
        self._parked: dict[str, Wait] = {}
        """By their nonces, the questions whose calls were answered with a form."""

    async def granted(self, asked: Asked) -> str:
        """The id of a grant that covers a call, "" when none does or nobody can be asked for one."""
        return await self._asking.granted(asked)

    async def ask(
        self, asked: Asked, call: CallRecord, seconds: int, progress: Progress | None, forms: Forms,
        listed: Collection[str],
    ) -> Answered | Form:  # fmt: skip
        """Put a question and wait for its end.  `listed` are the clients that may answer.

        One of the modern era is sent a form, and the question stays open until its call comes back.  That, and the
        same call made anew, go on with the question that is open.
        """
        if forms.state is not None and forms.comes_back:
            return await self._come_back(forms.state.nonce, asked, call, progress, forms)
        taken = await self._taken_over(asked, call, progress, forms)
        if taken is not None:
            return await taken.end()
        form = form_for(asked, call, seconds, forms, listed)
        if form is None:
            return await self._asking.ask(asked, call.id, seconds, progress)
        offer = Offer(declared=forms.client, nonce=form.state.nonce)
        wait = Wait(asked=asked, declared=forms.client, call_id=call.id, progress=progress)
        wait.work = asyncio.ensure_future(self._asking.ask(asked, call.id, seconds, wait.tell, offer))
        if not await self._opened(offer, wait):
            return await wait.end()
        if not forms.repeats:
            return await self._beside(form, wait, forms)
        wait.progress = None
        self._parked[offer.nonce] = wait
        self._held.hold(call, seconds + LATE_S)
        asyncio.get_running_loop().call_later(seconds + LATE_S, self.drop, offer.nonce)
        return form

    def drop(self, nonce: str) -> None:
        """Nobody comes back for a question any more."""
        wait = self._parked.pop(nonce, None)
        if wait is not None:
            wait.withdraw()

    @staticmethod
    async def _opened(offer: Offer, wait: Wait) -> bool:
        """Whether a question is open under this offer; else its end is known, or another call's question is waited for.

        The latter has its own form, if any: nobody is shown two.
        """
        assert wait.work is not None  # noqa: S101 - as above
        opened = asyncio.ensure_future(offer.opened.wait())
        try:
            await asyncio.wait({opened, wait.work}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            wait.withdraw()
            raise
        finally:
            opened.cancel()
        return offer.opened.is_set() and not wait.work.done()

    async def _beside(self, form: Form, wait: Wait, forms: Forms) -> Answered:
        """Wait for the first answer, of the desk or of the form on the call's stream; the other is taken away."""
        showing = asyncio.ensure_future(self._shown(form, wait, forms))
        try:
            ended = await wait.end()
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
        return in_words(ended, wait.asked, wait.said)

    async def _shown(self, form: Form, wait: Wait, forms: Forms) -> None:
        """Show a form and have its answer counted."""
        reply = await forms.show(form)
        if reply is None:
            return
        wait.said = reply.action
        try:
            await self._redeem(form.state.nonce, wait.asked, wait.call_id, forms.client, reply.action)
        except BusError as error:
            logger.warning("an answer of the client does not count: %s", error)

    async def _taken_over(self, asked: Asked, call: CallRecord, progress: Progress | None, forms: Forms) -> Wait | None:
        """The open question of the same call, made before and answered with a form nobody brought back: not two."""
        same = (
            nonce for nonce, each in self._parked.items() if (each.asked, each.declared) == (asked, forms.client)
        )  # fmt: skip
        nonce = next(same, "")
        if not nonce:
            return None
        wait = self._parked.pop(nonce)
        self._held.back(call, wait.call_id)
        wait.progress = progress
        return wait if await self._spent(nonce, wait, forms) else None

    async def _spent(self, nonce: str, wait: Wait, forms: Forms) -> bool:
        """Have a nonce spent for no answer, so that none can come any more; whether that could be done."""
        try:
            await self._redeem(nonce, wait.asked, wait.call_id, forms.client, "")
        except BusError as error:
            logger.warning("cannot go on with a question: %s", error)
        except asyncio.CancelledError:
            wait.withdraw()
            raise
        else:
            return True
        wait.withdraw()
        return False

    async def _come_back(
        self, nonce: str, asked: Asked, call: CallRecord, progress: Progress | None, forms: Forms
    ) -> Answered:
        """Spend what the client brought back, and go on waiting for the desk where that is no answer."""
        wait = self._parked.pop(nonce, None)
        said = forms.reply.action if forms.reply is not None else ""
        if wait is not None and wait.asked != asked and not forms.declines:
            wait.withdraw()  # what it can do, or why it is asked about, is not what was shown
            return Answered(answer=None, text=stale(asked, CHANGED))
        try:
            outcome = await self._redeem(nonce, asked, call.id, forms.client, said)
        except (BusError, asyncio.CancelledError) as error:
            if wait is not None:
                wait.withdraw()
            if isinstance(error, BusError):
                return no_answer(asked, error)
            raise
        if outcome not in (None, Answer.ACCEPTED):
            if wait is not None:
                wait.withdraw()  # the client may decline what the desk approved
            return in_words(Answered(answer=outcome), asked, said)
        if wait is None:
            return Answered(answer=Answer.UNREACHABLE)
        wait.progress = progress
        return await wait.end()

    async def _redeem(self, nonce: str, asked: Asked, call_id: str, declared: str, action: str) -> Answer | None:
        """Have a nonce spent; returns how its question has ended, None while it is open.

        Raises:
            BusError: it is no answer to anything, or nobody is there to say so.
        """
        told = {
            "digest": digest_of(asked.subject), "client": asked.subject.client, "declared": declared,
            "action": action, "call_id": call_id,
        }  # fmt: skip
        reply = await self._bus.call(NAME, PATH, NAME, "Redeem", "sa{sv}", [nonce, variants(told)])
        outcome = str(reply.body[0])
        if not outcome:
            return None
        return Answer(outcome) if outcome in set(Answer) else Answer.UNREACHABLE


def form_for(asked: Asked, call: CallRecord, seconds: int, forms: Forms, listed: Collection[str]) -> Form | None:
    """The form by which a client may answer, None when it may not, shows none, or could not be shown all of it.

    One that could only decline is shown none: a form holds a modern call up until somebody has dealt with it, some
    clients decline by themselves, and a call can be cancelled in any client.
    """
    if not forms.shows or not may_answer(listed, asked.subject.client, forms.client):
        return None
    message = question_text(asked.subject, seconds)
    if message is None:
        return None
    args = forms.state.args if forms.state is not None else ()
    return Form(message=message, state=State(call=call.id, nonce=secrets.token_urlsafe(32), args=args))


def in_words(ended: Answered, asked: Asked, said: str) -> Answered:
    """How a question ended, in the words for a no of the client's own where it was one."""
    if ended.answer is Answer.DECLINED and said == "decline":
        return Answered(answer=ended.answer, text=words(ended.answer, asked.subject, 0, Cause.IN_CLIENT))
    return ended


def no_answer(asked: Asked, error: BusError) -> Answered:
    """What a client is told whose answer counts for nothing."""
    if not error.name.startswith(ERROR):
        return Answered(answer=Answer.UNREACHABLE)
    return Answered(answer=None, text=stale(asked, error.text))


def stale(asked: Asked, why: str) -> str:
    """Why what a client brought back does not count, and what to do next."""
    return f"cannot run '{shown(asked.subject.route)}': {why}; nothing ran. Call it anew to have it asked"
