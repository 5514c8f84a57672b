"""The notification server, on a message bus of its own, asked the way any program asks one."""

import json
import select
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from .stage import BIN, Stage, notification_server, private_bus

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
READY = "Ready"
ATTEMPTS = 50
DEMO = "io.github.bruce_forte.OmarchyDemo1"


@pytest.fixture
def bus(stage: Stage) -> Iterator[Stage]:
    with private_bus(stage):
        yield stage


def call(stage: Stage, interface: str, member: str, *words: str, check: bool = True) -> Any:
    command = ["busctl", "--user", "--json=short", "call", "--", NAME, PATH, interface, member]
    done = stage.run(*command, *words, check=check)
    return json.loads(done.stdout)["data"] if done.stdout else None


def notify(stage: Stage, summary: str, *actions: str, app: str = "test", urgency: int = 2, replaces: int = 0) -> int:
    words = [app, str(replaces), "", summary, "body", str(len(actions)), *actions]
    words += ["1", "urgency", "y", str(urgency), "-1"]
    (number,) = call(stage, NAME, "Notify", "susssasa{sv}i", *words)
    return int(number)


def shown(stage: Stage) -> dict[str, Any]:
    (text,) = call(stage, DEMO, "List")
    answer: dict[str, Any] = json.loads(text)
    return answer


class Listener:
    """Collects the signals of the server from a program of its own."""

    def __init__(self, stage: Stage) -> None:
        match = f"type='signal',interface='{NAME}'"
        self.process = subprocess.Popen(
            ["busctl", "--user", "--json=short", "monitor", f"--match={match}"],
            env=stage.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self.process.stdout is not None
        # It says nothing when it begins (systemd 257 and later): signals of ours show that it listens.
        for _ in range(ATTEMPTS):
            stage.run("busctl", "--user", "emit", PATH, NAME, READY)
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                return
        raise AssertionError("busctl does not monitor")

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate()

    def next(self) -> tuple[str, list[Any]]:
        assert self.process.stdout is not None
        while (message := json.loads(self.process.stdout.readline()))["member"] == READY:
            pass
        return message["member"], message["payload"]["data"]


def test_it_says_what_the_real_shell_says_it_can_do(bus: Stage) -> None:
    with notification_server(bus):
        (capabilities,) = call(bus, NAME, "GetCapabilities")
    assert capabilities == ["persistence", "body", "body-markup", "body-hyperlinks", "actions", "icon-static"]


def test_what_it_can_do_can_be_chosen(bus: Stage) -> None:
    with notification_server(bus, "--capabilities", "body", "--first-id", "70"):
        assert call(bus, NAME, "GetCapabilities") == [["body"]]
        assert notify(bus, "x") == 70


def test_the_newest_notification_is_drawn_and_goes_again(bus: Stage) -> None:
    with notification_server(bus):
        number = notify(bus, "Look here")
        bus.until(lambda: "Look here" in bus.fact("desktop.svg"), "the notification on the picture")
        call(bus, NAME, "CloseNotification", "u", str(number))
        bus.until(lambda: "Look here" not in bus.fact("desktop.svg"), "the picture without it")


def test_a_click_on_the_card_means_the_default_action(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        number = notify(bus, "Approve?", "default", "Approve", "deny", "Deny")
        call(bus, DEMO, "Card", "u", str(number))
        assert listener.next() == ("ActionInvoked", [number, "default"])
        assert listener.next() == ("NotificationClosed", [number, 2])


def test_a_click_on_a_card_with_named_actions_only_is_a_dismissal(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        number = notify(bus, "Approve?", "approve", "Approve")
        call(bus, DEMO, "Card", "u", str(number))
        assert listener.next() == ("NotificationClosed", [number, 2])


def test_buttons_dismissal_expiry_and_the_sender_s_own_close_differ(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        first, second, third, fourth = (notify(bus, f"n{index}", "yes", "Yes") for index in range(4))
        call(bus, DEMO, "Click", "us", str(first), "yes")
        call(bus, DEMO, "Dismiss", "u", str(second))
        call(bus, DEMO, "Expire", "u", str(third))
        call(bus, NAME, "CloseNotification", "u", str(fourth))
        assert [listener.next() for _ in range(5)] == [
            ("ActionInvoked", [first, "yes"]),
            ("NotificationClosed", [first, 2]),
            ("NotificationClosed", [second, 2]),
            ("NotificationClosed", [third, 1]),
            ("NotificationClosed", [fourth, 3]),
        ]
        assert call(bus, NAME, "CloseNotification", "u", str(fourth), check=False) is None


def test_the_shell_s_functions_reach_it(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        assert bus.shell("notifications", "invokeLast") == "none\n"
        first, second, third = (notify(bus, text, "default", "Yes") for text in ("one", "two", "three"))
        assert bus.shell("notifications", "invokeLast") == "ok\n"
        assert listener.next() == ("ActionInvoked", [third, "default"])
        assert listener.next() == ("NotificationClosed", [third, 2])
        assert bus.shell("notifications", "dismiss", "on") == "ok\n"
        assert listener.next() == ("NotificationClosed", [first, 2])
        assert bus.shell("notifications", "dismissOne") == "ok\n"
        assert listener.next() == ("NotificationClosed", [second, 2])
        assert bus.shell("notifications", "dismissOne") == "none\n"
        assert bus.shell("notifications", "dismissAll") == "ok\n"


def test_do_not_disturb_closes_at_once_but_not_the_desktop_s_own(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        bus.shell("notifications", "setDnd", "on")
        number = notify(bus, "quiet", app="omarchy-mcp")
        assert listener.next() == ("NotificationClosed", [number, 2])
        notify(bus, "loud", app="omarchy-action")
        assert [row["summary"] for row in shown(bus)["open"].values()] == ["loud"]


def test_a_normal_one_expires_and_a_critical_one_waits(bus: Stage) -> None:
    with notification_server(bus), Listener(bus) as listener:
        waits = notify(bus, "critical")
        (number,) = call(
            bus, NAME, "Notify", "susssasa{sv}i", "test", "0", "", "normal", "", "0", "1", "urgency", "y", "1", "50"
        )
        assert listener.next() == ("NotificationClosed", [number, 1])
        assert list(shown(bus)["open"]) == [str(waits)]


def test_a_replacement_keeps_the_number_and_changes_the_text(bus: Stage) -> None:
    with notification_server(bus):
        number = notify(bus, "before")
        assert notify(bus, "after", replaces=number) == number
        assert shown(bus)["open"][str(number)]["summary"] == "after"


def test_a_server_that_keeps_quiet_about_closing_can_be_played(bus: Stage) -> None:
    with notification_server(bus, "--silent-close"), Listener(bus) as listener:
        first, second = notify(bus, "one"), notify(bus, "two")
        call(bus, NAME, "CloseNotification", "u", str(first))
        call(bus, DEMO, "Dismiss", "u", str(second))
        assert listener.next() == ("NotificationClosed", [second, 2])


def test_a_program_can_be_started_as_the_shell_s_child(bus: Stage) -> None:
    with notification_server(bus):
        call(bus, DEMO, "Spawn", "as", "2", "touch", str(bus.state / "canary"))
        bus.until((bus.state / "canary").exists, "the program's sign")


def test_it_leaves_a_name_that_another_program_holds_alone(bus: Stage) -> None:
    with notification_server(bus):
        done = bus.run(str(BIN / "omarchy-demo-notifications"), check=False)
    assert done.returncode == 1
    assert "another program" in done.stderr


def test_sending_falls_back_to_the_picture_when_there_is_no_server(stage: Stage) -> None:
    stage.omarchy("notification", "send", "Nobody listens", "but somebody may look")
    assert stage.fact("headline") == "Nobody listens"
