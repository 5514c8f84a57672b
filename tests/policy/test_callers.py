import pytest

from omarchy_mcp.policy.callers import Caller, Right, may_approve, refusal, units_of

OWN = 1000
SERVER_PID = 50
BASE = ("user.slice", "user-1000.slice", "user@1000.service")
TERMINAL = Caller(pid=10, uid=OWN, units=(*BASE, "app.slice", "app-terminal.scope"))
JOB = Caller(pid=20, uid=OWN, units=(*BASE, "app.slice", "app-omarchymcp.slice", "app-omarchymcp-x-1.service"))
SERVER = Caller(pid=SERVER_PID, uid=OWN, units=(*BASE, "app.slice", "omarchy-mcp.service"))
IN_SERVER = Caller(pid=51, uid=OWN, units=SERVER.units)
OTHER_USER = Caller(pid=10, uid=1001, units=TERMINAL.units)
CLAIMS = Caller(pid=SERVER_PID, uid=OWN, units=TERMINAL.units)


@pytest.mark.parametrize(
    ("caller", "may"),
    [
        (TERMINAL, {Right.ACT, Right.ANSWER}),
        (JOB, set()),
        (SERVER, {Right.SERVER}),
        (IN_SERVER, set()),
        (OTHER_USER, set()),
        (CLAIMS, {Right.ACT, Right.ANSWER}),
    ],
)
def test_who_may_what(caller: Caller, may: set[Right]) -> None:
    assert {right for right in Right if refusal(right, caller, OWN, SERVER_PID) is None} == may


def test_nobody_is_the_server_while_none_runs() -> None:
    assert refusal(Right.SERVER, Caller(pid=0, uid=OWN, units=SERVER.units), OWN, 0) is not None


def test_units_of_a_control_group() -> None:
    path = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-omarchymcp.slice/app-omarchymcp-x-1.service/sub"
    assert units_of(path) == (
        "user.slice", "user-1000.slice", "user@1000.service", "app.slice", "app-omarchymcp.slice",
        "app-omarchymcp-x-1.service",
    )  # fmt: skip
    assert units_of("/") == ()


SHELL_PID = 70


@pytest.mark.parametrize(
    ("caller", "may"),
    [
        (Caller(pid=SHELL_PID, uid=OWN, units=BASE, parent=1), True),
        (Caller(pid=71, uid=OWN, units=BASE, parent=SHELL_PID), True),
        (Caller(pid=72, uid=OWN, units=BASE, parent=71), False),  # a grandchild
        (TERMINAL, False),
        (Caller(pid=0, uid=OWN, units=BASE), False),  # a parent that is not known is no shell
    ],
)
def test_the_shell_and_its_children_approve_where_only_they_may(caller: Caller, *, may: bool) -> None:
    assert (may_approve(caller, SHELL_PID) is None) is may


def test_nobody_approves_for_a_shell_that_is_not_there() -> None:
    assert may_approve(Caller(pid=0, uid=OWN, units=BASE, parent=0), 0) is not None
