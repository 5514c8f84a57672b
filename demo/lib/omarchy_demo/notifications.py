"""A notification server for the demo and for tests: the one a shell would be, without a screen.

It speaks the low-level interface of dbus-next only. What a person would do with the mouse is a method of
``io.github.bruce_forte.OmarchyDemo1`` on the same object:

``Card(u id)``            click the card: its program or default action, else merely dismissed
``Click(u id, s action)`` press a button, or name any action
``Dismiss(u id)``, ``Expire(u id)``
``InvokeLast()``, ``DismissOne()``, ``DismissAll()``, ``DismissMatching(s)``, ``ShowHistory()``,
``ClearPast()``, ``ClearPending()``   what the shell's functions of such names do; each answers "ok" or "none"
``Spawn(as argv)``        start a program as a child of this "shell"
``List() -> s``           JSON: what is open, and everything that was asked of the server
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import typing
from dataclasses import dataclass, field
from typing import Any

if not hasattr(typing, "no_type_check_decorator"):  # dbus-next asks for it; Python 3.15 took it away
    typing.no_type_check_decorator = lambda decorator: decorator  # type: ignore[attr-defined,unused-ignore]

from dbus_next.aio.message_bus import MessageBus
from dbus_next.constants import MessageType, NameFlag, RequestNameReply
from dbus_next.message import Message

from .state import State

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
DEMO = "io.github.bruce_forte.OmarchyDemo1"
CAPABILITIES = ("persistence", "body", "body-markup", "body-hyperlinks", "actions", "icon-static")
EXPIRED, DISMISSED, CLOSED = 1, 2, 3
CRITICAL = 2
NORMAL_SECONDS = 8.0
HISTORY_LIMIT = 200
ALWAYS_SHOWN = "omarchy-action"  # do-not-disturb lets the desktop's own toasts through


@dataclass(slots=True, kw_only=True)
class Toast:
    """One notification that is on the screen."""

    app: str
    icon: str
    summary: str
    body: str
    actions: list[str]
    hints: dict[str, Any]
    timeout: int
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def public(self) -> dict[str, Any]:
        """Return what ``List`` shows of it."""
        hints = {key: value if isinstance(value, (str, int, float, bool)) else "…" for key, value in self.hints.items()}
        return {
            "app": self.app,
            "icon": self.icon,
            "summary": self.summary,
            "body": self.body,
            "actions": self.actions,
            "hints": hints,
            "timeout": self.timeout,
        }

    def seconds(self) -> float | None:
        """Return how long it stays, or nothing for one that waits for the person."""
        if self.hints.get("urgency") == CRITICAL or self.timeout == 0:
            return None
        return self.timeout / 1000 if self.timeout > 0 else NORMAL_SECONDS


class Server:
    """The notifications on one screen."""

    def __init__(self, bus: MessageBus, state: State, options: argparse.Namespace) -> None:
        self.bus = bus
        self.state = state
        self.options = options
        self.next = int(options.first_id)
        self.open: dict[int, Toast] = {}
        self.past: list[tuple[int, str]] = []
        self.log: list[list[Any]] = []
        self.children: list[subprocess.Popen[bytes]] = []
        self.drawing: asyncio.Task[None] | None = None
        self.stale = False

    # What arrives on the bus.

    def on(self, message: Message) -> Message | None:
        """Answer a method call to our object; anything else is not ours."""
        if message.message_type is not MessageType.METHOD_CALL or message.path != PATH:
            return None
        body = message.body
        match message.interface or "", message.member:
            case (("" | "org.freedesktop.Notifications"), "Notify"):
                return Message.new_method_return(message, "u", [self.notify(body)])
            case (("" | "org.freedesktop.Notifications"), "CloseNotification"):
                return self._close_call(message)
            case (("" | "org.freedesktop.Notifications"), "GetCapabilities"):
                return Message.new_method_return(message, "as", [self.options.capabilities.split(",")])
            case (("" | "org.freedesktop.Notifications"), "GetServerInformation"):
                return Message.new_method_return(message, "ssss", ["omarchy-demo", "omarchy-mcp", "1", "1.2"])
            case "io.github.bruce_forte.OmarchyDemo1", member:
                return self._demo(message, member)
        return None

    def _close_call(self, message: Message) -> Message:
        number = message.body[0]
        self.log.append(["Close", number])
        if number not in self.open:
            return Message.new_error(message, "org.freedesktop.DBus.Error.InvalidArgs", "no such notification")
        self.close(number, CLOSED, told=not self.options.silent_close)
        return Message.new_method_return(message)

    def _demo(self, message: Message, member: str) -> Message | None:
        body = message.body
        match member:
            case "Card":
                self.card(body[0])
            case "Click":
                self.click(body[0], body[1])
            case "Dismiss":
                self.close(body[0], DISMISSED)
            case "Expire":
                self.close(body[0], EXPIRED)
            case "Spawn":
                self._spawn(body[0])
            case "List":
                shown = {str(number): toast.public() for number, toast in self.open.items()}
                answer = json.dumps({"open": shown, "log": self.log, "past": self.past})
                return Message.new_method_return(message, "s", [answer])
            case _:
                answer = self._shell_function(member, body)
                if not answer:
                    return None
                return Message.new_method_return(message, "s", [answer])
        return Message.new_method_return(message)

    def _shell_function(self, member: str, body: list[Any]) -> str:
        """Do what a function of the shell's target ``notifications`` does; nothing for an unknown one."""
        numbers = list(self.open)
        match member:
            case "InvokeLast" if numbers:
                self.card(numbers[-1])
            case "DismissOne" if numbers:
                self.close(numbers[-1], DISMISSED)
            case "DismissMatching":
                hits = [number for number in numbers if body[0] and body[0] in self.open[number].summary]
                for number in hits:
                    self.close(number, DISMISSED)
                return "ok" if hits else "none"
            case "DismissAll" | "ClearPending":
                for number in numbers:
                    self.close(number, DISMISSED)
            case "ClearPast":
                self.past.clear()
            case "ShowHistory" if self.past:
                pass
            case "InvokeLast" | "DismissOne" | "ShowHistory":
                return "none"
            case _:
                return ""
        return "ok"

    # What becomes of a notification.

    def notify(self, body: list[Any]) -> int:
        """Show a notification, or show one anew; return its number."""
        app, replaces, icon, summary, text, actions, hints, timeout = body
        number = int(replaces) or self.next
        if not replaces:
            self.next += 1
        elif (old := self.open.get(number)) and old.timer:
            old.timer.cancel()
        plain = {key: variant.value for key, variant in hints.items()}
        toast = Toast(app=app, icon=icon, summary=summary, body=text, actions=actions, hints=plain, timeout=timeout)
        self.log.append(["Notify", number, summary, text])
        del self.log[:-HISTORY_LIMIT]
        self.open[number] = toast
        loop = asyncio.get_running_loop()
        time.sleep(self.options.slow)
        if self.options.swallow or (self.state.get("dnd") == "on" and app != ALWAYS_SHOWN):
            loop.call_soon(self.close, number, DISMISSED)  # the caller learns the number first
            return number
        seconds = None if self.options.keep else toast.seconds()
        if seconds is not None:
            toast.timer = loop.call_later(seconds, self.close, number, EXPIRED)
        self.draw()
        return number

    def close(self, number: int, reason: int, *, told: bool = True) -> None:
        """Take a notification off the screen and tell everybody why."""
        toast = self.open.pop(number, None)
        if toast is None:
            return
        if toast.timer:
            toast.timer.cancel()
        self.past = [*self.past, (number, toast.summary)][-HISTORY_LIMIT:]
        if told:
            self.bus.send(Message.new_signal(PATH, NAME, "NotificationClosed", "uu", [number, reason]))
        self.draw()

    def click(self, number: int, action: str) -> None:
        """Choose an action; the notification is gone with it."""
        if number in self.open:
            self.bus.send(Message.new_signal(PATH, NAME, "ActionInvoked", "us", [number, action]))
            self.close(number, DISMISSED)

    def card(self, number: int) -> None:
        """Click the card itself: its own program, else the default action, else it is merely dismissed."""
        toast = self.open.get(number)
        if toast is None:
            return
        program = toast.hints.get("omarchy-exec-argv")
        if isinstance(program, str):
            self._spawn(json.loads(program))
            self.close(number, DISMISSED)
        elif "default" in toast.actions[::2]:
            self.click(number, "default")
        else:
            self.close(number, DISMISSED)

    def _spawn(self, argv: list[str]) -> None:
        self.children = [child for child in self.children if child.poll() is None]
        try:
            self.children.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        except (OSError, ValueError, IndexError) as error:
            self.log.append(["Failed", argv, str(error)])

    # The newest notification belongs on the drawn desktop.

    def draw(self) -> None:
        """Have the desktop drawn, once for any number of changes in between."""
        self.stale = True
        if self.drawing is None or self.drawing.done():
            self.drawing = asyncio.get_running_loop().create_task(self._draw())

    async def _draw(self) -> None:
        while self.stale:
            self.stale = False
            newest = next(reversed(self.open.values()), None)
            headline, text = (newest.summary, newest.body) if newest else ("", "")
            await asyncio.to_thread(self.state.set, headline=headline, description=text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="omarchy-demo-notifications", description="The demo's notifications")
    parser.add_argument("--first-id", type=int, default=1, help="number of the first notification")
    parser.add_argument("--capabilities", default=",".join(CAPABILITIES), help="what the server says it can do")
    parser.add_argument("--silent-close", action="store_true", help="do not tell when the sender closes its own")
    parser.add_argument("--swallow", action="store_true", help="close everything the moment it is shown")
    parser.add_argument("--slow", type=float, default=0, help="seconds it takes to show a notification")
    parser.add_argument("--keep", action="store_true", help="let nothing expire by itself")
    return parser.parse_args()


async def serve(options: argparse.Namespace) -> int:
    """Serve until the bus goes away or somebody ends us."""
    bus = await MessageBus().connect()
    server = Server(bus, State(), options)
    bus.add_message_handler(server.on)
    if await bus.request_name(NAME, NameFlag.DO_NOT_QUEUE) is not RequestNameReply.PRIMARY_OWNER:
        print("demo: another program shows the notifications here", file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, bus.disconnect)
    print(f"showing notifications as {bus.unique_name}, process {os.getpid()}", flush=True)
    await bus.wait_for_disconnect()  # type: ignore[no-untyped-call,unused-ignore]
    return 0


def main() -> int:
    """Run the server."""
    return asyncio.run(serve(_options()))
