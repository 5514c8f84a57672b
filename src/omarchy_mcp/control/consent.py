"""Consent on the bus: the server asks, the person answers; grants and what is new are looked at and settled."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from omarchy_mcp.control.grants import GrantError, GrantStore
from omarchy_mcp.control.left import LeftBehind
from omarchy_mcp.control.offers import MIN_NONCE, Offers
from omarchy_mcp.control.questions import Question, Questions
from omarchy_mcp.control.review import Review
from omarchy_mcp.policy.callers import Caller, Right, may_approve
from omarchy_mcp.policy.questions import Answer, Asked, Subject, parse_approval
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.session import configuration, environment, notifications
from omarchy_mcp.session.bus import (
    DBUS,
    DBUS_PATH,
    Bus,
    BusError,
    Call,
    Exported,
    Method,
    Signal,
    plain,
    variants,
)  # fmt: skip
from omarchy_mcp.session.callers import denied, describe
from omarchy_mcp.session.contract import ERROR, NAME, PATH
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event

QUESTION = f"{NAME}.Question"
QUESTION_XML = Path(__file__).with_name("question.xml").read_text(encoding="utf-8")

Guard = Callable[..., Method]


class Consent:
    """The part of the control service's object that is about questions, grants and the review."""

    def __init__(self, bus: Bus, audit: Writer, changed: Callable[[str], None]) -> None:
        """`changed` is called with the name of a property that has another value."""
        self._bus = bus
        self._audit = audit
        self._changed = changed
        folder = environment.state_dir()
        self._store = GrantStore(folder / "consent.json", self._since)
        left = LeftBehind(environment.runtime_dir() / "questions.json")
        self._questions = Questions(bus, self._store, audit, left, self._told)
        self._offers = Offers(self._questions, audit)
        self.review = Review(folder, audit, self._store, self.tell, lambda: changed("PendingReview"))
        self._followed: set[str] = set()

    def _since(self, call: Asked) -> int:
        return self.review.since(call)

    async def connect(self) -> None:
        """Find the notification server, and hear of askers that leave the bus."""
        self._bus.listen(self._hear)
        await self._questions.connect()

    @property
    def pending(self) -> int:
        """How many questions are open."""
        return len(self._questions.open)

    @property
    def problem(self) -> str:
        """Why nothing, or not everything, in the file of grants counts, or ""."""
        self._store.read()
        return self._store.problem

    def end_all(self, why: str) -> None:
        """Let nothing that is being asked about run."""
        self._questions.end_all(Answer.WITHDRAWN, why)

    def tell(self, summary: str, body: str) -> None:
        """Show the person something that asks for no answer, where notifications are shown."""
        self._questions.tell(summary, body)

    def methods(self, guard: Guard) -> dict[str, Method]:
        """What the bus may call; `guard` makes a method that looks at its caller first."""
        return {
            "Questions": guard("", Right.ANSWER, self._list, gives="aa{sv}"),
            "Approve": guard("sa{sv}", Right.ANSWER, self._approve),
            "Deny": guard("sa{sv}", Right.ANSWER, self._deny),
            "Grants": guard("", Right.ANSWER, self._grants, gives="aa{sv}"),
            "Revoke": guard("s", Right.ACT, self._revoke),
            "Ask": guard("a{sv}", Right.SERVER, self._ask, gives="o"),
            "Withdraw": guard("s", Right.SERVER, self._withdraw),
            "Redeem": guard("sa{sv}", Right.SERVER, self._redeem, gives="s"),
            "Granted": guard("a{sv}", Right.SERVER, self._granted, gives="s"),
            "Review": guard("", Right.ANSWER, self.review.listed, gives="a{sv}"),
            "Acknowledge": guard("s", Right.ANSWER, self._acknowledge),
            "Compare": guard("a(ssasass)", Right.SERVER, self.review.compare, gives="a{ss}"),
        }

    async def _list(self, _call: Call, _caller: Caller) -> Sequence[object]:
        return ([variants(described(question)) for question in self._questions.open],)

    async def _approve(self, call: Call, caller: Caller) -> Sequence[object]:
        question_id, options = call.arguments
        self._questions.find(question_id, describe(caller))
        approval = parse_approval(plain(options))
        if isinstance(approval, str):
            raise BusError(f"{DBUS}.Error.InvalidArgs", approval)
        await self._may_approve(caller)
        await self._questions.approve(question_id, approval, describe(caller))
        return ()

    async def _acknowledge(self, call: Call, caller: Caller) -> Sequence[object]:
        await self._may_approve(caller)
        await self.review.acknowledge(call.arguments[0], caller)
        return ()

    async def _may_approve(self, caller: Caller) -> None:
        """See that the caller is one the person lets approve.

        Raises:
            BusError: AccessDenied.
        """
        if configuration.current().approve_from != "shell":
            return
        owner = await self._bus.owner(notifications.NAME)
        pid = 0
        if owner is not None:
            pid = (await self._bus.call(DBUS, DBUS_PATH, DBUS, "GetConnectionUnixProcessID", "s", [owner])).body[0]
        why = may_approve(caller, pid)
        if why is not None:
            raise denied(f"cannot approve: {why}")

    async def _deny(self, call: Call, caller: Caller) -> Sequence[object]:
        question_id, options = call.arguments
        if options:
            raise BusError(f"{DBUS}.Error.InvalidArgs", "Deny has no options yet")
        self._questions.deny(question_id, describe(caller))
        return ()

    async def _grants(self, _call: Call, _caller: Caller) -> Sequence[object]:
        rows = [
            {
                "id": grant.id, "scope": str(grant.scope), "life": str(grant.life), "client": grant.client,
                "route": grant.route, "args": list(grant.args or ()), "created_usec": grant.created_usec,
                "expires_usec": grant.expires_usec,
            }
            for grant in await asyncio.to_thread(self._store.read)
        ]  # fmt: skip
        return ([variants(row) for row in rows],)

    async def _revoke(self, call: Call, caller: Caller) -> Sequence[object]:
        (grant_id,) = call.arguments
        try:
            there = await self._store.revoke(grant_id)
        except GrantError as error:
            raise BusError(f"{ERROR}.Refused", str(error)) from error
        if not there:
            raise BusError(f"{ERROR}.NotFound", "cannot revoke: there is no grant of that id")
        self._audit.write(
            Event.GRANT, "a grant was taken back", action="revoked", grant=grant_id, caller=describe(caller)
        )
        return ()

    async def _ask(self, call: Call, _caller: Caller) -> Sequence[object]:
        told = plain(call.arguments[0])
        asked = asked_of(told)
        seconds, call_id = told.get("timeout"), told.get("call_id")
        if not isinstance(seconds, int) or not 1 <= seconds <= 600 or not isinstance(call_id, str):
            raise BusError(f"{DBUS}.Error.InvalidArgs", "timeout u (1 to 600) and call_id s are required")
        self._questions.click = configuration.current().click
        self._follow(call.sender)
        nonce, declared = told.get("nonce", ""), told.get("declared", "")
        if not isinstance(nonce, str) or not isinstance(declared, str) or 0 < len(nonce) < MIN_NONCE:
            raise BusError(
                f"{DBUS}.Error.InvalidArgs", f"nonce s (of {MIN_NONCE} characters) and declared s go together"
            )
        question = self._questions.ask(asked, call.sender, call_id, seconds)
        if nonce:
            self._offers.make(question, nonce, declared)
        return (path_of(question),)

    async def _withdraw(self, call: Call, _caller: Caller) -> Sequence[object]:
        self._questions.withdraw(call.sender, call.arguments[0])
        return ()

    async def _redeem(self, call: Call, _caller: Caller) -> Sequence[object]:
        nonce, told = call.arguments
        return (self._offers.redeem(call.sender, nonce, plain(told)) or "",)

    async def _granted(self, call: Call, _caller: Caller) -> Sequence[object]:
        grant = self._store.covering(asked_of(plain(call.arguments[0])))
        return (grant.id if grant is not None else "",)

    def _follow(self, asker: str) -> None:
        """Hear when an asker leaves the bus: its questions go with it."""
        if asker not in self._followed:
            self._followed.add(asker)
            self._bus.match(leaving(asker))

    def _hear(self, signal: Signal) -> None:
        if signal.sender == DBUS and signal.member == "NameOwnerChanged" and not signal.body[2]:
            asker = signal.body[0]
            self._questions.withdraw(asker)
            if asker in self._followed:
                self._followed.discard(asker)
                self._bus.unmatch(leaving(asker))

    def _told(self, question: Question, answer: Answer | None) -> None:
        path = path_of(question)
        if answer is None:
            exported = Exported(
                xml=QUESTION_XML, interface=QUESTION, methods={}, properties=lambda: variants(described(question))
            )
            self._bus.serve(path, exported)
            self._bus.emit(PATH, NAME, "QuestionOpened", "s", [question.id])
        else:
            self._offers.ended(question, answer)
            self._bus.unserve(path)
            self._bus.emit(PATH, NAME, "QuestionClosed", "ss", [question.id, answer])
        self._changed("PendingQuestions")


def leaving(asker: str) -> str:
    """The rule by which the bus tells that an asker leaves it."""
    return f"type='signal',sender='{DBUS}',member='NameOwnerChanged',arg0='{asker}'"


def path_of(question: Question) -> str:
    """A question's object path; its last part is the question's id."""
    return f"{PATH}/question/{question.id}"


def described(question: Question) -> dict[str, object]:
    """A question as the person's side shows it: everything, nothing cut."""
    subject = question.subject
    return {
        "id": question.id,
        "number": question.number,
        "digest": question.digest,
        "client": subject.client,
        "tool": subject.tool,
        "route": subject.route,
        "argv": list(subject.argv),
        "target": subject.target,
        "executable": subject.executable,
        "capabilities": [str(each) for each in subject.capabilities],
        "reason": subject.reason,
        "left_usec": max(int(question.left_s * 1_000_000), 0),
    }


TEXTS = ("client", "tool", "route", "target", "binary", "executable", "executable_digest", "reason")


def asked_of(told: Mapping[str, Any]) -> Asked:
    """Read what the server tells of a call.

    Raises:
        BusError: InvalidArgs, when something is missing or of another type.
    """
    try:
        texts = {name: told[name] for name in TEXTS}
        argv, capabilities = tuple(told["argv"]), tuple(told["capabilities"])
        tier, rule = Tier(told["tier"]), told["rule"]
    except (KeyError, TypeError, ValueError) as error:
        raise BusError(f"{DBUS}.Error.InvalidArgs", f"cannot read the call to ask about: {error}") from error
    if not all(isinstance(each, str) for each in (*texts.values(), rule, *argv, *capabilities)):
        raise BusError(f"{DBUS}.Error.InvalidArgs", "a call to ask about is made of texts")
    return Asked(subject=Subject(argv=argv, capabilities=capabilities, **texts), tier=tier, rule=rule)
