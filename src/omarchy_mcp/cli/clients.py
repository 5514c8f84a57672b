"""`client`: who may come in.  The files are changed here; a server that runs sees it with the next request.

Security boundary.  A token is shown once, to a terminal or to whoever asks for it in so many words, or goes into a
private file; it is in no argument list, and only its digest is kept.
"""

import asyncio
from pathlib import Path

from omarchy_mcp.cli import control
from omarchy_mcp.cli.consent import ask_for, each_of, look
from omarchy_mcp.cli.exits import CtlError, Exit
from omarchy_mcp.cli.options import PROGRAM, Json, Request
from omarchy_mcp.cli.render import Values, number
from omarchy_mcp.cli.terminal import Output
from omarchy_mcp.cli.text import stamp
from omarchy_mcp.session import environment
from omarchy_mcp.session.clientfile import DEFAULT, ClientFile, ClientFileError
from omarchy_mcp.session.files import make_token, write_private

WIDTH = 32
GRANTS = "consent.json"
NOBODY = frozenset({Exit.NOT_RUNNING, Exit.NOT_INSTALLED})
"""There is no control service."""


def run(request: Request, output: Output) -> int:
    """Carry out one action; returns the exit status.

    Raises:
        CtlError: it cannot be done.
    """
    store = ClientFile(environment.state_dir() / "clients.json")
    try:
        match request.action:
            case "list":
                show(store, output, legend=request.legend)
            case "revoke":
                store.revoke(request.client)
                take_back(request.client, f"the client {request.client!r} is revoked, but not")
                report(request, output, {}, f"{request.client} may come in no more")
            case "add":
                add(request, output, store)
            case _:
                rotate(request, output, store)
    except (ClientFileError, OSError) as error:
        raise CtlError(f"cannot {request.action} clients: {error}", Exit.FAILED) from error
    return Exit.DONE


def show(store: ClientFile, output: Output, *, legend: bool) -> None:
    """Show who may come in."""
    token = default_token()
    made_usec = token.stat().st_mtime_ns // 1000 if token.exists() else 0
    found: list[dict[str, object]] = [{"name": DEFAULT, "made_usec": made_usec, "token_file": str(token)}]
    found += [{"name": each.name, "made_usec": each.made_usec, "token_file": ""} for each in store.read()]
    if output.json is not Json.OFF:
        output.data(found)
        return
    head = [f"{'CLIENT':<{WIDTH}} {'TOKEN MADE':<19} TOKEN"] if legend else []
    output.lines(head + [line(each) for each in found])


def line(client: Values) -> str:
    """A client for a person."""
    made = number(client, "made_usec")
    where = client["token_file"] or "only its digest is kept"
    return f"{client['name']!s:<{WIDTH}} {stamp(made) if made else 'not yet':<19} {where}"


def add(request: Request, output: Output, store: ClientFile) -> None:
    """Let a further client in."""
    file = destination(request, output)
    if file is not None and (file.exists() or file.is_symlink()):
        raise CtlError(f"cannot add {request.client!r}: {file} is there already", Exit.FAILED)
    # an earlier client of that name may have been granted things
    take_back(request.client, f"cannot add {request.client!r}: it may inherit")
    token = make_token()
    if file is not None:
        write_private(file, token.encode() + b"\n")
    try:
        store.add(request.client, token)
    except BaseException:
        if file is not None:
            file.unlink(missing_ok=True)
        raise
    hand_over(request, output, token, file, f"{request.client} may come in")


def rotate(request: Request, output: Output, store: ClientFile) -> None:
    """Give a client another token: the old one is of no more use."""
    see_who_asks()
    token = make_token()
    if request.client == DEFAULT:
        if request.token_file or request.show:
            raise CtlError(f"the token of {DEFAULT!r} is always in {default_token()}", Exit.USAGE)
        write_private(default_token(), token.encode() + b"\n")
        report(request, output, {"token_file": str(default_token())}, f"{DEFAULT} has another token")
        return
    file = destination(request, output)
    store.rotate(request.client, token)
    if file is not None:
        write_private(file, token.encode() + b"\n")
    hand_over(request, output, token, file, f"{request.client} has another token")


def destination(request: Request, output: Output) -> Path | None:
    """The file a token goes into; None when it is shown.

    Raises:
        CtlError: it would go where nobody wanted it.
    """
    if request.token_file:
        return Path(request.token_file).absolute()
    if output.terminal or request.show:
        return None
    text = f"cannot {request.action} {request.client!r}: its token is shown once, and this is no terminal"
    more = ("--token-file=FILE keeps it in a private file of yours", "--show writes it to standard output all the same")
    raise CtlError(text, Exit.USAGE, more=more)


def hand_over(request: Request, output: Output, token: str, file: Path | None, what: str) -> None:
    """Show a token, or say where it is."""
    if file is not None:
        report(request, output, {"token_file": str(file)}, f"{what}; its token is in {file}")
    elif output.json is not Json.OFF:
        report(request, output, {"token": token}, "")
    else:
        output.remark(f"{what} with this token, which is shown only now:")
        output.lines([token])


def report(request: Request, output: Output, more: dict[str, object], remark: str) -> None:
    """Say that it is done."""
    if output.json is not Json.OFF:
        done: dict[str, object] = {"verb": request.verb, "action": request.action, "outcome": "ok"}
        output.data({**done, "client": request.client, **more})
    else:
        output.remark(remark)


def take_back(client: str, otherwise: str) -> None:
    """Refuse what a client still asks, and take back what it was granted: another of its name must not inherit it.

    Raises:
        CtlError: the control service, which keeps both, does not do it.
    """
    try:
        asyncio.run(settle(client))
    except CtlError as error:
        if error.status in NOBODY and not (environment.state_dir() / GRANTS).exists():
            return  # nothing is asked where there is no control service, and nothing was ever granted
        more = (*error.more, f"'{PROGRAM} grants' and '{PROGRAM} questions' show what there is")
        raise CtlError(f"{otherwise} what was granted to it: {error.text}", error.status, error.name, more) from error


def see_who_asks() -> None:
    """See that this is not what an agent started: whose token it had, it would have the grants of.

    Raises:
        CtlError: it is, as the control service says.
    """
    try:
        asyncio.run(look("Grants"))
    except CtlError as error:
        if error.status is Exit.NOT_PERMITTED:
            raise


async def settle(client: str) -> None:
    """Deny every question and take back every grant of a client.

    Raises:
        CtlError: it cannot be done.
    """
    async with control.connected() as bus:
        asked = [each.get("id", "") for each in await ask_for(bus, "Questions") if each.get("client") == client]
        await each_of(bus, "Deny", "sa{sv}", [[each, {}] for each in asked], lenient=True)
        granted = [each.get("id", "") for each in await ask_for(bus, "Grants") if each.get("client") == client]
        await each_of(bus, "Revoke", "s", [[each] for each in granted], lenient=True)


def default_token() -> Path:
    """Where the default client's token is."""
    return environment.state_dir() / "token"
