"""What a socket-activated uvicorn server needs and no more: for the bare servers the product is measured against."""

import asyncio
import os
import socket
from typing import Any

import uvicorn


class Ready(uvicorn.Server):
    """uvicorn that tells the service manager once it serves."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])


def serve(app: Any) -> None:
    """Serve an application on the socket that was passed."""
    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
    )
    asyncio.run(Ready(config).serve(sockets=[socket.socket(fileno=3)]))
