"""The verbs that answer questions: which one is meant, how they end, and what they say without a service."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from omarchy_mcp.cli import consent
from omarchy_mcp.cli.exits import STANDARD, CtlError, Exit, status_for
from omarchy_mcp.cli.options import Request
from omarchy_mcp.session.contract import ERROR

REPO = Path(__file__).resolve().parents[2]
CTL = REPO / "bin" / "omarchy-mcpctl"
QUESTION: dict[str, object] = {"id": "5ec2e7", "number": 3, "digest": "d1", "route": "omarchy theme install"}
OTHER = {**QUESTION, "number": 4}


def test_the_number_decides() -> None:
    assert consent.pick([QUESTION, OTHER], 4, "approve") is OTHER
    assert consent.pick([QUESTION], 0, "approve") is QUESTION


@pytest.mark.parametrize(
    ("found", "wanted", "said", "status"),
    [
        ([], 0, "cannot deny: no question is open", Exit.FAILED),
        ([QUESTION], 9, "cannot deny: no question #9 is open", Exit.FAILED),
        ([QUESTION, OTHER], 0, "cannot deny without a number: 2 questions are open (#3, #4)", Exit.USAGE),
    ],
)
def test_no_question_is_guessed(found: list[dict[str, object]], wanted: int, said: str, status: Exit) -> None:
    with pytest.raises(CtlError) as caught:
        consent.pick(found, wanted, "deny")
    assert (caught.value.text, caught.value.status) == (said, status)


def test_the_remark_says_what_was_allowed_beyond_the_call() -> None:
    def said(scope: str, life: str) -> str:
        return consent.granted(Request(verb="approve", question=3, scope=scope, life=life), QUESTION)

    assert said("call", "once") == ""
    assert said("args", "10min") == "; allowed for 10 minutes: 'omarchy theme install' with these arguments"
    assert said("route", "always") == "; allowed always: 'omarchy theme install' with any arguments"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (f"{ERROR}.NotFound", Exit.FAILED),
        (f"{ERROR}.NotPending", Exit.FAILED),
        (f"{ERROR}.DigestMismatch", Exit.FAILED),
        (f"{ERROR}.Refused", Exit.FAILED),
        (f"{STANDARD}.AccessDenied", Exit.NOT_PERMITTED),
        (f"{STANDARD}.InvalidArgs", Exit.USAGE),
        (f"{STANDARD}.UnknownMethod", Exit.NOT_IMPLEMENTED),
    ],
)
def test_every_error_of_the_service_has_its_exit_status(name: str, status: Exit) -> None:
    assert status_for(name) is status


# --- the program, with no session at all


def ctl(*words: str) -> "subprocess.CompletedProcess[str]":
    env = {
        "HOME": "/nonexistent",
        "PATH": "/usr/bin:/bin",
        "OMARCHY_MCP_VENV": os.environ.get("OMARCHY_MCP_VENV") or sys.prefix,
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    }
    return subprocess.run(
        [CTL, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "line",
    [
        *("questions", "approve 3", "deny", "deny 3", "deny --all", "grants", "revoke 0a1b", "revoke --all", "review"),
        f"acknowledge {'0a' * 32}",
    ],
)
def test_without_a_bus_every_verb_says_so(line: str) -> None:
    done = ctl(*line.split())
    assert (done.returncode, done.stdout) == (Exit.NOT_RUNNING, "")
    assert done.stderr == "omarchy-mcpctl: cannot connect to the session bus: no such file or directory\n"
    told = json.loads(ctl(*line.split(), "--json").stdout)
    assert (told["verb"], told["outcome"]) == (line.partition(" ")[0], "failed")


def test_where_nobody_can_be_asked_the_digest_is_required() -> None:
    for words in (["acknowledge"], ["acknowledge", "--json"]):
        done = ctl(*words)
        assert done.returncode == Exit.USAGE
        assert "'review' shows it" in done.stderr


def test_where_nobody_can_be_asked_the_number_is_required() -> None:
    for words in (["approve"], ["approve", "--json"], ["approve", "--scope=args", "--life=always"]):
        done = ctl(*words)
        assert done.returncode == Exit.USAGE
        assert "give the question's, such as 'approve 3'" in done.stderr
