"""The same call made several times while the person is asked about it: one question, and a yes is one run.

Every call that waits hears how the question ended.  A yes lets the one run that has waited longest; the others run
only where the person granted more than that.
"""

import asyncio
from dataclasses import dataclass, field

from omarchy_mcp.policy.questions import Answer, Asked, Cause, words
from omarchy_mcp.server.asking import Answered, Asking, Offer
from omarchy_mcp.server.progress import Progress

TELL_S = 1.0
"""How long telling one client of the wait may hold up the others."""


@dataclass(slots=True, kw_only=True, eq=False)
class Shared:
    """One open question, and the calls that wait for its end, the first to come first."""

    waiting: dict[str, Progress | None] = field(default_factory=dict)
    """By the calls' ids: how each one's client is told that the wait goes on."""
    claimed: bool = False
    """Whether a call has taken the one run that a yes is."""

    async def tell(self, waited: float, longest: float, what: str) -> None:
        """Tell every client that waits."""
        telling = [asyncio.wait_for(each(waited, longest, what), TELL_S) for each in self.waiting.values() if each]
        await asyncio.gather(*telling, return_exceptions=True)  # one that has gone says so by its call

    def claim(self) -> bool:
        """Take the one run, if nobody has."""
        first, self.claimed = not self.claimed, True
        return first


class Together:
    """Asks about each call once, however many wait for the answer."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._open: dict[Asked, tuple[Shared, asyncio.Task[Answered]]] = {}

    async def granted(self, asked: Asked) -> str:
        """The id of a grant that covers a call, "" when none does or nobody can be asked for one."""
        return await self._asking.granted(asked)

    async def ask(
        self, asked: Asked, call_id: str, seconds: int, progress: Progress | None, offer: Offer | None = None
    ) -> Answered:
        """Put a question, or wait with those who have put it; it is withdrawn with the last of them."""
        if asked not in self._open:
            shared = Shared()
            work = asyncio.ensure_future(self._asking.ask(asked, call_id, seconds, shared.tell, offer))
            self._open[asked] = shared, work
            work.add_done_callback(lambda _: self._forget(asked, shared))
        shared, work = self._open[asked]
        shared.waiting[call_id] = progress
        try:
            answered = await asyncio.shield(work)
        finally:
            del shared.waiting[call_id]
            if not shared.waiting and not work.done():
                self._forget(asked, shared)  # whoever asks now asks anew
                work.cancel()
        if answered.answer is not Answer.ACCEPTED or shared.claim() or await self.granted(asked):
            return answered
        text = words(Answer.NOT_ASKED_AGAIN, asked.subject, 0, Cause.ONE_RUN)
        return Answered(answer=Answer.NOT_ASKED_AGAIN, text=text)

    def _forget(self, asked: Asked, shared: Shared) -> None:
        if self._open.get(asked, (None,))[0] is shared:
            del self._open[asked]
