"""The one way from a tool call to a command: nothing is started that was not authorized here.

Security boundary.  The decisions are policy.verdict's; what is looked up for them is desktop's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from omarchy_mcp.desktop.omarchy import Installed, NoOmarchyError, Omarchy
from omarchy_mcp.desktop.session import Session
from omarchy_mcp.desktop.shell import call_argv
from omarchy_mcp.policy.registry import find
from omarchy_mcp.policy.verdict import Verdict, decide, decide_ipc
from omarchy_mcp.server.settings import Settings
from omarchy_mcp.session.bus import BusError
from omarchy_mcp.session.records import Outcome

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


class Gate:
    """Authorizes calls under one reading of the configuration each."""

    def __init__(self, omarchy: Omarchy | None, settings: Settings, missing: str = "") -> None:
        """Without `omarchy` nothing is authorized, and `missing` is the reason."""
        self._omarchy = omarchy
        self._settings = settings
        self._missing = missing

    async def commands(self) -> Installed:
        """The installed commands, for looking things up.

        Raises:
            NoOmarchyError, BusError: there are none to be had.
        """
        return await self._desktop().commands()

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

    async def authorize(self, route: str, args: Sequence[str]) -> Authorized | Refused:
        """Decide on running a command with arguments."""
        try:
            session = await self.session()
            verdict, argv = await self._decide(session, route, args)
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)
        return conclude(verdict, argv, session)

    async def preview(self, route: str, args: Sequence[str]) -> tuple[Verdict, tuple[str, ...]]:
        """What would be decided on a call, and what would be run.

        Raises:
            NoOmarchyError, BusError: it cannot be decided.
        """
        return await self._decide(await self.session(), route, args)

    async def _decide(self, session: Session, route: str, args: Sequence[str]) -> tuple[Verdict, tuple[str, ...]]:
        """Decide, on scripts that are still those that were rated; returns what would be run with the verdict."""
        omarchy = self._desktop()
        config = self._settings.current  # one configuration decides one call
        for _ in range(CHANGES):
            installed = await omarchy.installed(session)
            command = find(installed.registry, route)
            listings = await omarchy.listings(session, command, args) if command is not None else {}
            verdict = decide(
                installed.registry, route, args, ratings=installed.ratings, config=config, listings=listings
            )
            if not verdict.allowed or not omarchy.stale(installed, verdict.binary):
                # The record's own program, never the dispatcher: given words, that picks another command by prefix.
                program = [str(installed.path / "bin" / verdict.binary)] if verdict.binary else []
                return verdict, (*program, *verdict.args)
            omarchy.forget()
        raise NoOmarchyError(f"the script of '{verdict.route}' keeps changing")

    async def authorize_shell(self, target: str, function: str, args: Sequence[str]) -> Authorized | Refused:
        """Decide on calling a function of the shell."""
        config = self._settings.current
        try:
            session = await self.session()
        except (NoOmarchyError, BusError) as error:
            return could_not_look(error)
        verdict = decide_ipc(target, function, args, config=config)
        return conclude(verdict, tuple(call_argv(session.omarchy, target, function, args)), session)


def conclude(verdict: Verdict, argv: tuple[str, ...], session: Session) -> Authorized | Refused:
    """Let a call through if policy allows it; a question that nobody can be asked yet is a refusal."""
    if verdict.allowed:
        return Authorized(verdict=verdict, argv=argv, session=session)
    return Refused(outcome=Outcome.REFUSED, reason=verdict.reason, verdict=verdict)


def could_not_look(error: Exception) -> Refused:
    """Nothing is known of the command, so nothing runs."""
    return Refused(outcome=Outcome.ERROR, reason=f"cannot run anything: {error}", verdict=None)
