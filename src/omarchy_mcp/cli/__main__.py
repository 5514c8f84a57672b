"""omarchy-mcpctl: understands the command line and hands it on.

What a verb needs is imported when it is needed: start-up is most of the time a verb takes.
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omarchy_mcp.cli import options
from omarchy_mcp.cli.exits import CtlError, Exit, StatusExit
from omarchy_mcp.cli.options import PROGRAM, Request

if TYPE_CHECKING:
    from omarchy_mcp.cli import terminal

INTERRUPTED = 130
"""What a shell expects of a program that was interrupted before it was done."""


def main(argv: Sequence[str]) -> int:
    """Run one verb; returns the exit status."""
    try:
        request = options.parse(argv)
    except options.UsageError as error:
        from omarchy_mcp.cli.text import printable  # noqa: PLC0415 - start-up time

        print(f"{PROGRAM}: {printable(error)}\nTry '{PROGRAM} --help'.", file=sys.stderr)
        return Exit.USAGE
    try:
        return int(carry_out(request))
    except KeyboardInterrupt:
        return Exit.DONE if request.follow else INTERRUPTED
    except BrokenPipeError:
        # whoever read has had enough; the interpreter must not fail over it once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE


def carry_out(request: Request) -> int:
    """Do what was asked for."""
    if request.verb in ("--help", "--version", "help"):
        return tell(request)
    if request.verb in ("tiers", "preview"):
        return ask_policy(request)
    import asyncio  # noqa: PLC0415 - start-up time

    from omarchy_mcp.cli import terminal, verbs  # noqa: PLC0415 - start-up time

    output = terminal.Output(request)
    try:
        match request.verb:
            case "status":
                return asyncio.run(verbs.status(request, output))
            case "recent" if request.follow:
                return verbs.follow(request, output)
            case "recent":
                return asyncio.run(verbs.recent(request, output))
            case "start" | "stop" | "restart" | "reload" | "freeze" | "thaw":
                return asyncio.run(verbs.act(request, output))
            case _:
                return carry_out_apart(request, output)
    except CtlError as error:
        if request.verb == "status":
            verbs.show_unknown(error, {}, output)
            verbs.report(error, request, output, machine=False)
            return StatusExit.UNKNOWN
        verbs.report(error, request, output)
        return error.status


def carry_out_apart(request: Request, output: "terminal.Output") -> int:
    """The verbs that are seldom used, each with a module of its own."""
    import asyncio  # noqa: PLC0415 - start-up time

    from omarchy_mcp.cli import clients, consent, jobs, review, snippets, watch  # noqa: PLC0415 - start-up time

    match request.verb:
        case "jobs":
            return asyncio.run(jobs.show(output, legend=request.legend))
        case "stop-job":
            return asyncio.run(jobs.stop(request, output))
        case "watch":
            return asyncio.run(watch.run(request, output))
        case "client":
            return clients.run(request, output)
        case "client-config":
            return snippets.run(request, output)
        case "review" | "acknowledge":
            return review.run(request, output)
        case _:
            return consent.run(request, output)


def ask_policy(request: Request) -> int:
    """The verbs that ask the policy and no service."""
    from omarchy_mcp.cli import policy, terminal  # noqa: PLC0415 - start-up time

    output = terminal.Output(request)
    try:
        return policy.tiers(request, output) if request.verb == "tiers" else policy.preview(request, output)
    except CtlError as error:
        output.error(error.text, more=error.more)
        return error.status


def tell(request: Request) -> int:
    """Help and version, which need no bus."""
    if request.verb == "--version":
        from omarchy_mcp import VERSION  # noqa: PLC0415 - start-up time

        print(f"{PROGRAM} {VERSION}")
    elif request.verb == "--help":
        print(options.help_text(), end="")
    elif request.topic:
        print(options.verb_help(options.BY_NAME[request.topic]), end="")
    else:
        from omarchy_mcp.cli import manual  # noqa: PLC0415 - start-up time

        manual.show(request)
    return Exit.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
