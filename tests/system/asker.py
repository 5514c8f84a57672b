"""Stands for the MCP server in its unit: keeps questions open, each of a client and with an argument of its own."""

import asyncio
import itertools
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from dbus_next.aio.message_bus import MessageBus
    from dbus_next.constants import MessageType
    from dbus_next.message import Message
    from dbus_next.signature import Variant

NAME, PATH = "io.github.bruce_forte.OmarchyMcp1", "/io/github/bruce_forte/OmarchyMcp1"
DBUS, DBUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
OPEN = 8
NUMBERS = itertools.count(1)
ROUTE = "omarchy install asked"


def call(number: int) -> dict[str, Variant]:
    """What the server tells of a call; no two are alike."""
    texts = {
        "client": f"client {number}",
        "tool": "omarchy_run",
        "route": ROUTE,
        "target": "",
        "binary": "omarchy-install-asked",
        "executable": "/bin/true",
        "executable_digest": "0" * 64,
        "reason": "it is a test",
        "tier": "guarded",
        "rule": "tier",
        "call_id": f"{number:012x}",
    }
    told = {name: Variant("s", text) for name, text in texts.items()}
    return told | {
        "argv": Variant("as", [str(number)]),
        "capabilities": Variant("as", []),
        "timeout": Variant("u", 600),
    }


async def keep_one_open(bus: MessageBus, over: dict[str, asyncio.Event]) -> None:
    """Ask, wait for the end, ask the next."""
    while True:
        body = [call(next(NUMBERS))]
        reply: Any = await bus.call(
            Message(destination=NAME, path=PATH, interface=NAME, member="Ask", signature="a{sv}", body=body)
        )
        if reply.message_type is MessageType.ERROR:
            await asyncio.sleep(0.02)  # it is being started again, or does not know this process yet
            continue
        question = reply.body[0].rpartition("/")[2]
        ended = over.setdefault(question, asyncio.Event())
        await ended.wait()
        over.pop(question, None)


async def main() -> None:
    """Keep asking until the bus is gone."""
    bus = await MessageBus().connect()
    over: dict[str, asyncio.Event] = {}

    def hear(message: Message) -> None:
        if message.member == "QuestionClosed":
            over.setdefault(message.body[0], asyncio.Event()).set()
        elif message.member == "NameOwnerChanged" and message.body[0] == NAME:
            for ended in over.values():  # who held the questions is gone, and they with it
                ended.set()

    bus.add_message_handler(hear)
    for rule in (f"type='signal',sender='{NAME}'", f"type='signal',sender='{DBUS}',arg0='{NAME}'"):
        await bus.call(
            Message(destination=DBUS, path=DBUS_PATH, interface=DBUS, member="AddMatch", signature="s", body=[rule])
        )
    await asyncio.gather(*(keep_one_open(bus, over) for _ in range(OPEN)))  # a lost bus ends it


if __name__ == "__main__":
    asyncio.run(main())
