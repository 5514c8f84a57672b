"""The one way from a tool call to a command: nothing is started that was not authorized here.

Security boundary.  The decisions are policy.verdict's; what is looked up for them is desktop's.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from omarchy_mcp.desktop.finding import program_path
from omarchy_mcp.desktop.listings import lacking
from omarchy_mcp.desktop.omarchy import Installed, NoOmarchyError, Omarchy
from omarchy_mcp.desktop.session import Session
from omarchy_mcp.desktop.shell import call_argv
from omarchy_mcp.policy.listings import Kind
from omarchy_mcp.policy.questions import Answer, Asked, Subject, words
from omarchy_mcp.policy.registry import find
from omarchy_mcp.policy.review import NOTHING_HELD, Held
from omarchy_mcp.policy.tiers import Tier, digest, rating_of
from omarchy_mcp.policy.verdict import SHELL_ROUTE, Verdict, decide, decide_ipc
from omarchy_mcp.server.forms import Form, Forms
from omarchy_mcp.server.offering import Offering
from omarchy_mcp.server.progress import Progress
from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.server.reviewing import UNKNOWN, Reviewing
from omarchy_mcp.server.senses import Sense, decide_sense
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.bus import BusError
from omarchy_mcp.session.records import Outcome

LACKS = "argument-grammar"
"""The rule of a refusal because arguments do not fit: the call is neither blocked nor denied."""

CHANGED = "cannot run it: it is no longer the call that was approved; ask again"
NO_FORMS = Forms()
CHANGES = 3
"""How often a call is decided anew because a script changed under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorized:
    """A call that may run, with exactly what will be run.  Made by the gate alone."""

    verdict: Verdict
    argv: tuple[str, ...]
    session: Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A call that does not run, and why; `verdict` is None when it could not even be looked at."""

    outcome: Outcome
    reason: str
    verdict: Verdict | None


class Decide(Protocol):
    """Decides one call, with a grant or without; returns what would be run with the verdict."""

    def __call__(self, granted: str = "") -> Awaitable[tuple[Verdict, tuple[str, ...]]]:
        """Decide."""


class Gate:
    """Authorizes calls under one reading of the configuration each."""

    def __init__(
        self,
        omarchy: Omarchy | None,
        settings: Settings,
        missing: str = "",
        asking: Offering | None = None,
        reviewing: Reviewing | None = None,
    ) -> None:
        """Without `omarchy` nothing is authorized, and `missing` is the reason; without `asking` nobody is asked.

        Without `reviewing` nobody knows what is new, so everything guarded is held.
        """
        self._asking = asking
        self._reviewing = reviewing
        self._omarchy = omarchy
        self._settings = settings
        self._missing = missing

    async def commands(self) -> Installed:
        """The installed commands, for looking things up.

        Raises:
            NoOmarchyError, BusError: there are none to be had.
        """
        return await self._desktop().commands()

    async def held(self, installed: Installed, *, anew: bool = True) -> Held:
        """Which of the installed commands are held for review; without `anew` some may have been acknowledged since."""
        return await self._reviewing.held(installed, anew=anew) if self._reviewing is not None else UNKNOWN

    async def _reviewed(self, installed: Installed, route: str, decided: Callable[..., Verdict]) -> Verdict:
        """A verdict with what is held for review, which is never what is safe whatever its arguments."""
        command = find(installed.registry, route)
        if command is None or rating_of(installed.ratings, command).tier is not Tier.GUARDED:
            return decided(held=NOTHING_HELD)
        verdict = decided(held=await self.held(installed, anew=False))
        return decided(held=await self.held(installed)) if verdict.held else verdict

    async def session(self) -> Session:
        """The login session, as it is now.

        Raises:
            NoOmarchyError, BusError: there is none to be seen.
        """
        return await self._desktop().session()

    def _desktop(self) -> Omarchy:
        if self._omarchy is None:
            raise NoOmarchyError(self._missing)
        return self._omarchy

    async def authorize(
        self, route: str, args: Sequence[str], call: CallRecord, progress: Progress | None = None,
        forms: Forms = NO_FORMS,
    ) -> Authorized | Refused | Form:  # fmt: skip
        """Decide on running a command with arguments; what is the person's to decide is put to them.

        A form is for the client to show; nothing is decided until its call comes back with it.
        """
        try:
            session = await self.session()
            return await self._conclude(partial(self._decide, session, route, args), session, call, progress, forms)
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)

    async def authorize_shell(
        self, target: str, function: str, args: Sequence[str], call: CallRecord, progress: Progress | None = None,
        forms: Forms = NO_FORMS,
    ) -> Authorized | Refused | Form:  # fmt: skip
        """Decide on calling a function of the shell, likewise."""

        async def decide_shell(granted: str = "") -> tuple[Verdict, tuple[str, ...]]:
            decided = partial(decide_ipc, target, function, args, config=self._settings.current, granted=granted)
            verdict = await self._reviewed(await self._desktop().installed(session), SHELL_ROUTE, decided)
            return verdict, tuple(call_argv(session.omarchy, target, function, args))

        try:
            session = await self.session()
            return await self._conclude(decide_shell, session, call, progress, forms)
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)

    async def authorize_sense(
        self, sense: Sense, program: str, args: Sequence[str], call: CallRecord, progress: Progress | None = None
    ) -> Authorized | Refused:
        """Decide on perceiving something by a program, likewise; `args` are what the person is shown of it."""

        async def decide_look(granted: str = "") -> tuple[Verdict, tuple[str, ...]]:
            verdict = decide_sense(sense, args, config=self._settings.current, granted=granted)
            return verdict, (program_path(session.omarchy, program),)

        try:
            session = await self.session()
            decided = await self._conclude(decide_look, session, call, progress, NO_FORMS)
            assert not isinstance(decided, Form)  # noqa: S101 - without forms there is none
            return decided
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)

    async def authorize_unasked(self, route: str, args: Sequence[str]) -> Authorized | Refused:
        """Decide on running a command as part of something else: what is not allowed as it is does not run."""
        try:
            session = await self.session()
            verdict, argv = await self._decide(session, route, args)
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)
        if verdict.allowed:
            return Authorized(verdict=verdict, argv=argv, session=session)
        return Refused(outcome=Outcome.REFUSED, reason=verdict.reason, verdict=verdict)

    async def preview(self, route: str, args: Sequence[str]) -> tuple[Verdict, tuple[str, ...]]:
        """What would be decided on a call, and what would be run.

        Raises:
            NoOmarchyError, BusError: it cannot be decided.
        """
        return await self._decide(await self.session(), route, args)

    async def choices(self, route: str, args: Sequence[str]) -> tuple[Kind, tuple[str, ...]] | None:
        """What a person could choose from, where a call lacks nothing but a name that can be listed.

        Raises:
            NoOmarchyError, BusError: it cannot be looked up.
        """
        command = find((await self.commands()).registry, route)
        kind = lacking(command, args) if command is not None else None
        if kind is None:
            return None
        session = await self.session()
        verdict, _ = await self._decide(session, route, args)
        if verdict.rule != LACKS:  # refused for another reason, or let through without it
            return None
        names = await self._desktop().names(session, kind)
        return (kind, names) if names else None

    async def _decide(
        self, session: Session, route: str, args: Sequence[str], granted: str = ""
    ) -> tuple[Verdict, tuple[str, ...]]:
        """Decide, on scripts that are still those that were rated; returns what would be run with the verdict."""
        omarchy = self._desktop()
        config = self._settings.current  # one configuration decides one call
        for _ in range(CHANGES):
            installed = await omarchy.installed(session)
            command = find(installed.registry, route)
            listings = await omarchy.listings(session, command, args) if command is not None else {}
            decided = partial(
                decide, installed.registry, route, args, ratings=installed.ratings, config=config, listings=listings,
                granted=granted,
            )  # fmt: skip
            verdict = await self._reviewed(installed, route, decided)
            if not (verdict.allowed or verdict.askable) or not omarchy.stale(installed, verdict.binary):
                # The record's own program, never the dispatcher: given words, that picks another command by prefix.
                program = [str(installed.path / "bin" / verdict.binary)] if verdict.binary else []
                return verdict, (*program, *verdict.args)
            omarchy.forget()
        raise NoOmarchyError(f"the script of '{verdict.route}' keeps changing")

    async def _conclude(
        self, decide_with: Decide, session: Session, call: CallRecord, progress: Progress | None, forms: Forms
    ) -> Authorized | Refused | Form:
        """Let a call through if policy allows it, a grant covers it, or the person says so now."""
        try:
            return await self._concluded(decide_with, session, call, progress, forms)
        finally:  # a question whose call came back without needing it
            if forms.state is not None and self._asking is not None:
                self._asking.drop(forms.state.nonce)

    async def _concluded(
        self, decide_with: Decide, session: Session, call: CallRecord, progress: Progress | None, forms: Forms
    ) -> Authorized | Refused | Form:
        verdict, argv = await decide_with()
        if verdict.allowed and not forms.declines:
            return Authorized(verdict=verdict, argv=argv, session=session)
        if self._asking is None or not (verdict.askable or verdict.allowed):
            return Refused(outcome=Outcome.REFUSED, reason=verdict.reason, verdict=verdict)
        subject = subject_of(verdict, argv, call)
        granted = await self._consent(self._asking, subject, verdict, call, progress, forms)
        if not isinstance(granted, str):
            return granted
        # Decided anew under the rules in force now: a deny written while the question was open wins.
        again, argv_again = await decide_with(granted)
        same = argv_again == argv and again.held in ("", verdict.held)
        if again.allowed and same and digest_of_file(argv[0]) == subject.executable_digest:
            return Authorized(verdict=again, argv=argv, session=session)
        reason = again.reason if not again.allowed else CHANGED
        return Refused(outcome=Outcome.REFUSED, reason=reason, verdict=again)

    async def _consent(
        self, asking: Offering, subject: Subject, verdict: Verdict, call: CallRecord, progress: Progress | None,
        forms: Forms,
    ) -> str | Refused | Form:  # fmt: skip
        """What lets a call run: a grant, or an answer now.  What a client brings back is spent before anything else."""
        asked = Asked(subject=subject, tier=verdict.tier, rule=verdict.rule)
        config = self._settings.current
        brought = forms.declines or (forms.comes_back and verdict.would_ask)
        granted = "" if brought else await asking.granted(asked)
        if granted:
            call.consent = "granted"
            return granted
        if not brought and not verdict.would_ask:
            return Refused(outcome=Outcome.REFUSED, reason=verdict.reason, verdict=verdict)
        answered = await asking.ask(asked, call, config.ask_timeout_s, progress, forms, config.may_answer)
        if isinstance(answered, Form):
            call.judged(verdict)
            return answered
        call.consent = str(answered.answer or "")
        if answered.answer is Answer.ACCEPTED:
            return "answer"
        reason = answered.text or words(answered.answer or Answer.UNREACHABLE, subject, config.ask_timeout_s)
        return Refused(outcome=Outcome.REFUSED, reason=reason, verdict=verdict)


def subject_of(verdict: Verdict, argv: tuple[str, ...], call: CallRecord) -> Subject:
    """A call as the person is asked about it."""
    return Subject(
        client=call.client, tool=call.tool, route=verdict.route, argv=verdict.args, target=verdict.target,
        binary=verdict.binary, executable=argv[0], executable_digest=digest_of_file(argv[0]),
        capabilities=tuple(str(each) for each in verdict.capabilities), reason=verdict.reason,
    )  # fmt: skip


def digest_of_file(path: str) -> str:
    """What a program is recognised by between the question and its answer; "" when it cannot be read."""
    try:
        return digest(Path(path).read_bytes())
    except OSError:
        return ""


def could_not_look(error: Exception) -> Refused:
    """Nothing is known of the command, so nothing runs."""
    return Refused(outcome=Outcome.ERROR, reason=f"cannot run anything: {error}", verdict=None)
