"""Who may speak to the MCP endpoint: decided from the request line and headers, before a body byte is read.

Pure.  The order is Host (421), Origin (403), path (404), token (401): a browser page that rebinds a name to
127.0.0.1 learns nothing, and a client that looks for OAuth is told where the token is instead.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MCP_PATH = "/mcp"
HEALTH_PATH = "/health"

MAX_HEADER_BYTES = 32_768
"""All names and values together; a token and an Mcp-Session-Id need 200."""

NAMES = ("127.0.0.1", "localhost")
"""What a client may call this machine.  [::1] is not among them: the socket does not listen there."""

TOKEN_HINT = (
    "send 'Authorization: Bearer TOKEN'; the token is in the file 'token' of the state folder, "
    "and 'omarchy-mcpctl client-config --client=…' shows how a client gets it from there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The request may go on: to the health page, or as a named client to MCP."""

    path: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The request ends here: HTTP status, a word for programs, a sentence for people."""

    status: int
    error: str
    hint: str


def hosts(port: int) -> frozenset[bytes]:
    """The exact Host values accepted on a port."""
    return frozenset(f"{name}:{port}".encode() for name in NAMES)


def check(
    headers: Sequence[tuple[bytes, bytes]], path: str, port: int, tokens: Mapping[str, bytes]
) -> Admitted | Rejected:
    """Decide on a request.

    `headers` as they came, names in lower case, repetitions kept; `tokens` maps the name of each client to the
    SHA-256 of its token.  No tokens: nobody is admitted.
    """
    if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        return Rejected(status=431, error="headers too large", hint=f"at most {MAX_HEADER_BYTES} bytes")
    expected = hosts(port)
    host = [value.lower() for name, value in headers if name == b"host"]
    if len(host) != 1 or host[0] not in expected:
        return Rejected(status=421, error="wrong Host header", hint=f"use http://127.0.0.1:{port}{MCP_PATH}")
    origin = [value.lower() for name, value in headers if name == b"origin"]
    if origin and (len(origin) > 1 or origin[0] not in {b"http://" + name for name in expected}):
        return Rejected(status=403, error="wrong Origin header", hint="web pages may not use this server")
    if path == HEALTH_PATH:
        return Admitted(path=path, client="")
    if path != MCP_PATH:
        # Before the token: after a 401 clients look for OAuth here, and print what they find.
        return Rejected(status=404, error="not found", hint=f"no OAuth here, MCP is at {MCP_PATH}: {TOKEN_HINT}")
    client = client_of([value for name, value in headers if name == b"authorization"], tokens)
    if client is None:
        return Rejected(status=401, error="unauthorized", hint=TOKEN_HINT)
    return Admitted(path=path, client=client)


def client_of(authorization: Sequence[bytes], tokens: Mapping[str, bytes]) -> str | None:
    """Return the client whose token the one Authorization header carries, or None.

    Digests are compared, as bytes and with that of every client, so that the time says nothing.
    """
    if len(authorization) != 1:
        return None
    scheme, _, token = authorization[0].partition(b" ")
    if scheme.lower() != b"bearer":
        return None
    digest = hashlib.sha256(token.strip(b" ")).digest()
    found = None
    for client, expected in tokens.items():
        if hmac.compare_digest(digest, expected):
            found = client
    return found
