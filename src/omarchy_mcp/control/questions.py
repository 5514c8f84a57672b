"""The questions that are open: how each is put to the person, and the one event that ends it.

The server asks, the person answers; whatever happens first is the end of a question, and what comes later finds
nothing.  Security boundary: only `_end` with Answer.ACCEPTED lets a call run.
"""

import asyncio
import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from omarchy_mcp.control import cooldown
from omarchy_mcp.control.cooldown import Memory, Wait
from omarchy_mcp.control.grants import GrantError, GrantStore, may_store, now_usec, session_mark
from omarchy_mcp.control.left import Left, LeftBehind
from omarchy_mcp.policy import grants, questions
from omarchy_mcp.policy.legible import escaped
from omarchy_mcp.policy.questions import Answer, Approval, Asked, Cause, Life, Subject
from omarchy_mcp.session.bus import Bus, BusError
from omarchy_mcp.session.contract import ERROR
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.notifications import DISMISSED, Listener, Notifications
from omarchy_mcp.session.records import Event, arguments

logger = logging.getLogger(__name__)

MAX_OPEN = 16
"""Questions of all clients together: nobody answers more than one at a time."""

SERVER_S = 2.0
"""How long a question waits for a notification server that is not there: a shell is restarted in that time."""

UNSEEN_S = 0.3
"""A notification that is closed sooner was shown to nobody (do-not-disturb), however it was closed."""

ARMED_S = 0.5
"""A click that comes sooner was meant for what was on the screen before; the question is put anew."""

CLOSED_KEPT = 256
ACTIONS = {"default": "Open", "approve": "Approve once", "deny": "Deny"}


@dataclass(slots=True, kw_only=True, eq=False)
class Question:
    """One open question."""

    id: str
    number: int
    call: Asked
    digest: str
    asker: str
    call_id: str
    opened_usec: int
    deadline: float
    """CLOCK_BOOTTIME seconds: a machine that slept through it has let it pass."""
    notification: int | None = None
    posted: float = 0.0
    complete: bool = True
    timer: asyncio.TimerHandle | None = None
    posting: "asyncio.Task[None] | None" = None

    @property
    def subject(self) -> Subject:
        """The call it is about."""
        return self.call.subject

    @property
    def left_s(self) -> float:
        """How long it may still be answered, in seconds."""
        return self.deadline - now_s()

    @property
    def next_look(self) -> float | None:
        """In how many seconds to look whether it is over; None: it is."""
        return questions.next_look(self.deadline, now_s())


class Questions:
    """All open questions."""

    def __init__(
        self,
        bus: Bus,
        store: GrantStore,
        audit: Writer,
        left: LeftBehind,
        told: Callable[[Question, Answer | None], None],
    ) -> None:
        """`told` hears of every question that is opened (with no answer) and that ends."""
        self._bus = bus
        self._left = left
        self._store = store
        self._audit = audit
        self._told = told
        self._open: dict[str, Question] = {}
        self._closed: deque[str] = deque(maxlen=CLOSED_KEPT)
        self._memory = Memory()
        self._count = 0
        self.click = "open"
        """What a bare click on a notification does (policy.click): approve, open, or auto."""
        listener = Listener(
            action=self._acted, closed=self._dismissed, replaced=self._replaced, owner=self._server_changed
        )
        self._notifications = Notifications(bus, listener)

    async def connect(self) -> None:
        """Find the notification server, and end what a control service that was killed has left there."""
        await self._notifications.connect()
        for left in self._left.take():
            if left.notification and left.server == self._notifications.owner:
                self._notifications.close(left.notification)
            self._record(left.subject, left.call_id, Answer.UNREACHABLE, "the control service was killed")

    @property
    def open(self) -> tuple[Question, ...]:
        """The open questions, the oldest first."""
        return tuple(self._open.values())

    def ask(self, call: Asked, asker: str, call_id: str, seconds: float) -> Question:
        """Open a question.

        Raises:
            BusError: it may not be asked now; the text is for the model.
        """
        subject = call.subject
        digest = questions.digest_of(subject)
        wait = self._wait(subject.client, digest)
        if wait is not None:
            self._record(subject, call_id, Answer.NOT_ASKED_AGAIN, wait.reason)
            text = questions.words(Answer.NOT_ASKED_AGAIN, subject, wait.seconds, wait.reason)
            raise BusError(f"{ERROR}.Refused", text)
        self._count += 1
        question = Question(
            id=secrets.token_hex(16), number=self._count, call=call, digest=digest, asker=asker, call_id=call_id,
            opened_usec=now_usec(), deadline=now_s() + seconds,
        )  # fmt: skip
        self._open[question.id] = question
        self._look(question)
        self._remember()
        self._attend(question, self._post(question, seconds))
        self._told(question, None)
        return question

    def _look(self, question: Question) -> None:
        """End a question that is past its deadline, else look again."""
        seconds = question.next_look
        if seconds is None:
            self._time_out(question)
        else:
            question.timer = asyncio.get_running_loop().call_later(seconds, self._look, question)

    def _time_out(self, question: Question) -> None:
        """Nobody has answered in time."""
        self._end(question, Answer.TIMED_OUT, "deadline")

    def _wait(self, client: str, digest: str) -> Wait | None:
        """How long a client has to leave the person alone about a call, None when it may ask now."""
        wait = cooldown.may_ask(self._memory, client, digest, time.monotonic())
        if wait is not None:
            return wait
        own = [each for each in self.open if each.subject.client == client]
        in_the_way = own or (self.open if len(self._open) >= MAX_OPEN else ())
        if not in_the_way:
            return None
        left = max(min(each.left_s for each in in_the_way), 1)
        return Wait(seconds=math.ceil(left), reason=Cause.ANOTHER_OPEN if own else Cause.TOO_MANY_OPEN)

    def tell(self, summary: str, body: str) -> None:
        """Show the person something that asks for no answer; the record has it in any case."""
        telling = asyncio.ensure_future(self._notifications.post(summary, escaped(body), {}, critical=False))
        telling.add_done_callback(_not_told)

    async def approve(self, question_id: str, approval: Approval, by: str) -> None:
        """Let the call of a question run, and store what else was granted, before anybody hears of either.

        Raises:
            BusError: NotFound, NotPending, DigestMismatch, or Refused when a grant could not be stored.
        """
        question = self.find(question_id, by)
        if not secrets.compare_digest(approval.digest.encode(), question.digest.encode()):
            raise BusError(f"{ERROR}.DigestMismatch", "cannot approve: this is not the call that was shown")
        if approval.life is not Life.ONCE:
            await self._grant(question, approval)
        if question.id in self._open:
            self._end(question, Answer.ACCEPTED, by)
        for other in self.open:
            if self._store.covering(other.call) is not None:
                self._end(other, Answer.ACCEPTED, "a grant given meanwhile")

    async def _grant(self, question: Question, approval: Approval) -> None:
        grant = grants.granted(
            approval, question.subject, grant_id=secrets.token_hex(8), now_usec=now_usec(), session=session_mark()
        )
        why = may_store(question.call, approval.scope)
        if self._store.outdated(question.call, question.opened_usec):
            why = "cannot remember it: the command has changed since the question was put"
        if why is not None or isinstance(grant, str):
            raise BusError(f"{ERROR}.Refused", why or str(grant))
        try:
            await self._store.add(grant)
        except GrantError as error:
            raise BusError(f"{ERROR}.Refused", str(error)) from error
        client, route = question.subject.client, question.subject.route
        message = f"granted to {client}: '{route}', {approval.scope}, {approval.life}"
        self._audit.write(Event.GRANT, message, client=client, route=route, action="granted", grant=grant.id)

    def deny(self, question_id: str, by: str) -> None:
        """Refuse the call of a question.

        Raises:
            BusError: NotFound or NotPending.
        """
        self.answer(question_id, Answer.DECLINED, by)

    def answer(self, question_id: str, answer: Answer, by: str) -> None:
        """End a question as whoever may answer it says; `by` is for the record.

        Raises:
            BusError: NotFound or NotPending.
        """
        self._end(self.find(question_id, by), answer, by)

    def withdraw(self, asker: str, question_id: str = "") -> None:
        """The asker is gone, or does not want to know any more: one question of its, or all."""
        for question in self.open:
            if question.asker == asker and question_id in ("", question.id):
                self._end(question, Answer.WITHDRAWN, "the client has gone")

    def end_all(self, answer: Answer, why: str) -> None:
        """A stop or a freeze ends every question."""
        for question in self.open:
            self._end(question, answer, why)

    def find(self, question_id: str, by: str) -> Question:
        """The open question of an id; `by` says who answers, for the record.

        Raises:
            BusError: NotFound or NotPending.
        """
        question = self._open.get(question_id)
        if question is None and question_id in self._closed:
            message = "an answer came after its question was over, and was ignored"
            self._audit.write(Event.QUESTION, message, action="ignored", caller=by)
            raise BusError(f"{ERROR}.NotPending", "cannot answer: this question is over")
        if question is None:
            raise BusError(f"{ERROR}.NotFound", "cannot answer: no question of that id is open")
        if question.next_look is None:
            self._time_out(question)
            raise BusError(f"{ERROR}.NotPending", "cannot answer: this question is over")
        return question

    def _end(self, question: Question, answer: Answer, how: str) -> None:
        """End a question; the first to do so decides."""
        if self._open.pop(question.id, None) is None:
            return
        self._closed.append(question.id)
        if question.timer is not None:
            question.timer.cancel()
        if question.posting is not None and question.posting is not asyncio.current_task():
            question.posting.cancel()
        if question.notification is not None:
            self._notifications.close(question.notification)
        if not self._open:
            self._notifications.unguard()
        self._remember()
        subject = question.subject
        self._memory = cooldown.after(self._memory, subject.client, question.digest, answer, time.monotonic())
        self._record(subject, question.call_id, answer, how)
        self._told(question, answer)

    def _remember(self) -> None:
        """Have it on file what is being asked and where: after a kill nobody else knows."""
        server = self._notifications.owner or ""
        left = [
            Left(call_id=each.call_id, subject=each.subject, server=server, notification=each.notification or 0)
            for each in self.open
        ]
        try:
            self._left.write(left)
        except OSError as error:
            logger.warning("cannot keep on file what is being asked: %s", error)

    def _record(self, subject: Subject, call_id: str, answer: Answer, how: str) -> None:
        target = f" ({subject.target})" if subject.target else ""
        message = f"{subject.client} asked for '{subject.route}'{target}: {answer} ({how})"
        self._audit.write(
            Event.QUESTION, message, call_id=call_id, client=subject.client, tool=subject.tool, route=subject.route,
            target=subject.target or None, consent=answer, caller=how, **arguments(subject.argv),
        )  # fmt: skip

    async def _post(self, question: Question, seconds: float) -> None:
        """Put a question on the screen; nobody to put it to is an answer within SERVER_S."""
        prompt = questions.prompt(question.subject, question.number, int(seconds))
        try:
            question.complete = prompt.complete and await self._notifications.guard()
            actions = ACTIONS if question.complete else {"default": "Open", "deny": "Deny"}
            if self._notifications.owner is None:
                await asyncio.sleep(SERVER_S)
            question.posted = time.monotonic()
            if not await self._notifications.takes_answers():
                self._end(question, Answer.UNSUPPORTED, "nobody was asked: the notification server takes no answers")
                return
            sending = asyncio.ensure_future(
                self._notifications.post(prompt.summary, prompt.body, actions, critical=True)
            )
            try:
                question.notification = await asyncio.shield(sending)
                self._remember()
            except asyncio.CancelledError:  # it ended meanwhile, and must not be left on the screen
                sending.add_done_callback(self._take_back)
                raise
        except BusError as error:
            self._end(question, Answer.UNREACHABLE, f"nobody was asked: {error.text or error.name}")
            return
        if self._notifications.closed_early(question.notification):
            self._dismissed(question.notification, DISMISSED)
        elif self._notifications.replaced_early(question.notification):
            self._replaced(question.notification)

    def _take_back(self, sending: "asyncio.Task[int]") -> None:
        if not sending.cancelled() and sending.exception() is None:
            self._notifications.close(sending.result())

    def _posted_as(self, number: int) -> Question | None:
        return next((each for each in self.open if each.notification == number), None)

    def _acted(self, number: int, action: str) -> None:
        question = self._posted_as(number)
        if question is None:
            return
        if action == "deny":
            self._end(question, Answer.DECLINED, "notification")
        elif question.next_look is None:
            self._time_out(question)
        elif not question.complete or not (action == "approve" or (action == "default" and self._click_is_yes())):
            question.notification = None  # off the screen with the click, and still open in a panel or at a terminal
        elif time.monotonic() - question.posted < ARMED_S:
            self._post_anew(question)
        else:
            self._end(question, Answer.ACCEPTED, "notification")

    def _click_is_yes(self) -> bool:
        return self.click == "approve" or (self.click == "auto" and not self._notifications.draws_buttons)

    def _dismissed(self, number: int, reason: int) -> None:
        question = self._posted_as(number)
        if question is None:
            return
        question.notification = None
        if time.monotonic() - question.posted < UNSEEN_S:
            self._end(question, Answer.UNREACHABLE, "nobody was asked: the notification was not shown")
        elif reason == DISMISSED:
            self._end(question, Answer.CANCELLED, "dismissed")
        # one that merely expired can still be answered in the panel or at a terminal

    def _replaced(self, number: int) -> None:
        """Another program's text stands where the question stood: what is clicked there answers nothing."""
        question = self._posted_as(number)
        if question is not None:
            logger.warning(
                "another program replaced the notification of question %d; it is shown anew", question.number
            )
            self._notifications.close(number)
            self._post_anew(question)

    def _server_changed(self, present: bool) -> None:  # noqa: FBT001 - a listener's parameter
        """A notification server that went took its notifications with it; the next gets them again."""
        for question in self.open:
            if present:
                self._post_anew(question)
            else:
                self._attend(question, self._no_server(question))

    def _post_anew(self, question: Question) -> None:
        self._attend(question, self._post(question, max(question.left_s, 1)))

    @staticmethod
    def _attend(question: Question, work: Coroutine[None, None, None]) -> None:
        """Do this about a question's notification, instead of what was being done."""
        question.notification = None
        if question.posting is not None:
            question.posting.cancel()
        question.posting = asyncio.ensure_future(work)

    async def _no_server(self, question: Question) -> None:
        await asyncio.sleep(SERVER_S)
        self._end(question, Answer.UNREACHABLE, "nobody was asked: the notification server has gone")


def now_s() -> float:
    """This moment, by the clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _not_told(telling: "asyncio.Task[int]") -> None:
    if not telling.cancelled() and (error := telling.exception()) is not None:
        logger.warning("cannot show a notification: %s", error)
