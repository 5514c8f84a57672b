"""The installed commands as clients are shown them, each with what would become of a call.

Rows are made once for one installation under one configuration and review: a search must not derive them anew.
"""

from collections.abc import Mapping, Sequence

from omarchy_mcp.desktop.omarchy import Installed
from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.registry import Command
from omarchy_mcp.policy.review import Held
from omarchy_mcp.policy.routes import may_be_safe
from omarchy_mcp.policy.verdict import Verdict, outlook

Row = Mapping[str, object]


class Catalogue:
    """Keeps the rows of the installation, configuration and review that were asked for last."""

    def __init__(self) -> None:
        self._of: tuple[Installed, Config, Held] | None = None
        self._rows: dict[str, Row] = {}

    def rows(self, installed: Installed, config: Config, held: Held, commands: Sequence[Command]) -> list[Row]:
        """The rows of some commands, in their order."""
        of = (installed, config, held)
        if self._of is None or any(one is not other for one, other in zip(self._of, of, strict=True)):
            self._of, self._rows = of, {}
        return [self._row(installed, config, held, command) for command in commands]

    def _row(self, installed: Installed, config: Config, held: Held, command: Command) -> Row:
        row = self._rows.get(command.route)
        if row is None:
            row = describe(command, outlook(command, ratings=installed.ratings, config=config, held=held))
            self._rows[command.route] = row
        return row


def describe(command: Command, verdict: Verdict) -> Row:
    """One command as a client needs it to call it; a key that has nothing to say is left out.

    A guarded command that is safe for some arguments is runnable: whether these are such is decided with them.
    """
    depends = verdict.askable and may_be_safe(command) and not verdict.held
    runnable = verdict.allowed or verdict.would_ask or depends
    row: dict[str, object] = {
        "route": command.route,
        "summary": command.summary,
        "args": command.args,
        "examples": list(command.examples),
        "group": command.group,
        "tier": str(verdict.tier),
        "runnable": runnable,
        "depends": depends,
        "asks": verdict.would_ask,
        "hidden": command.hidden,
        "held": verdict.held,
        "refusal": "" if runnable else verdict.reason,
    }
    return {key: value for key, value in row.items() if value not in ("", [], False) or key == "runnable"}
