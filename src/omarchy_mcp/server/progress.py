"""What a client hears while it waits for a command or for a person."""

from collections.abc import Awaitable, Callable

from mcp.server.mcpserver import Context

PROGRESS_S = 10.0
"""How often a client that waits hears of it; one of them gives up after 60 s of silence."""

Progress = Callable[[float, float, str], Awaitable[None]]
"""Told the seconds waited, the seconds the wait may last, and what is waited for."""


def progress_of(ctx: Context) -> Progress:
    """How the client of a call is told that its call still goes on."""

    async def progress(waited: float, longest: float, what: str) -> None:
        await ctx.report_progress(waited, longest, what)

    return progress
