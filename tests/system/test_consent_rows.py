"""More ends of a question: in each nothing runs that was not approved, no prompt stays, and one record says how."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from system import desktop
from system.client import Answer, Era
from system.consent import approve, call, ended, question, rule
from system.product import Product
from system.screen import Screen


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
