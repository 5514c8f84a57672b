"""The screen of the desktop under test: the stand-in notification server, and what a person does with the mouse."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from system.bus import busctl
from system.product import Product
from system.world import World, wait_until

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
MOUSE = "io.github.bruce_forte.OmarchyDemo1"
PROGRAM = "omarchy-demo-notifications"
# A click that comes sooner was meant for something else, and a toast that goes sooner was seen by nobody.
LOOK_SECONDS = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Toast:
    """A notification on the screen."""

    number: int
    summary: str
    body: str
    actions: list[str]


class Screen:
    """What is shown, and a mouse."""

    def __init__(self, product: Product, *options: str) -> None:
        self.world: World = product.world
        self._product = product
        self._options = options
        self._server: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Have a notification server, and wait until it answers."""
        program = str(self._product.desktop.path / "bin" / PROGRAM)
        own = self._product.manager_environment
        self._server = self.world.start(program, *self._options, **own)
        wait_until(lambda: self.world.pid_on_bus(NAME), "a notification server", 20)

    def stop(self) -> None:
        """Take it away, as a crash would."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
            wait_until(lambda: not self.world.pid_on_bus(NAME), "no notification server")
            self._server = None

    def do(self, member: str, *words: str) -> Any:
        return busctl(self.world, "call", NAME, PATH, MOUSE, member, *words)

    def listed(self) -> dict[str, Any]:
        """Everything the server tells of itself."""
        listed: dict[str, Any] = json.loads(self.do("List")[0])
        return listed

    def toasts(self) -> list[Toast]:
        """What is on the screen."""
        return [
            Toast(number=int(number), summary=shown["summary"], body=shown["body"], actions=shown["actions"])
            for number, shown in self.listed()["open"].items()
        ]

    def questions(self) -> list[Toast]:
        """What is on the screen and can be answered."""
        return [toast for toast in self.toasts() if toast.actions]

    def question(self) -> Toast:
        """The one question on the screen, looked at as long as a person would."""
        toasts = wait_until(self.questions, "a question on the screen", 15)
        assert len(toasts) == 1, toasts
        time.sleep(LOOK_SECONDS)
        return toasts[0]

    def click(self, action: str) -> None:
        """Press a button of the question."""
        self.do("Click", "us", str(self.question().number), action)


@contextmanager
def screen(product: Product, *options: str) -> Iterator[Screen]:
    """A screen for a while."""
    shown = Screen(product, *options)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()
