import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.control.cooldown import (
    BURST,
    BURST_WINDOW_S,
    DECAY_S,
    LONGEST_WAIT_S,
    MAX_CLIENTS,
    MAX_MARKS,
    Memory,
    Wait,
    after,
    may_ask,
)
from omarchy_mcp.policy.questions import Answer, Cause

REFUSALS = [Answer.DECLINED, Answer.CANCELLED, Answer.TIMED_OUT]


def wait_of(memory: Memory, client: str, digest: str, now_s: float) -> int:
    wait = may_ask(memory, client, digest, now_s)
    return wait.seconds if wait is not None else 0


def test_who_was_never_asked_may_be() -> None:
    assert may_ask(Memory(), "a", "x", 0) is None


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_wait_doubles_each_time_it_is_ended_by_asking(answer: Answer) -> None:
    memory, now, waits = Memory(), 1_000.0, []
    for _ in range(7):
        memory = after(memory, "a", "x", answer, now)
        waits.append(wait_of(memory, "a", "x", now))
        now += waits[-1]
        assert may_ask(memory, "a", "x", now) is None
    assert waits == [300, 600, 1_200, 2_400, 3_600, 3_600, 3_600]


def test_a_wait_is_of_one_client_and_one_call() -> None:
    memory = after(Memory(), "a", "x", Answer.DECLINED, 0)
    assert may_ask(memory, "a", "x", 0.5) == Wait(seconds=300, reason=Cause.REFUSED_BEFORE)
    assert may_ask(memory, "a", "y", 0.5) is None
    assert may_ask(memory, "b", "x", 0.5) is None


def test_quiet_forgets_one_refusal_after_another() -> None:
    memory = Memory()
    for now in (0.0, 300.0, 900.0):
        memory = after(memory, "a", "x", Answer.DECLINED, now)
    end = 900 + 1_200
    for quiet, expected in ((DECAY_S - 1, 2_400), (DECAY_S, 1_200), (2 * DECAY_S, 600), (9 * DECAY_S, 300)):
        again = after(memory, "a", "x", Answer.DECLINED, end + quiet)
        assert wait_of(again, "a", "x", end + quiet) == expected


def test_a_yes_forgets_the_refusals_of_that_call_alone() -> None:
    memory = after(after(Memory(), "a", "x", Answer.DECLINED, 0), "a", "y", Answer.DECLINED, 0)
    memory = after(memory, "a", "x", Answer.ACCEPTED, 300)
    assert wait_of(after(memory, "a", "x", Answer.DECLINED, 301), "a", "x", 301) == 300
    assert wait_of(after(memory, "a", "y", Answer.DECLINED, 301), "a", "y", 301) == 600


@pytest.mark.parametrize("answer", [answer for answer in Answer if answer not in REFUSALS])
def test_what_no_person_refused_starts_no_wait(answer: Answer) -> None:
    assert may_ask(after(Memory(), "a", "x", answer, 0), "a", "x", 0) is None


@pytest.mark.parametrize("answer", [Answer.NOT_ASKED_AGAIN, Answer.UNSUPPORTED])
def test_a_question_that_was_never_put_is_not_remembered(answer: Answer) -> None:
    memory = after(Memory(), "a", "x", Answer.DECLINED, 0)
    assert after(memory, "a", "x", answer, 1) is memory


@pytest.mark.parametrize("answer", [Answer.ACCEPTED, Answer.WITHDRAWN, Answer.DECLINED, Answer.UNREACHABLE])
def test_a_client_asks_only_so_much_in_a_while(answer: Answer) -> None:
    memory = Memory()
    for number in range(BURST):
        assert may_ask(memory, "a", f"{number}", number) is None
        memory = after(memory, "a", f"{number}", answer, number)
    wait = may_ask(memory, "a", "other", BURST)
    assert wait == Wait(seconds=BURST_WINDOW_S - BURST, reason=Cause.TOO_OFTEN)
    assert may_ask(memory, "b", "other", BURST) is None
    assert may_ask(memory, "a", "other", BURST_WINDOW_S) is None
    memory = after(memory, "a", "other", answer, BURST_WINDOW_S)
    assert wait_of(memory, "a", "another", BURST_WINDOW_S) == 1


def test_the_longer_of_two_waits_counts() -> None:
    memory = Memory()
    for number in range(BURST):
        memory = after(memory, "a", f"{number}", Answer.DECLINED, 0)
    assert may_ask(memory, "a", "0", 0) == Wait(seconds=600, reason=Cause.TOO_OFTEN)
    memory = after(memory, "a", "0", Answer.DECLINED, 590)
    assert may_ask(memory, "a", "0", 590) == Wait(seconds=600, reason=Cause.REFUSED_BEFORE)


def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    memory = Memory()
    for number in range(MAX_MARKS + 5):
        memory = after(memory, f"{number}", "x", Answer.DECLINED, number / 100)
    assert len(memory.marks) == MAX_MARKS
    assert len(memory.asked) == MAX_CLIENTS
    assert may_ask(memory, "0", "x", 20) is None
    assert wait_of(memory, f"{MAX_MARKS + 4}", "x", 20) > 280
    later = after(memory, "a", "x", Answer.DECLINED, 100 * DECAY_S)
    assert len(later.marks) == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from(Answer), st.floats(0, 1e5, allow_nan=False)
        ),
        max_size=40,
    ),
    st.floats(0, 1e6),
)
def test_a_wait_is_never_longer_than_an_hour_nor_empty(
    events: list[tuple[str, str, Answer, float]], now: float
) -> None:
    memory = Memory()
    for client, digest, answer, at in events:
        memory = after(memory, client, digest, answer, at)
    wait = may_ask(memory, "a", "x", now)
    assert wait is None or wait.seconds >= 1
    assert wait is None or wait.reason is Cause.TOO_OFTEN or wait.seconds <= LONGEST_WAIT_S
