import pytest

from omarchy_mcp.policy.callers import Caller, Right, refusal, units_of

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
