"""A guarded call becomes a question: what is shown, who answers it, and that nothing else lets anything run."""

import asyncio
import contextlib
import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp import Client

from system import desktop, journal
from system.bus import ERROR, NAME, PATH, busctl, text
from system.client import Era, Rpc, with_sdk
from system.consent import BEGUN, DEADLINE, approve, asking, call, ended, heard, question, questions, rule
from system.product import CONTROL, Product
from system.screen import NAME as SCREEN_NAME
from system.screen import PATH as SCREEN_PATH
from system.screen import Screen, screen
from system.world import wait_until


@pytest.mark.parametrize("era", list(Era))
def test_what_the_person_approves_at_the_screen_runs_once(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor, era: Era
) -> None:
    answer = call(asked, pool, "one", "two words", era=era)
    toast = shown.question()
    assert desktop.ASKED.removeprefix("omarchy ") in toast.body.split("\n")[0]
    assert '"one" "two words"' in toast.body
    assert toast.actions[::2] == ["default", "approve", "deny"]
    assert not asked.desktop.runs()
    shown.do("Click", "us", str(toast.number), "approve")
    assert answer.result().outcome == "ok", answer.result()
    assert asked.desktop.runs() == [["one", "two words"]]
    ended(asked, "accepted", shown, runs=1)


def test_what_the_person_denies_at_the_screen_does_not_run_and_is_not_asked_again(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.click("deny")
    assert answer.result().failed
    assert "refused this call" in answer.result().text
    ended(asked, "declined", shown)
    again = call(asked, pool).result()
    assert "is not asked about it" in again.text
    assert not shown.questions()
    assert not asked.desktop.runs()


def test_a_question_that_is_dismissed_is_no_yes(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool)
    shown.do("Dismiss", "u", str(shown.question().number))
    assert "dismissed the question" in answer.result().text
    ended(asked, "cancelled", shown)


@pytest.mark.parametrize("member", ["InvokeLast", "DismissAll"])
def test_the_shells_own_functions_are_a_persons_click_or_none(
    product: Product, pool: ThreadPoolExecutor, member: str
) -> None:
    with asking(product, more='click = "open"'), screen(product) as shown:
        answer = call(product, pool)
        shown.question()
        shown.do(member)
        if member == "InvokeLast":
            row = question(product)
            assert product.control.raw("Deny", "sa{sv}", (row["id"], {}))[0] == ""
            assert answer.result().failed
            ended(product, "declined", shown)
        else:
            assert answer.result().failed
            ended(product, "cancelled", shown)


def test_nobody_answers_and_a_click_that_is_too_late_runs_nothing(product: Product, pool: ThreadPoolExecutor) -> None:
    with asking(product, DEADLINE), screen(product) as shown:
        answer = call(product, pool)
        toast = shown.question()
        row = question(product)
        assert "nobody answered" in answer.result().text
        assert approve(product, row) == f"{ERROR}NotPending"
        busctl(product.world, "call", SCREEN_NAME, SCREEN_PATH, "io.github.bruce_forte.OmarchyDemo1", "Click", "us",
               str(toast.number), "approve", check=False)  # fmt: skip
        ended(product, "timed_out", shown)


def test_a_click_before_anybody_could_have_read_it_is_no_yes(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    first = wait_until(shown.questions, "a question", 15)[0]
    shown.do("Click", "us", str(first.number), "approve")
    again = shown.question()
    assert again.number != first.number
    assert not asked.desktop.runs()
    shown.click("deny")
    assert answer.result().failed
    ended(asked, "declined", shown)


def test_a_person_at_a_terminal_may_approve_exactly_what_was_asked(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool, "x")
    row = question(asked)
    assert row["argv"] == ["x"]
    assert asked.control.get("PendingQuestions") == 1
    assert approve(asked, row | {"digest": "0" * 64}) == f"{ERROR}DigestMismatch"
    assert asked.control.raw("Approve", "sa{sv}", ("0" * 32, {"digest": text(row["digest"])}))[0] == f"{ERROR}NotFound"
    assert not asked.desktop.runs()
    assert approve(asked, row) == ""
    assert answer.result().outcome == "ok"
    assert approve(asked, row) == f"{ERROR}NotPending"
    ended(asked, "accepted", shown, runs=1)


def test_a_question_is_an_object_that_busctl_shows(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool, "x")
    row = question(asked)
    told = asked.world.run("busctl", "--user", "introspect", NAME, f"{PATH}/question/{row['id']}").stdout
    for name in ("client", "tool", "route", "argv", "target", "executable", "capabilities", "left_usec", "digest"):
        assert f".{name}" in told
    shown.click("deny")
    assert answer.result().failed


def test_the_id_of_a_question_is_told_to_no_model_and_written_nowhere(audit: Product, pool: ThreadPoolExecutor) -> None:
    with asking(audit), screen(audit) as shown:
        answer = call(audit, pool)
        row = question(audit)
        shown.click("deny")
        assert row["id"] not in answer.result().text + json.dumps(answer.result().data)
        ended(audit, "declined", shown)
        assert row["id"] not in json.dumps(journal.read(audit.world, since=BEGUN[0]))


def test_five_calls_at_once_are_one_question(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answers = [call(asked, pool, str(number)) for number in range(5)]
    row = question(asked)
    refused = wait_until(lambda: [each for each in answers if each.done()][3:], "four are refused", 20)
    assert refused
    assert all("another question of this client" in each.result().text for each in answers if each.done())
    shown.click("approve")
    assert sorted(each.result().outcome for each in answers) == ["ok", *["refused"] * 4]
    assert asked.desktop.runs() == [row["argv"]]


def test_a_client_that_goes_away_takes_its_question_along(asked: Product, shown: Screen) -> None:
    client = asked.rpc()
    thread = threading.Thread(target=_gives_up, args=(client,), daemon=True)
    thread.start()
    shown.question()
    thread.join()
    ended(asked, "withdrawn", shown)


def _gives_up(client: Rpc) -> None:
    try:
        client.do(desktop.ASKED, seconds=3)
    except OSError:
        return
    raise AssertionError("it was answered")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_cancels_is_told_of_the_wait_and_takes_its_question_along(
    asked: Product, shown: Screen, mode: str
) -> None:
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def act(client: Client) -> None:
        work = asyncio.create_task(
            client.call_tool("omarchy_run", {"route": desktop.ASKED, "args": []}, progress_callback=hear)
        )
        while not told:
            await asyncio.sleep(0.1)
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        await asyncio.to_thread(ended, asked, "withdrawn", shown)

    with_sdk(asked.url, asked.token(), mode, act)
    assert "is being asked" in told[0]


def test_a_server_that_dies_takes_its_question_along(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool)
    shown.question()
    os.kill(asked.pid(), signal.SIGKILL)
    assert answer.exception() is not None
    ended(asked, "withdrawn", shown)


def test_stop_ends_every_question(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool)
    shown.question()
    asked.control.call("Stop")
    assert answer.exception() is not None or answer.result().failed
    ended(asked, "withdrawn", shown)


def test_freeze_ends_every_question(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool)
    shown.question()
    asked.control.call("Freeze")
    assert "withdrawn" in answer.result().text
    ended(asked, "withdrawn", shown)
    asked.control.call("Thaw")


def test_a_change_of_the_rules_is_shown(asked: Product, shown: Screen) -> None:
    asked.desktop.write_config('ask = true\nallow_groups = ["install"]')
    toast = wait_until(shown.toasts, "an announcement", 15)[0]
    assert toast.summary == "Agents may do more"
    assert toast.actions == []


def test_without_a_notification_server_nobody_was_asked(asked: Product, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool).result()
    assert "did not reach the person" in answer.text
    assert answer.seconds < 10
    ended(asked, "unreachable")


def test_a_notification_server_that_takes_no_answers_asks_nobody(asked: Product, pool: ThreadPoolExecutor) -> None:
    with screen(asked, "--capabilities", "body") as shown:
        assert "nobody can be asked" in call(asked, pool).result().text
        ended(asked, "unsupported", shown)


def test_a_question_that_is_swallowed_was_not_asked(asked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    answer = call(asked, pool)
    toast = wait_until(shown.questions, "a question", 15)[0]
    shown.do("Dismiss", "u", str(toast.number))  # at once, as do-not-disturb does
    assert "did not reach the person" in answer.result().text
    ended(asked, "unreachable", shown)


def test_a_question_that_is_closed_before_its_number_is_known_was_not_asked(
    asked: Product, pool: ThreadPoolExecutor
) -> None:
    with screen(asked, "--swallow") as shown:
        answer = call(asked, pool).result()
        assert "did not reach the person" in answer.text
        assert answer.seconds < DEADLINE
        ended(asked, "unreachable", shown)


def test_a_question_that_ends_while_it_is_being_shown_is_taken_back(asked: Product) -> None:
    with screen(asked, "--slow", "2") as shown:
        with contextlib.suppress(OSError):
            asked.rpc().do(desktop.ASKED, seconds=1)
        ended(asked, "withdrawn")
        wait_until(lambda: [each[0] for each in shown.listed()["log"]] == ["Notify", "Close"], "it was taken back")
        assert not shown.questions()


def test_a_notification_server_that_comes_back_shows_the_question_again(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    shown.stop()
    shown.start()
    shown.click("approve")
    assert answer.result().outcome == "ok"
    ended(asked, "accepted", shown, runs=1)


def test_a_notification_server_that_stays_away_ends_the_question(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    shown.stop()
    assert "did not reach the person" in answer.result().text
    ended(asked, "unreachable")


@pytest.mark.parametrize("unicast", [False, True])
def test_an_action_that_another_program_signals_is_no_answer(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor, *, unicast: bool
) -> None:
    answer = call(asked, pool)
    toast = shown.question()
    to = [f"--destination={NAME}"] if unicast else []
    busctl(asked.world, *to, "emit", SCREEN_PATH, SCREEN_NAME, "ActionInvoked", "us", str(toast.number), "approve")
    heard(asked)
    assert len(questions(asked)) == 1
    assert not asked.desktop.runs()
    shown.click("deny")
    assert answer.result().failed
    ended(asked, "declined", shown)


def test_what_does_not_fit_cannot_be_approved_where_it_is_not_shown(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool, "a" * 500)
    toast = shown.question()
    assert "approve" not in toast.actions
    assert "omarchy-mcpctl questions" in toast.body
    shown.do("Card", "u", str(toast.number))
    row = question(asked)
    assert row["argv"] == ["a" * 500]
    assert not asked.desktop.runs()
    assert approve(asked, row) == ""
    assert answer.result().outcome == "ok"
    ended(asked, "accepted", shown, runs=1)


def test_a_deny_written_while_the_question_was_open_wins(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    shown.question()
    asked.desktop.write_config(f'ask = true\ndeny = ["{desktop.ASKED}"]')
    asked.control.call("Reload")
    wait_until(lambda: rule(asked) == "deny", "the deny is in force")
    shown.click("approve")
    assert answer.result().failed
    assert not asked.desktop.runs()
    ended(asked, "accepted", shown)


def test_a_command_that_changed_while_the_question_was_open_does_not_run(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    script = asked.desktop.path / "bin" / "omarchy-install-asked"
    before = script.read_bytes()
    answer = call(asked, pool)
    shown.question()
    try:
        script.write_bytes(before + b"# changed\n")
        shown.click("approve")
        assert answer.result().failed
        assert not asked.desktop.runs()
    finally:
        script.write_bytes(before)


@pytest.mark.parametrize("member", ["Approve", "Deny", "Questions", "Grants", "Ask"])
def test_what_an_agent_started_cannot_answer(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor, member: str
) -> None:
    answer = call(asked, pool)
    row = question(asked)
    words = {
        "Approve": ["sa{sv}", row["id"], "1", "digest", "s", row["digest"]],
        "Deny": ["sa{sv}", row["id"], "0"],
        "Ask": ["a{sv}", "0"],
    }.get(member, [])
    done = asked.rpc().do(desktop.CALL_BUS, member, *words)
    assert "AccessDenied" in json.dumps(done.data) or "Access denied" in json.dumps(done.data), done
    assert len(questions(asked)) == 1
    assert not asked.desktop.runs()
    shown.click("deny")
    assert answer.result().failed


def test_only_the_server_may_ask(asked: Product) -> None:
    for member, signature, body in (("Ask", "a{sv}", ({},)), ("Granted", "a{sv}", ({},)), ("Withdraw", "s", ("x",))):
        assert asked.control.raw(member, signature, body)[0] == "org.freedesktop.DBus.Error.AccessDenied"


def test_nobody_is_asked_for_what_no_answer_could_allow(product: Product) -> None:
    with asking(product, more=f'deny = ["{desktop.ASKED}"]'), screen(product) as shown:
        rpc = product.rpc()
        for route in (desktop.ROOT, desktop.ASKED, "omarchy plugin remove bruce-forte.mcp-server"):
            assert rpc.do(route).failed
        assert not [entry for entry in shown.listed()["log"] if entry[0] == "Notify"]
        assert not product.desktop.runs()


@pytest.mark.parametrize(("scope", "covers"), [("args", False), ("route", True)])
def test_a_grant_covers_what_it_says_and_is_taken_back(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor, scope: str, *, covers: bool
) -> None:
    answer = call(asked, pool, "a")
    assert approve(asked, question(asked), scope=scope, life="always") == ""
    assert answer.result().outcome == "ok"
    assert call(asked, pool, "a").result().outcome == "ok"
    other = call(asked, pool, "b")
    if not covers:
        shown.click("deny")
    assert (other.result().outcome == "ok") is covers
    rows = asked.control.call("Grants")
    assert [(row["scope"], row["life"], row["route"]) for row in rows] == [(scope, "always", desktop.ASKED)]
    asked.world.systemctl("restart", CONTROL)  # it outlives both services
    asked.restart()
    assert call(asked, pool, "a").result().outcome == "ok"
    assert asked.control.raw("Revoke", "s", (rows[0]["id"],))[0] == ""
    assert asked.control.raw("Revoke", "s", (rows[0]["id"],))[0] == f"{ERROR}NotFound"
    after = call(asked, pool, "a")
    shown.click("deny")
    assert after.result().failed


def test_grants_are_a_file_of_the_persons_own_that_fails_closed(
    asked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    answer = call(asked, pool)
    assert approve(asked, question(asked), scope="args", life="session") == ""
    assert answer.result().outcome == "ok"
    file = asked.state / "consent.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("{", encoding="utf-8")
    again = call(asked, pool)
    row = question(asked)
    assert approve(asked, row, scope="args", life="always") == f"{ERROR}Refused"
    assert file.read_text(encoding="utf-8") == "{"
    shown.click("deny")
    assert again.result().failed


def test_only_the_shell_and_its_children_answer_where_the_person_wants_it_so(
    product: Product, pool: ThreadPoolExecutor
) -> None:
    with asking(product, more='approve_from = "shell"'), screen(product) as shown:
        answer = call(product, pool)
        row = question(product)
        assert approve(product, row) == "org.freedesktop.DBus.Error.AccessDenied"
        words = ["sa{sv}", row["id"], "1", "digest", "s", row["digest"]]
        given = ["busctl", "--user", "call", NAME, PATH, NAME, "Approve", *words]
        shown.do("Spawn", "as", str(len(given)), "--", *given)
        assert answer.result().outcome == "ok"
        ended(product, "accepted", shown, runs=1)
