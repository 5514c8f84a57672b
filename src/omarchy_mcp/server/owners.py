"""Whose session is whose: a session of the handshake's era is of use only to the client that opened it."""

from collections import OrderedDict

from starlette.types import Message, Send

from omarchy_mcp.server.clients import MOST_SESSIONS, SESSION_HEADER

HEADER = SESSION_HEADER.encode()

STRANGER = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
"""What the SDK says of a session that is over; that there is one, of somebody else, is nobody's business."""


class Owners:
    """Remembers the client of each session."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, str] = OrderedDict()

    def foreign(self, session_id: str, client: str) -> bool:
        """Whether a session was opened by another client."""
        return self._clients.get(session_id, client) != client

    def noting(self, send: Send, client: str) -> Send:
        """Take note of the session that an answer opens."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in message["headers"]:
                    if name.lower() == HEADER:
                        self._note(value.decode("latin-1"), client)
            await send(message)

        return noting

    def _note(self, session_id: str, client: str) -> None:
        self._clients[session_id] = client
        self._clients.move_to_end(session_id)
        if len(self._clients) > MOST_SESSIONS:
            self._clients.popitem(last=False)

    def forget(self, session_id: str) -> None:
        """A session is over."""
        self._clients.pop(session_id, None)
