"""Freeze, thaw and jobs: the person sees what agents started, stops it in its tracks, and ends it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from system import bus, desktop, journal
from system.bus import ERROR
from system.product import CONTROL, SERVICE, SLICE, Product
from system.world import alive, wait_until

UNKNOWN = "0123456789ab"


@pytest.fixture(name="busy")
def person_and_agent(product: Product) -> Iterator[Product]:
    """The product, awake; whatever a test froze goes on afterwards."""
    product.wake()
    yield product
    product.control.call("Thaw")
    product.world.systemctl("stop", SLICE)


def start(product: Product, name: str) -> tuple[str, int]:
    """Start a command that lasts; returns its job and process."""
    answer = product.rpc().do(desktop.SLEEP, "60", name, detach=True)
    return answer.data["job"], wait_until(lambda: product.desktop.pids(name), f"{name} runs")[0]


def family(product: Product) -> tuple[str, list[int]]:
    """Start a command with children and grandchildren."""
    answer = product.rpc().do(desktop.TREE, "family", detach=True)
    return answer.data["job"], wait_until(lambda: product.desktop.pids("family"), "the family has grown")


def still(product: Product, pid: int) -> bool:
    """Whether a process does not run though it is there."""
    frozen = product.show(SLICE, "FreezerState") == "frozen"
    return frozen or Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "T"


def test_freeze_stops_everything_in_its_tracks_and_thaw_lets_it_go_on(busy: Product) -> None:
    _, pids = family(busy)
    busy.control.call("Freeze")
    assert all(alive(pid) for pid in pids)
    wait_until(lambda: all(still(busy, pid) for pid in pids), "everything is still")
    assert busy.control.get("State") == "frozen"
    assert busy.control.status()["frozen"] is True
    busy.control.call("Thaw")
    assert all(alive(pid) for pid in pids)
    wait_until(lambda: not any(still(busy, pid) for pid in pids), "everything goes on")
    assert busy.control.get("State") == "serving"


def test_while_frozen_every_call_is_refused_at_once_also_after_restarts(audit: Product, busy: Product) -> None:
    rpc = audit.rpc()
    assert rpc.do(desktop.TRUE).outcome == "ok"
    audit.control.call("Freeze")
    for _ in range(2):
        answer = rpc.do(desktop.TRUE)
        assert (answer.failed, answer.outcome) == (True, "refused")
        assert "paused by the user" in answer.text
        found = rpc.call("omarchy_search_commands", query="theme")
        assert "paused by the user" in found.text
        audit.restart()
        audit.world.systemctl("stop", CONTROL)
        assert audit.control.get("State") == "frozen"
    assert rpc.ask("tools/list", {})["tools"]  # looking is no call
    audit.control.call("Thaw")
    assert rpc.do(desktop.TRUE).outcome == "ok"
    refused = [entry for entry in journal.records(audit.world) if entry.get("OMARCHY_MCP_RULE") == "paused"]
    assert refused


def test_freezing_with_nothing_to_freeze_still_pauses(busy: Product) -> None:
    busy.control.call("Freeze")
    busy.control.call("Freeze")  # once more changes nothing
    assert busy.control.get("State") == "frozen"
    assert busy.rpc().do(desktop.TRUE).outcome == "refused"


def test_the_state_is_signalled(busy: Product) -> None:
    def freeze_and_thaw() -> None:
        busy.control.call("Freeze")
        busy.control.call("Thaw")

    assert asyncio.run(bus.states(busy.world, freeze_and_thaw)) == ["frozen", "serving"]


def test_jobs_are_listed_with_where_they_come_from(busy: Product) -> None:
    assert busy.control.call("Jobs") == []
    first, _ = start(busy, "first")
    second, _ = start(busy, "second")
    jobs = busy.control.call("Jobs")
    assert [job["id"] for job in jobs] == [first, second]
    assert jobs[0] | {"started_usec": 0} == {
        "id": first,
        "unit": busy.job_unit(first),
        "route": desktop.SLEEP,
        "client": "default",
        "tool": "omarchy_run",
        "started_usec": 0,
        "state": "running",
    }
    assert 0 < jobs[0]["started_usec"] <= jobs[1]["started_usec"] <= int(journal.moment(-1) * 1_000_000)
    busy.sleep()  # who asks does not need the server
    assert [job["id"] for job in busy.control.call("Jobs")] == [first, second]


@pytest.mark.parametrize("frozen", [False, True])
def test_a_job_is_ended_whole_by_its_id_and_no_other_is(audit: Product, busy: Product, frozen: bool) -> None:
    since = journal.moment()
    job, pids = family(audit)
    other, bystander = start(audit, "bystander")
    if frozen:
        audit.control.call("Freeze")
        assert {each["state"] for each in audit.control.call("Jobs")} == {"frozen"}
    audit.control.call("StopJob", "s", job)
    assert not any(alive(pid) for pid in pids)
    assert alive(bystander)
    assert [each["id"] for each in audit.control.call("Jobs")] == [other]

    def stopped() -> list[journal.Entry]:
        return [
            entry
            for entry in journal.records(audit.world, "lifecycle", since=since)
            if entry.get("OMARCHY_MCP_JOB") == job and entry["OMARCHY_MCP_ACTION"] == "stopjob"
        ]

    assert wait_until(stopped, "the record")[0]["OMARCHY_MCP_OUTCOME"] == "ok"


@pytest.mark.parametrize("job", ["", UNKNOWN, "*", SERVICE, "../.."])
def test_a_job_that_is_not_there_cannot_be_ended(busy: Product, job: str) -> None:
    error, body = busy.control.raw("StopJob", "s", (job,))
    assert error == f"{ERROR}NotFound"
    assert "none of that id" in body[0]
