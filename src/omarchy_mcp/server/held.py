"""Calls that were answered with a form: the client is to repeat them, and until then they have no end to record."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from omarchy_mcp.server.recording import CallRecord
from omarchy_mcp.session.records import Outcome

GONE = "the client did not come back with what was asked of it"
MOST = 64
"""Calls that are held; beyond, the oldest counts as given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hold:
    call: CallRecord
    timer: asyncio.TimerHandle


class Held:
    """Makes one record of a call and its repetition, and one of a call that is never repeated."""

    def __init__(self, record: Callable[[CallRecord], None]) -> None:
        self._record = record
        self._holds: dict[str, _Hold] = {}

    @property
    def count(self) -> int:
        """How many calls may come back."""
        return len(self._holds)

    def hold(self, call: CallRecord, seconds: float) -> None:
        """Its client has been sent a form, and is to come back within this time."""
        call.held = True
        timer = asyncio.get_running_loop().call_later(seconds, self._give_up, call.id)
        self._holds[call.id] = _Hold(call=call, timer=timer)
        if len(self._holds) > MOST:
            self._give_up(next(iter(self._holds)))

    def back(self, call: CallRecord, before: str) -> None:
        """A call goes on in its repetition; one that was given up, or came back already, stays another call."""
        hold = self._holds.pop(before, None)
        if hold is not None:
            hold.timer.cancel()
            call.id, call.started = hold.call.id, hold.call.started

    def close(self) -> None:
        """Nobody can come back any more."""
        for call_id in list(self._holds):
            self._give_up(call_id)

    def _give_up(self, call_id: str) -> None:
        hold = self._holds.pop(call_id, None)
        if hold is not None:
            hold.timer.cancel()
            hold.call.outcome, hold.call.reason = Outcome.CANCELLED, GONE
            self._record(hold.call)
