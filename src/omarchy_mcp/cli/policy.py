"""`tiers` and `preview`: what the policy says, asked without a running service and without running the command.

The installed Omarchy is looked at as the server does, with the same cache; only its listing commands are run.
"""

import subprocess  # noqa: TID251 - a person's own shell is the parent here, there may be no service manager
from collections.abc import Mapping, Sequence
from pathlib import Path

from omarchy_mcp.cli.exits import CtlError, Exit
from omarchy_mcp.cli.options import Json, Request
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.cli.text import fit, pad, printable
from omarchy_mcp.desktop.inventory import rows, seen
from omarchy_mcp.desktop.listings import LISTERS, LOOK_S, installed, is_file, lines_of
from omarchy_mcp.desktop.omarchy import LIST_S, fingerprint_of, rated, read_cache, write_cache
from omarchy_mcp.desktop.session import INSTALLED
from omarchy_mcp.policy.listings import Kind, Listings
from omarchy_mcp.policy.registry import Command, Registry, RegistryError, find, parse
from omarchy_mcp.policy.review import RULE, Book, Held, compared, first
from omarchy_mcp.policy.routes import program_of, wanted
from omarchy_mcp.policy.tiers import Ratings
from omarchy_mcp.policy.verdict import Verdict, decide, decide_ipc
from omarchy_mcp.session import configuration, environment, review

ROUTE_WIDTH = 44


def tiers(request: Request, output: Output) -> int:
    """Show every route's tier, the worst over any arguments."""
    omarchy = where()
    registry, ratings = load(omarchy)
    held = held_of(registry, ratings)
    rated_rows = [
        {
            "route": command.route,
            "tier": str(rating.tier),
            "capabilities": [str(each) for each in rating.capabilities],
            "reason": f"held: {held.routes[command.route]}" if command.route in held.routes else rating.reason,
            "rule": RULE if command.route in held.routes else rating.rule,
        }
        for command, rating in rows(registry, ratings, hidden=request.hidden)
    ]
    if output.json is not Json.OFF:
        output.data(rated_rows)
        return Exit.DONE
    for problem in registry.problems:
        output.remark(printable(problem))
    output.page([line(row) for row in rated_rows])
    return Exit.DONE


def line(row: Mapping[str, object]) -> str:
    """A route's tier for a person."""
    route = pad(fit(str(row["route"]), ROUTE_WIDTH), ROUTE_WIDTH)
    return f"{route} {row['tier']!s:<8} {printable(str(row['reason']))}"


def preview(request: Request, output: Output) -> int:
    """Show what would become of one call; nothing of it is run."""
    route, *args = request.operands
    config, omarchy = configuration.current(), where()
    if request.ipc:
        if not args:
            raise CtlError("preview --ipc takes TARGET FUNCTION [ARG...]", status=Exit.USAGE)
        verdict = decide_ipc(route, args[0], args[1:], config=config, held=held_of(*load(omarchy)))
        argv = [str(omarchy / "bin" / "omarchy-shell"), *verdict.args]
    else:
        registry, ratings = load(omarchy)
        command = find(registry, route)
        listings = look(omarchy, command, args) if command is not None else {}
        held = held_of(registry, ratings)
        verdict = decide(registry, route, args, ratings=ratings, config=config, held=held, listings=listings)
        argv = [str(omarchy / "bin" / verdict.binary), *verdict.args] if verdict.binary else []
    shown = described(verdict, argv)
    if output.json is not Json.OFF:
        output.data(shown)
    else:
        would = "run" if verdict.allowed else "ask the person" if verdict.would_ask else "refuse"
        words = [f"would {would}: {verdict.reason}", *(f"  {key}: {show(value)}" for key, value in shown.items())]
        output.lines([printable(each, 4_000) for each in words])
    return Exit.DONE


def described(verdict: Verdict, argv: Sequence[str]) -> dict[str, object]:
    """A verdict as it is printed (contract)."""
    return {
        "route": verdict.route,
        "tier": str(verdict.tier),
        "allowed": verdict.allowed,
        "askable": verdict.askable,
        "would_ask": verdict.would_ask,
        "reason": verdict.reason,
        "rule": verdict.rule,
        "capabilities": [str(each) for each in verdict.capabilities],
        "argv": list(argv),
        "binary": verdict.binary,
        "target": verdict.target,
    }


def show(value: object) -> str:
    """A value for a person."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def where() -> Path:
    """The Omarchy this shell's environment names, else the installed one."""
    return Path(environment.get("OMARCHY_PATH") or INSTALLED)


def load(omarchy: Path) -> tuple[Registry, Ratings]:
    """The commands of an Omarchy with their ratings.

    Raises:
        CtlError: they cannot be listed.
    """
    fingerprint = fingerprint_of(omarchy)
    cache = environment.cache_dir()
    text = read_cache(cache / "registry.json", fingerprint)
    try:
        if text is None:
            text = ask(omarchy, [str(omarchy / "bin" / "omarchy"), "commands", "--json", "--all"], LIST_S).encode()
            registry = parse(text)
            write_cache(cache / "registry.json", fingerprint, text)
        else:
            registry = parse(text)
    except (OSError, subprocess.SubprocessError, RegistryError) as error:
        why = f"cannot list the commands of {omarchy}: {error}"
        raise CtlError(why, status=Exit.NOT_INSTALLED, more=("set OMARCHY_PATH to where Omarchy is",)) from error
    return registry, rated(registry, omarchy, fingerprint, cache / "ratings.json")


def held_of(registry: Registry, ratings: Ratings) -> Held:
    """What is held for review, by the control service's own book; before its first run nothing is."""
    now = seen(registry, ratings)
    try:
        book = review.read(environment.state_dir()) or first(now)
    except review.LostError:
        book = Book(lost=True)
    return Held(routes=review.news(compared(book, now, since_usec=0)))


def look(omarchy: Path, command: Command, args: Sequence[str]) -> Listings:
    """What the rule for a call has to know, as the server looks it up."""
    found: dict[Kind, tuple[str, ...] | None] = {}
    for kind in wanted(command, args):
        if kind is Kind.FILE:
            found[kind] = tuple(arg for arg in args if is_file(arg))
        elif kind is Kind.PROGRAM:
            program = program_of(command)
            found[kind] = (program,) if installed(program, environment.get("PATH")) else ()
        else:
            try:
                found[kind] = lines_of(ask(omarchy, [str(omarchy / "bin" / LISTERS[kind])], LOOK_S))
            except (OSError, subprocess.SubprocessError):
                found[kind] = None
    return found


def ask(omarchy: Path, argv: Sequence[str], seconds: float) -> str:
    """Run a listing command of Omarchy and return what it prints.

    Raises:
        OSError, subprocess.SubprocessError: it is not there, fails or takes too long.
    """
    env: Mapping[str, str] = environment.scrub(environment.everything()) | {
        "OMARCHY_PATH": str(omarchy),
        "PATH": f"{omarchy}/bin:{environment.get('PATH') or '/usr/bin:/bin'}",
    }
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=True)
    return done.stdout.decode("utf-8", "replace")
