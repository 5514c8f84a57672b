"""More ends of a question: in each nothing runs that was not approved, no prompt stays, and one record says how."""

import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise

import pytest
from mcp import Client

from system import desktop
from system.bus import ERROR, NAME, busctl
from system.client import Answer, Era, Rpc, with_sdk
from system.consent import DEADLINE, approve, asking, call, ended, question, questions, rule
from system.product import CONTROL, Product
from system.screen import NAME as SCREEN_NAME
from system.screen import PATH as SCREEN_PATH
from system.screen import Screen, screen
from system.world import REPO, wait_until


def twice(product: Product, pool: ThreadPoolExecutor, shown: Screen) -> "list[Future[Answer]]":
    """The same call by clients of both eras, one after the other, both of them waiting."""
    answers = []
    for era in Era:
        answers.append(call(product, pool, "same", era=era))
        shown.question()
    assert rule(product) == "ask"  # what was sent before this has been taken in
    assert not any(answer.done() for answer in answers)
    return answers


@pytest.mark.parametrize("action", ["deny", "approve"])
def test_the_same_call_made_twice_is_one_question_and_a_yes_is_one_run(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor, action: str
) -> None:
    first, second = twice(asked, pool, shown)
    assert question(asked)["argv"] == ["same"]
    shown.click(action)
    if action == "deny":
        assert "refused this call" in first.result().text
        assert "refused this call" in second.result().text
        ended(asked, "declined", shown)
    else:
        assert first.result().outcome == "ok"
        assert second.result().failed
        assert "they approved one run, and the same call made before this one has it" in second.result().text
        ended(asked, "accepted", shown, runs=1)


def test_of_the_same_call_made_twice_both_run_where_that_was_granted(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answers = twice(asked, pool, shown)
    assert approve(asked, question(asked), scope="args", life="10min") == ""
    assert [answer.result().outcome for answer in answers] == ["ok", "ok"]
    ended(asked, "accepted", shown, runs=2)


def test_a_question_stays_until_the_last_of_those_who_wait_for_it_has_gone(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    gone = pool.submit(asked.rpc().do, desktop.ASKED, "same", seconds=3)
    shown.question()
    stays = call(asked, pool, "same")
    assert isinstance(gone.exception(), OSError)
    assert rule(asked) == "ask"
    shown.click("approve")
    assert stays.result().outcome == "ok"
    ended(asked, "accepted", shown, runs=1)


def test_a_bus_that_is_lost_takes_the_question_along(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    if not asked.world.private:
        pytest.skip("the lab's session needs its bus")
    answer = call(asked, pool)
    shown.question()
    before = asked.pid(CONTROL)
    asked.world.systemctl("restart", "dbus.service")
    assert answer.exception() is not None or answer.result().failed
    wait_until(lambda: asked.pid(CONTROL) not in {0, before}, "another control service runs", 15)
    wait_until(lambda: asked.control.owner(), "the name is owned again", 15)
    with screen(asked) as another:
        ended(asked, "withdrawn", another)


def test_a_control_service_that_is_killed_leaves_nothing_on_the_screen(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    os.kill(asked.pid(CONTROL), signal.SIGKILL)
    assert "did not reach" in answer.result().text
    wait_until(lambda: not shown.questions(), "the next one takes it away", 15)
    ended(asked, "unreachable", shown)


def test_a_control_service_that_is_stopped_withdraws_the_question(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    asked.world.systemctl("stop", CONTROL)
    assert answer.result().failed
    ended(asked, "withdrawn", shown)


def test_two_calls_of_one_client_at_once_are_one_question_and_a_refusal(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    first = call(asked, pool, "first", era=Era.HANDSHAKE)
    shown.question()
    second = call(asked, pool, "second").result()
    assert second.seconds < 5
    assert "another question of this client" in second.text
    assert question(asked)["argv"] == ["first"]
    shown.click("approve")
    assert first.result().outcome == "ok"
    assert asked.desktop.runs() == [["first"]]
    ended(asked, "accepted", shown, runs=1, besides=["not_asked_again"])


def test_two_clients_at_once_have_a_question_each(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    program, venv = str(REPO / "bin" / "omarchy-mcpctl"), asked.venv
    token = asked.world.run(program, "client", "add", "codex", "--show", "-q", OMARCHY_MCP_VENV=venv).stdout.strip()
    try:
        first = call(asked, pool, "same")
        shown.question()
        second = pool.submit(Rpc(asked.port, token).do, desktop.ASKED, "same", seconds=60)
        wait_until(lambda: len(shown.questions()) == 2, "each is asked about", 15)
        rows = {row["client"]: row for row in questions(asked)}
        assert set(rows) == {"default", "codex"}
        assert approve(asked, rows["codex"] | {"digest": rows["default"]["digest"]}) == f"{ERROR}DigestMismatch"
        assert approve(asked, rows["codex"]) == ""
        assert second.result().outcome == "ok"
        assert not first.done()
        assert asked.control.raw("Deny", "sa{sv}", (rows["default"]["id"], {}))[0] == ""
        assert first.result().failed
        ended(asked, "accepted", shown, runs=1, besides=["declined"])
    finally:
        asked.world.run(program, "client", "revoke", "codex", OMARCHY_MCP_VENV=venv)
        (asked.state / "clients.json").unlink(missing_ok=True)


def notify(product: Product, replaces: int) -> int:
    """Show something as any program can, with the buttons of a question."""
    actions = [word for name in ("default", "approve", "deny") for word in (name, "Win a prize")]
    words = ["another", str(replaces), "", "Win a prize", "click", str(len(actions)), *actions, "0", "0"]
    (number,) = busctl(product.world, "call", SCREEN_NAME, SCREEN_PATH, SCREEN_NAME, "Notify", "susssasa{sv}i", *words)
    return int(number)


@pytest.mark.parametrize("action", ["approve", "default"])
def test_what_is_shown_in_the_place_of_a_question_answers_nothing(
    product: Product, pool: ThreadPoolExecutor, action: str
) -> None:
    with asking(product, more='click = "approve"'), screen(product, "--keep") as shown:
        answer = call(product, pool)
        number = shown.question().number
        assert notify(product, number) == number
        wait_until(lambda: [each.number for each in shown.questions()] not in ([], [number]), "it is shown anew")
        notify(product, number)  # and stays another's number, whatever the server makes of it
        shown.do("Click", "us", str(number), action)
        assert question(product)["route"] == desktop.ASKED
        assert not product.desktop.runs()
        shown.click("deny")
        assert answer.result().failed
        ended(product, "declined", shown)


def test_a_number_that_the_server_gives_to_another_answers_nothing(product: Product, pool: ThreadPoolExecutor) -> None:
    with asking(product, more='click = "approve"'), screen(product, "--first-id", "7") as shown:
        answer = call(product, pool)
        assert shown.question().number == 7
        shown.do("Expire", "u", "7")
        assert notify(product, 7) == 7
        shown.do("Click", "us", "7", "approve")
        assert question(product)["route"] == desktop.ASKED
        notify(product, 0)
        shown.stop()
        shown.start()  # it counts anew
        wait_until(lambda: [each.number for each in shown.questions()] == [7], "the question has the number again")
        assert not product.desktop.runs()
        shown.click("deny")
        assert answer.result().failed
        ended(product, "declined", shown)


def test_the_shells_function_that_invokes_the_newest_is_refused_to_agents(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    for refused in (
        asked.rpc().call("omarchy_shell_call", target="notifications", function="invokeLast", args=[]),
        asked.rpc().do("omarchy shell", "notifications", "invokeLast"),
        asked.rpc().do("omarchy shell notifications invokeLast"),
    ):
        assert refused.failed, refused
        assert refused.outcome in ("refused", "error"), refused
    assert question(asked)["route"] == desktop.ASKED
    assert not asked.desktop.runs()
    shown.click("deny")
    assert answer.result().failed
    ended(asked, "declined", shown)


def test_a_bare_signal_of_the_newest_one_invoked_is_no_yes(product: Product, pool: ThreadPoolExecutor) -> None:
    with asking(product, more='click = "open"'), screen(product) as shown:
        answer = call(product, pool)
        shown.question()
        shown.do("InvokeLast")
        assert not shown.questions()
        row = question(product)
        assert not product.desktop.runs()
        assert product.control.raw("Deny", "sa{sv}", (row["id"], {}))[0] == ""
        assert answer.result().failed
        ended(product, "declined", shown)


def test_an_answer_after_the_deadline_is_refused_though_no_timer_has_run(
    product: Product, pool: ThreadPoolExecutor
) -> None:
    with asking(product, DEADLINE), screen(product) as shown:
        answer = call(product, pool)
        shown.question()
        row = question(product)
        control = product.pid(CONTROL)
        os.kill(control, signal.SIGSTOP)  # as a machine that sleeps through the deadline
        try:
            over = time.monotonic() + row["left_usec"] / 1e6
            wait_until(lambda: time.monotonic() > over, "the deadline is over", DEADLINE + 1)
            late = pool.submit(approve, product, row)  # it lies on the bus before the service goes on
            product.world.run("busctl", "--user", "status", NAME, check=False)
        finally:
            os.kill(control, signal.SIGCONT)
        assert late.result() == f"{ERROR}NotPending"
        assert "nobody answered" in answer.result().text
        ended(product, "timed_out", shown)


CLIENT_GIVES_UP_S = 60
LONGEST_SILENCE_S = 15


def test_with_the_defaults_a_client_that_gives_up_after_a_minute_is_answered_before(
    product: Product, pool: ThreadPoolExecutor
) -> None:
    def patient(mode: str) -> tuple[bool, float]:
        """A client that hears of the wait: whether the call failed, and the longest time it heard nothing."""
        heard = [time.monotonic()]

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(time.monotonic())

        async def act(client: Client) -> bool:
            result = await client.call_tool("omarchy_run", {"route": desktop.ASKED, "args": []}, progress_callback=hear)
            heard.append(time.monotonic())
            return bool(result.is_error)

        failed = with_sdk(product.url, product.token(), mode, act)
        return failed, max(later - earlier for earlier, later in pairwise(heard))

    with asking(product, None), screen(product) as shown:
        silent = [call(product, pool, era=era) for era in Era]  # all of them are one question
        told = [pool.submit(patient, mode) for mode in ("auto", "legacy")]
        shown.question()
        for answer in silent:
            assert "nobody answered within 50 s" in answer.result().text
            assert answer.result().seconds < CLIENT_GIVES_UP_S
        for each in told:
            failed, silence = each.result()
            assert failed
            assert silence <= LONGEST_SILENCE_S
        ended(product, "timed_out", shown)


def test_the_file_to_begin_with_is_the_defaults(product: Product) -> None:
    kept = product.desktop.config.read_bytes()
    try:
        product.desktop.config.write_bytes((REPO / "docs" / "config.toml").read_bytes())
        product.world.systemctl("restart", CONTROL)
        product.restart()
        told = product.rpc().call("omarchy_run", route=desktop.ASKED, args=[], preview=True)
        assert not told.data["would_ask"]
        status = wait_until(lambda: (it := product.control.status())["tools"] and it, "the server has told")
        assert status["config_ok"]
        assert status["config_problem"] == ""
        assert product.rpc().do(desktop.ASKED).failed
        assert not product.desktop.runs()
    finally:
        product.desktop.config.write_bytes(kept)
        product.control.call("Reload")
