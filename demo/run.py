"""`make run`: the product at work on this machine's desktop, or on the demo's, until Ctrl-C.

usage: run.py [--once] [--port N] [--private]

Run with the product's own Python.  Without a user manager it starts itself again inside a private session.
In a person's own session it makes links and drop-ins for the runtime only, runs nothing that changes the
desktop, and takes everything away again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is ever written into this folder

from processes import SessionError  # noqa: E402 - after the line above
from screen import Screen  # noqa: E402
from temporary_units import NOTIFIER, REPO, TemporaryUnits, ask, owned  # noqa: E402
from tour import DEMO_SAFE, REAL_SAFE, Plan, show_attach, show_client, show_record, wake  # noqa: E402

DEMO = REPO / "demo"
INSIDE = "OMARCHY_MCP_INSIDE"  # set for the copy of ourselves that runs in the private session
CACHE = "OMARCHY_MCP_RUN_CACHE"  # where the services' bytecode stays from one run to the next


def find_manager() -> bool:
    """Whether a user manager answers; the login's own folder is tried where nothing names one."""
    own = f"/run/user/{os.getuid()}"
    if not os.environ.get("XDG_RUNTIME_DIR") and Path(own, "bus").exists():
        os.environ["XDG_RUNTIME_DIR"] = own
    if not os.environ.get("XDG_RUNTIME_DIR"):
        return False
    try:
        return owned("org.freedesktop.systemd1")
    except FileNotFoundError:
        raise SessionError("busctl is missing: install systemd (bin/omarchy-mcp-setup packages)") from None


def run_cache() -> str:
    told = os.environ.get(CACHE) or os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(told) if told.startswith("/") else Path.home() / ".cache"
    return told if os.environ.get(CACHE) else str(cache / "io.github.bruce-forte.mcp-server/run")


def start_again(arguments: list[str], *, coloured: bool) -> int:
    """Run ourselves in a private session; our own process stays to take it down."""
    variables = {
        INSIDE: "1",
        CACHE: run_cache(),
        "OMARCHY_MCP_VENV": sys.prefix,
        "OMARCHY_PATH": str(DEMO),
        "PATH": f"{DEMO}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    }
    setenv = [word for name, value in variables.items() for word in ("--setenv", f"{name}={value}")]
    own = [sys.executable, str(Path(__file__)), *arguments, *(["--coloured"] if coloured else [])]
    # in the foreground's process group, so that Ctrl-C reaches both; it ends after us
    os.execv(sys.executable, [sys.executable, str(DEMO / "private_session.py"), "run", *setenv, "--", *own])


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SessionError(f"cannot take port {port}: {error.strerror}; try: make run PORT={port + 1}") from None


def omarchy_told() -> str:
    """The Omarchy the session's manager names; what it names wins over what we would."""
    said = ask("systemctl", "--user", "show-environment", check=False).splitlines()
    return next((line.removeprefix("OMARCHY_PATH=") for line in said if line.startswith("OMARCHY_PATH=")), "")


def is_omarchy(path: str) -> bool:
    return bool(path) and Path(path, "bin/omarchy").is_file()


def find_omarchy() -> str:
    """This machine's Omarchy, else the demo's."""
    known = (omarchy_told(), os.environ.get("OMARCHY_PATH", ""), "/usr/share/omarchy")
    return next(filter(is_omarchy, known), str(DEMO))


@contextlib.contextmanager
def demo_traces() -> Iterator[None]:
    """Take away what the demo's commands made in the home of a person who had no demo before."""
    places = [
        Path(os.environ.get(variable) or Path.home() / default, "omarchy-demo")
        for variable, default in (("XDG_STATE_HOME", ".local/state"), ("XDG_CACHE_HOME", ".cache"))
    ]
    fresh = [place for place in places if not place.exists()]
    made = [folder for place in fresh for folder in place.parents if not folder.exists()]
    try:
        yield
    finally:
        for place in fresh:
            shutil.rmtree(place, ignore_errors=True)
        for folder in made:  # the innermost first
            with contextlib.suppress(OSError):
                folder.rmdir()


def demo_picture(*, coloured: bool) -> Callable[[], str]:
    def picture() -> str:
        command = [str(DEMO / "bin/demo-desktop"), "show", *(["--colour"] if coloured else [])]
        shown = subprocess.run(command, text=True, capture_output=True, check=False).stdout
        return "\n".join(f"    {line}" for line in shown.splitlines()[:17])

    return picture


def make_plan(*, changing: bool, coloured: bool) -> Plan:
    """On a person's own desktop nothing is changed; on the demo's the change is the point."""
    return Plan(
        search="change the theme",
        safe=DEMO_SAFE if changing else REAL_SAFE,
        picture=demo_picture(coloured=coloured) if changing else None,
        guarded=("omarchy theme remove", "Ember"),
        root=("omarchy update",),
    )


def make_units(*, private: bool, port: int, omarchy: str) -> TemporaryUnits:
    runtime = Path(os.environ["XDG_RUNTIME_DIR"])
    folders = {"XDG_CACHE_HOME": run_cache()}
    if not private:  # the person's own settings and token stay out of it
        scratch = runtime / "omarchy-mcp-run"
        folders |= {f"XDG_{kind}_HOME": str(scratch / kind.lower()) for kind in ("STATE", "CONFIG")}
    return TemporaryUnits(
        runtime=runtime,
        port=port,
        environment={"OMARCHY_MCP_VENV": sys.prefix, "OMARCHY_PATH": omarchy},
        folders=folders,
    )


def start_notifier() -> None:
    """Something that shows notifications, where the private session has nothing that does."""
    if not owned("org.freedesktop.Notifications"):
        ask(
            "systemd-run",
            "--user",
            "--quiet",
            "--collect",
            f"--unit={NOTIFIER}",
            f"{DEMO}/bin/omarchy-demo-notifications",
        )


def stay(screen: Screen) -> None:
    """Show each call as it happens, until Ctrl-C."""
    screen.line()
    screen.line("Running until Ctrl-C; calls appear here as they happen.", "bold")
    follower = subprocess.Popen(
        [str(REPO / "bin/omarchy-mcpctl"), "recent", "--lines=0", "--follow"],
        env={**os.environ, "OMARCHY_MCP_VENV": sys.prefix},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        signal.pause()
    except KeyboardInterrupt:
        screen.line()
    finally:
        follower.terminate()
        follower.wait(5)


def show(screen: Screen, units: TemporaryUnits, plan: Plan, *, private: bool, once: bool) -> bool:
    """Whether everything went as it should."""
    with screen.timed(f"units linked, port {units.port} open; the server sleeps until somebody connects"):
        units.install()
        if private:
            start_notifier()
    with screen.timed("first connection: systemd started the server, and it answered"):
        wake(units)
    good = asyncio.run(show_client(screen, units, plan))
    show_record(screen, private=private)
    if not once:
        show_attach(screen, units)
        stay(screen)
    return good


def needs_private(*, asked: bool) -> bool:
    """Whether to start a session: asked for, no manager here, or one that names an Omarchy that is not there."""
    return asked or not find_manager() or (bool(omarchy_told()) and not is_omarchy(omarchy_told()))


def carry_out(asked: argparse.Namespace, screen: Screen) -> int:
    private = bool(os.environ.get(INSIDE))
    if not private and needs_private(asked=asked.private):
        check_port(asked.port)
        again = [*(["--once"] if asked.once else []), "--port", str(asked.port)]
        return start_again(again, coloured=screen.coloured)
    omarchy = str(DEMO) if private else find_omarchy()
    demo = omarchy == str(DEMO)
    units = make_units(private=private, port=asked.port, omarchy=omarchy)
    plan = make_plan(changing=demo, coloured=screen.coloured)
    session = "a private session" if private else "your session"
    screen.line(f"omarchy-mcp on {'the demo desktop' if demo else omarchy}, in {session}", "bold")
    units.refuse_if_installed()
    with demo_traces(), units.alone():
        check_port(asked.port)
        good = show(screen, units, plan, private=private, once=asked.once)
    screen.fact("✓", "stopped; nothing is left behind")
    if not good:
        raise SessionError("not every step ended as it should")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", action="store_true", help="end by itself after the short session")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--private", action="store_true", help="a private session even where there is a login's own")
    parser.add_argument("--coloured", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    coloured = asked.coloured or (sys.stdout.isatty() and not os.environ.get("NO_COLOR"))

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    try:
        return carry_out(asked, Screen(coloured=coloured))
    except SessionError as error:
        print(f"make run: {error.args[0]}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
