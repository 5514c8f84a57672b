"""A bare ASGI application that answers every request with the same JSON-RPC result: the floor."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from bench.inherited import serve

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Read the body, answer its id."""
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    result = {"content": [{"type": "text", "text": "x"}], "isError": False}
    answer = json.dumps({"jsonrpc": "2.0", "id": json.loads(body or b"{}").get("id"), "result": result}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


if __name__ == "__main__":
    serve(app)
