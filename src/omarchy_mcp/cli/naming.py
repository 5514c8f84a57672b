"""What `client` and `client-config` are told: which client is meant, and where its token goes.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from omarchy_mcp.cli.options import ACTIONS, PROGRAMS, Request, UsageError
from omarchy_mcp.session.clientfile import DEFAULT, well_named

LIST, REVOKE = "list", "revoke"


def completed(request: Request, rest: Sequence[str], given: Mapping[str, object]) -> Request:
    """Fill in what follows one of these verbs.

    Raises:
        UsageError: something is missing, or does not go together.
    """
    token_file = str(given.get("token-file", ""))
    if "token-file" in given and not token_file:
        raise UsageError("--token-file takes the name of a file")
    if request.verb == "client-config":
        name = known_name(str(given.get("name", DEFAULT)))
        return replace(request, program=program(given), client=name, token_file=token_file)
    action, name = (*rest, "", "")[:2]
    action = action or LIST
    if action not in ACTIONS:
        raise UsageError(f"'client' takes {', '.join(ACTIONS)}, not {action[:40]!r}")
    if action == LIST and name:
        raise UsageError(f"'client list' takes no further word: {name[:40]!r}")
    if action in (LIST, REVOKE) and (token_file or "show" in given):
        raise UsageError(f"'client {action}' makes no token")
    if token_file and "show" in given:
        raise UsageError("a token is either shown or kept in a file, not both")
    if action != LIST:
        name = further(action, name)
    return replace(request, action=action, client=name, token_file=token_file, show="show" in given)


def program(given: Mapping[str, object]) -> str:
    """For which client a configuration is wanted.

    Raises:
        UsageError: for none, or one that is not known.
    """
    wanted = str(given.get("client", ""))
    if wanted not in PROGRAMS:
        what = f", not {wanted[:40]!r}" if wanted else ""
        raise UsageError(f"'client-config' takes --client= with one of {', '.join(PROGRAMS)}{what}")
    return wanted


def further(action: str, name: str) -> str:
    """The client something is done to; the default one is there from the beginning and stays.

    Raises:
        UsageError: there is no such client, or it is not for that.
    """
    if not name:
        raise UsageError(f"'client {action}' takes the name of a client")
    if name == DEFAULT and action == "add":
        raise UsageError(f"the client {DEFAULT!r} is there already")
    if name == DEFAULT and action == REVOKE:
        raise UsageError(f"the client {DEFAULT!r} stays; 'client rotate {DEFAULT}' makes its old token useless")
    return known_name(name)


def known_name(name: str) -> str:
    """A name a client can have.

    Raises:
        UsageError: none can.
    """
    if name != DEFAULT and not well_named(name):
        raise UsageError(f"a client's name is up to 32 small letters, digits, '.', '_' and '-', not {name[:40]!r}")
    return name
