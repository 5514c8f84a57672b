import asyncio
import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from omarchy_mcp.session import jobs as jobs_module
from omarchy_mcp.session.bus import Bus
from omarchy_mcp.session.jobs import Environment, Exit, Job, Jobs, Origin, SpawnError, read_exit, recall, unit_name
from omarchy_mcp.session.manager import Manager, NoManagerError, unit_path
from session.conftest import within

ORIGIN = Origin(client="tests", tool="omarchy_run", route="omarchy test")
NOTHING = Environment(add={}, unset=[])


@contextlib.asynccontextmanager
async def spawner(folder: Path, kept: dict[str, int] | None = None) -> AsyncIterator[Jobs]:
    bus = await Bus.connect()
    keep = (lambda name, fd: kept.update({name: os.dup(fd)})) if kept is not None else (lambda _name, _fd: None)
    try:
        yield Jobs(await Manager.connect(bus), folder, keep)
    finally:
        await bus.close()


async def start(jobs: Jobs, argv: Sequence[str], env: Environment = NOTHING, limit: int = 4096) -> Job:
    return await jobs.start(secrets.token_hex(6), list(argv), ORIGIN, env, limit)


async def run(jobs: Jobs, argv: Sequence[str], env: Environment = NOTHING, limit: int = 4096) -> Job:
    job = await start(jobs, argv, env, limit)
    assert await job.wait(10)
    return job


def streams(job: Job) -> tuple[str, str]:
    assert job.stdout is not None
    assert job.stderr is not None
    return job.stdout.text(), job.stderr.text()


def left_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_argv_arrives_exactly(tmp_path: Path) -> None:
    args = [
        "$HOME",
        "${HOME}",
        "$$",
        "%n %h %%",
        "a b",
        "",
        ";`id`$(id)|&",
        "new\nline",
        "tab\t",
        "é\u202e",
        "-x",
        "'\"\\",
    ]
    script = "import sys, json; print(json.dumps(sys.argv[1:]))"

    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/usr/bin/python3", "-c", script, *args])
            assert json.loads(streams(job)[0]) == args
            await within(job.ended.wait())
        assert left_in(tmp_path) == []

    asyncio.run(scenario())


@pytest.mark.parametrize("data", [b"", b"two\nlines \xff\0", b"x" * 1_000_000])
def test_a_command_reads_exactly_what_it_is_given(tmp_path: Path, data: bytes) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            argv = ["/usr/bin/sha256sum"]
            job = await jobs.start(secrets.token_hex(6), argv, ORIGIN, NOTHING, 4096, stdin=data)
            assert await job.wait(10)
            assert streams(job) == (f"{hashlib.sha256(data).hexdigest()}  -\n", "")
            await within(job.ended.wait())

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("script", "how", "out", "err"),
    [
        ("echo out; echo err >&2", Exit(status=0), "out\n", "err\n"),
        ("exit 7", Exit(status=7), "", ""),
        ("kill -SEGV $$", Exit(signal=11), "", ""),
        ("kill -TERM $$", Exit(signal=15), "", ""),
        ('read line; echo "got[$line]"', Exit(status=0), "got[]\n", ""),
        ("tty; exit 0", Exit(status=0), "not a tty\n", ""),
    ],
)
def test_the_end_of_a_command_is_told(tmp_path: Path, script: str, how: Exit, out: str, err: str) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/bin/sh", "-c", script])
            assert job.exit == how
            assert streams(job) == (out, err)
            await within(job.ended.wait())
            assert not await jobs._manager.units(job.unit)

    asyncio.run(scenario())


def test_a_command_is_the_managers_child_in_a_unit_and_slice_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/bin/cat", "/proc/self/cgroup", "/proc/self/stat"])
            out = streams(job)[0]
            assert f"app-omarchymcp.slice/{job.unit}" in out
            parent = int(out.rsplit(")", 1)[1].split()[1])
            assert parent != os.getpid()

    asyncio.run(scenario())


def test_a_command_gets_no_descriptor_and_no_variable_with_which_to_speak_for_us(tmp_path: Path) -> None:
    env = Environment(add={"SHOWN": "yes", "LISTEN_FDS": "1"}, unset=["LISTEN_FDS", "INVOCATION_ID"])

    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/bin/sh", "-c", "env; ls /proc/$$/fd | tr '\\n' ' '; readlink /proc/$$/fd/0"], env)
            out = streams(job)[0]
            assert "SHOWN=yes" in out
            for name in ("LISTEN_FDS", "INVOCATION_ID", "NOTIFY_SOCKET", "WATCHDOG_USEC"):
                assert f"{name}=" not in out
            assert out.splitlines()[-1].split()[-1] == "/dev/null"
            assert out.splitlines()[-1].startswith(("0 1 2 /dev/null", "0 1 10 2 /dev/null"))

    asyncio.run(scenario())


def test_a_leaked_grandchild_does_not_delay_the_answer_and_lives(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/bin/sh", "-c", "(exec sleep 600) & echo $!"])
            assert job.exit == Exit(status=0)
            child = int(streams(job)[0])
            assert Path(f"/proc/{child}").exists()
            assert not job.ended.is_set()
            await jobs.stop(job)
            await within(job.ended.wait())
            assert not Path(f"/proc/{child}/exe").exists()

    asyncio.run(scenario())


def test_stopping_ends_the_whole_tree_even_where_it_ignores_the_asking(tmp_path: Path) -> None:
    script = (
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & while :; do sleep 1; done"
    )

    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await start(jobs, ["/bin/sh", "-c", script])
            assert not await job.wait(0.3)
            child = int(streams(job)[0])
            await jobs.stop(job)
            await within(job.ended.wait(), 10)
            assert job.exit == Exit(signal=9)
            assert not Path(f"/proc/{child}/exe").exists()
        assert left_in(tmp_path) == []

    asyncio.run(scenario())


def test_a_flood_is_cut_to_head_and_tail_and_ended_at_its_ceiling(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            job = await run(jobs, ["/bin/sh", "-c", "echo first; yes | head -c 100000; echo last"], limit=100)
            assert job.exit == Exit(status=0)
            out = streams(job)[0]
            assert out.startswith("first\n")
            assert out.endswith("last\n")
            assert "bytes left out" in out
            assert len(out) < 200
            flood = await run(jobs, ["/bin/sh", "-c", "exec yes"], limit=100)
            assert flood.overflowed
            assert flood.exit == Exit(signal=9)
            await within(flood.ended.wait())

    asyncio.run(scenario())


def test_a_missing_program_and_too_many_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            for program in ("/nonexistent", "/etc/passwd", "/"):
                with pytest.raises(SpawnError) as raised:
                    await start(jobs, [program])
                assert raised.value.missing
            monkeypatch.setattr(jobs_module, "MAX_RUNNING", 1)
            job = await start(jobs, ["/bin/sleep", "600"])
            with pytest.raises(SpawnError) as raised:
                await start(jobs, ["/bin/true"])
            assert not raised.value.missing
            await jobs.stop(job)
            await within(job.ended.wait())
        assert left_in(tmp_path) == []

    asyncio.run(scenario())


def test_a_script_whose_interpreter_is_missing_is_an_end_and_not_a_hang(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/nonexistent/interpreter\n", encoding="utf-8")
    script.chmod(0o755)

    async def scenario() -> None:
        async with spawner(tmp_path / "jobs") as jobs:
            job = await run(jobs, [str(script)])
            assert job.exit == Exit(status=jobs_module.EXEC_FAILED)
            await within(job.ended.wait())

    asyncio.run(scenario())


def test_a_client_that_goes_while_its_command_is_being_started_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            starting = asyncio.ensure_future(start(jobs, ["/bin/sleep", "600"]))
            while not jobs.running:
                await asyncio.sleep(0)
            (job,) = jobs.running
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
            await within(job.ended.wait())
        assert left_in(tmp_path) == []

    asyncio.run(scenario())


def test_a_later_run_finds_jobs_that_run_and_the_fate_of_those_that_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        kept: dict[str, int] = {}
        async with spawner(tmp_path, kept) as first:
            running = await start(first, ["/bin/sh", "-c", "read x < $0; echo found; exit 4", str(fifo)])
            failed = await start(first, ["/bin/sh", "-c", "read x < $0; exit 3", str(fifo_failed)])
            well = await start(first, ["/bin/sh", "-c", "read x < $0", str(fifo_well)])
            for job in (running, failed, well):
                first.hand_over(job)
                assert not await job.wait(0.1)
        assert len(left_in(tmp_path)) == 3
        for path in (fifo_failed, fifo_well):
            path.write_text("now\n", encoding="utf-8")
        async with spawner(tmp_path) as second:
            while await second._manager.units(well.unit):
                await asyncio.sleep(0.01)
            while (await second._manager.units(failed.unit)).get(failed.unit) != "failed":
                await asyncio.sleep(0.01)
            found = {job.id: job for job in await second.adopt(kept, 4096)}
            assert found[failed.id].exit == Exit(status=3)
            assert found[well.id].exit == Exit(status=0)
            assert found[running.id].exit is None
            assert found[running.id].origin == ORIGIN
            fifo.write_text("now\n", encoding="utf-8")
            assert await found[running.id].wait(5)
            assert found[running.id].exit == Exit(status=4)
            assert streams(found[running.id])[0] == "found\n"
            for job in found.values():
                await within(job.ended.wait())
                assert not await second._manager.units(job.unit)
        assert left_in(tmp_path) == []

    fifo, fifo_failed, fifo_well = (tmp_path.parent / f"{tmp_path.name}-{name}" for name in ("run", "fail", "well"))
    for path in (fifo, fifo_failed, fifo_well):
        os.mkfifo(path)
    asyncio.run(scenario())


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"unit": 1}', '{"unit": "ssh.service", "client": "", "tool": "", "route": ""}']
)
def test_an_odd_file_among_the_remembered_jobs_is_no_job(tmp_path: Path, text: str) -> None:
    file = tmp_path / "0123456789ab.json"
    file.write_text(text, encoding="utf-8")
    assert recall(file) is None

    async def scenario() -> None:
        async with spawner(tmp_path) as jobs:
            assert await jobs.adopt({}, 100) == []

    asyncio.run(scenario())
    assert left_in(tmp_path) == []


def test_without_a_manager_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        bus = await Bus.connect()
        monkeypatch.setenv("INVOCATION_ID", "0" * 32)  # as a unit has it: then only our own parent is the manager
        with pytest.raises(NoManagerError, match="started us"):
            await Manager.connect(bus)
        await bus.close()

    asyncio.run(scenario())


def test_names_of_units() -> None:
    assert unit_name("omarchy theme set", "0" * 12) == "app-omarchymcp-omarchy_theme_set-000000000000.service"
    assert unit_name("../ä!", "0" * 12) == "app-omarchymcp-command-000000000000.service"
    assert unit_path("a-1.service").endswith("/unit/a_2d1_2eservice")
    assert unit_path("1a").endswith("/unit/_31a")
    assert read_exit(os.CLD_DUMPED, 6) == Exit(signal=6)
