"""A demo desktop in a folder of its own, for one test."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
DEMO = REPO / "demo"
BIN = DEMO / "bin"
DEADLINE = 30.0
STUB = '#!/bin/sh\nprintf "%s\\n" "$0 $*" >>"{state}/stub-calls"\n: >"{state}/canary"\n'


@cache
def binaries() -> dict[str, str]:
    """Return the file of each route; the commands themselves do not change while the tests run."""
    listing = subprocess.run(
        [str(BIN / "omarchy"), "commands", "--json", "--all"], check=True, capture_output=True, text=True
    )
    return {record["route"]: record["binary"] for record in json.loads(listing.stdout)["commands"]}


class Stage:
    """The demo's programs over a state folder, in an environment with nothing else in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.stubs = folder / "stubs"
        self.stubs.mkdir(parents=True)
        for name in ("home", "run", "cache"):
            (folder / name).mkdir(mode=0o700)
        self.environment = {
            "PATH": f"{self.stubs}:{BIN}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "USER": "demo",
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "OMARCHY_PATH": str(DEMO),
            "OMARCHY_DEMO_STATE": str(self.state),
            "OMARCHY_MCP_VENV": sys.prefix,
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/run/no-bus",
        }

    def run(
        self, *argv: str, environment: Mapping[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the demo; its output goes to files, so that a child left behind holds nobody up."""
        with (self.folder / "out").open("w+b") as out, (self.folder / "err").open("w+b") as err:
            done = subprocess.run(
                argv,
                env={**self.environment, **(environment or {})},
                cwd=self.folder / "home",
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=DEADLINE,
                check=False,
            )
            out.seek(0)
            err.seek(0)
            texts = [file.read().decode("utf-8", "replace") for file in (out, err)]
        if check and done.returncode != 0:
            raise AssertionError(f"{argv} ended with {done.returncode}: {texts[1]}")
        return subprocess.CompletedProcess(argv, done.returncode, *texts)

    def omarchy(self, *words: str, check: bool = True) -> str:
        """Give words to the demo's command centre; return what it prints."""
        return self.run(str(BIN / "omarchy"), *words, check=check).stdout

    def shell(self, *call: str) -> str:
        """Call a function of the shell the way the product does."""
        return self.run("qs", "ipc", "-n", "-p", f"{DEMO}/shell", "call", "--", *call).stdout

    def start(self, *argv: str) -> "subprocess.Popen[bytes]":
        """Start a program of the demo and leave it running."""
        return subprocess.Popen(
            argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, executable=BIN / argv[0]
        )

    def route(self, route: str, *arguments: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run the file of a route, as the product does."""
        return self.run(str(BIN / binaries()[route]), *arguments, check=check)

    def fact(self, name: str) -> str:
        """Return a fact of the drawn desktop, or any other text below its folder; a dash for one that is not there."""
        file = self.state / name
        return file.read_text(encoding="utf-8").strip("\n") if file.is_file() else "-"

    def stub(self, name: str) -> None:
        """Put a stand-in on PATH that succeeds and leaves the canary."""
        file = self.stubs / name
        file.write_text(STUB.format(state=self.state), encoding="utf-8")
        file.chmod(0o755)

    def plant(self, path: str, text: str) -> None:
        """Write a file into the state folder."""
        file = self.state / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait until something is true; programs that a command leaves behind take a moment."""
        end = time.monotonic() + DEADLINE
        while not true():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}")
            time.sleep(0.02)

    def records(self, *, hidden: bool = True) -> list[dict[str, Any]]:
        """Return the registry as the command centre lists it."""
        answer = json.loads(self.omarchy("commands", "--json", *(["--all"] if hidden else [])))
        assert answer["ok"] is True
        records: list[dict[str, Any]] = answer["commands"]
        return records


@contextmanager
def private_bus(stage: Stage) -> Iterator[None]:
    """A message bus of the stage's own for the while."""
    address = f"unix:path={stage.folder}/run/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address={address}"]
    with subprocess.Popen(command, env=stage.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline()
        before = stage.environment["DBUS_SESSION_BUS_ADDRESS"]
        stage.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        try:
            yield
        finally:
            stage.environment["DBUS_SESSION_BUS_ADDRESS"] = before
            daemon.terminate()


@contextmanager
def notification_server(stage: Stage, *options: str) -> Iterator[None]:
    """The demo's notification server for the while; there when this returns."""
    with subprocess.Popen(
        [str(BIN / "omarchy-demo-notifications"), *options], env=stage.environment, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        assert b"showing notifications" in server.stdout.readline()
        try:
            yield
        finally:
            server.terminate()
