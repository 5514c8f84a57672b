"""A bare dbus-next service behind bus activation that answers Status: what the control service costs more."""

import asyncio
import warnings

NAME, PATH = "io.github.bruce_forte.BenchBare1", "/io/github/bruce_forte/BenchBare1"


async def main() -> None:
    """Own the name and answer until the bus is gone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from dbus_next.aio.message_bus import MessageBus  # noqa: PLC0415
        from dbus_next.constants import MessageType  # noqa: PLC0415
        from dbus_next.message import Message  # noqa: PLC0415

    bus = await MessageBus().connect()

    def answer(message: Message) -> Message | None:
        if message.message_type is MessageType.METHOD_CALL and message.member == "Status":
            return Message.new_method_return(message, "a{sv}", [{}])
        return None

    bus.add_message_handler(answer)
    await bus.request_name(NAME)
    await bus.wait_for_disconnect()


if __name__ == "__main__":
    asyncio.run(main())
