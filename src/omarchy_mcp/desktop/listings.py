"""What is there to be named: themes, fonts, files, programs.  Looked up when a call is decided.

An empty listing means that nothing is there; none at all (None) that nobody could look.
"""

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from omarchy_mcp.desktop.session import Session
from omarchy_mcp.policy.listings import Kind, Listings
from omarchy_mcp.policy.registry import Command, key
from omarchy_mcp.policy.route_table import RULES
from omarchy_mcp.policy.routes import program_of, wanted
from omarchy_mcp.session.jobs import Jobs, Origin, SpawnError

LOOK_S = 5.0
LOOK_BYTES = 256 * 1024
LISTERS = {Kind.THEME: "omarchy-theme-list", Kind.FONT: "omarchy-font-list"}
"""The commands that list a kind; they take no arguments, so nothing of a client's is in them."""


async def look(jobs: Jobs, session: Session, command: Command, args: Sequence[str]) -> Listings:
    """List what the rule for a call has to know."""
    found: dict[Kind, tuple[str, ...] | None] = {}
    for kind in wanted(command, args):
        match kind:
            case Kind.FILE:
                found[kind] = tuple(arg for arg in args if is_file(arg))
            case Kind.PROGRAM:
                found[kind] = there(program_of(command), session)
            case Kind.THEME | Kind.FONT:
                found[kind] = await listed(jobs, session, session.omarchy / "bin" / LISTERS[kind])
    return found


def lacking(command: Command, args: Sequence[str]) -> Kind | None:
    """The kind of the one name a call without arguments lacks, where all names of that kind can be listed."""
    rule = RULES.get(key(command.route))
    if args or rule is None or rule.args != command.args:
        return None
    kinds = [Kind(name) for name in rule.pattern.groupindex]
    return kinds[0] if len(kinds) == 1 and kinds[0] in LISTERS and not rule.pattern.fullmatch("") else None


async def listed(jobs: Jobs, session: Session, program: Path) -> tuple[str, ...] | None:
    """The lines a listing command prints, None when it did not answer well."""
    origin = Origin(client="", tool="listing", route=program.name)
    try:
        job = await jobs.start(secrets.token_hex(6), [str(program)], origin, session.env, LOOK_BYTES)
    except SpawnError:
        return None
    if not await job.wait(LOOK_S):
        jobs.end(job)
        return None
    if job.stdout is None or job.stdout.truncated or job.exit is None or job.exit.status != 0:
        return None
    return lines_of(job.stdout.text())


def lines_of(text: str) -> tuple[str, ...]:
    """The names a listing command printed, one a line."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def there(program: str, session: Session) -> tuple[str, ...]:
    """The program, if the session would find it."""
    return (program,) if program and installed(program, session.env.add.get("PATH")) else ()


def is_file(path: str) -> bool:
    """Whether an argument is the absolute path of a file that is there."""
    return path.startswith("/") and os.path.isfile(path)  # noqa: PTH113 - a string is what is asked about


def installed(program: str, path: str | None) -> bool:
    """Whether a program is found on a search path."""
    return shutil.which(program, path=path) is not None
