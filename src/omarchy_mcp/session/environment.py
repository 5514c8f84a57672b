"""Our own environment: read here and nowhere else, and never handed on.

What a command gets comes from the service manager's environment as it is at that moment, less the
variables with which one process speaks for another.
"""

import os
import socket
from collections.abc import Mapping
from pathlib import Path

ID = "io.github.bruce-forte.mcp-server"
"""The plugin's id; also the name of its folders."""

# What lets its holder speak to a service manager as somebody else, or changes what an interpreter runs.
NEVER_PREFIXES = (
    "LISTEN_",
    "NOTIFY_",
    "WATCHDOG_",
    "SYSTEMD_",
    "MANAGERPID",
    "MEMORY_PRESSURE_",
    "OMARCHY_MCP_",
    "PYTHON",
    "LD_",
    "BASH_FUNC_",
)
NEVER = frozenset(
    {
        "BASH_ENV",
        "CACHE_DIRECTORY",
        "CONFIGURATION_DIRECTORY",
        "CREDENTIALS_DIRECTORY",
        "ENV",
        "FDSTORE",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "LOGS_DIRECTORY",
        "MAINPID",
        "RUNTIME_DIRECTORY",
        "SHELLOPTS",
        "STATE_DIRECTORY",
        "VIRTUAL_ENV",
    }
)

MANAGERS = ("MANAGERPID", "MANAGERPIDFDID", "SYSTEMD_EXEC_PID")
"""What the service manager sets for a command, and its own environment does not have."""


def get(name: str) -> str | None:
    """Return one of our own variables, or None when it is unset or empty."""
    return os.environ.get(name) or None


def take(name: str) -> str | None:
    """Return one of our own variables and remove it, so that nothing started later can use it."""
    return os.environ.pop(name, None) or None


def everything() -> dict[str, str]:
    """All of our own variables."""
    return dict(os.environ)


def home() -> Path:
    """The user's home folder."""
    return Path.home()


def _folder(variable: str, default: str) -> Path:
    # the XDG specification: a relative path there is to be ignored
    value = get(variable)
    return Path(value) if value and value.startswith("/") else home() / default


def state_dir() -> Path:
    """Where the token and the decisions lie."""
    return _folder("XDG_STATE_HOME", ".local/state") / ID


def config_file() -> Path:
    """The user's config.toml; ours to read only."""
    return _folder("XDG_CONFIG_HOME", ".config") / "omarchy" / "mcp" / "config.toml"


def cache_dir() -> Path:
    """What can be made again."""
    return _folder("XDG_CACHE_HOME", ".cache") / ID


def runtime_dir() -> Path:
    """What lives as long as the login session."""
    return Path(get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "omarchy-mcp"


def unit_folders() -> tuple[Path, Path]:
    """Where the user's unit files and their links lie: for good, and for this login."""
    return _folder("XDG_CONFIG_HOME", ".config") / "systemd/user", session_runtime() / "systemd/user"


def bus_address() -> str:
    """Where the session bus listens."""
    runtime = get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return get("DBUS_SESSION_BUS_ADDRESS") or f"unix:path={runtime}/bus"


def forbidden(name: str) -> bool:
    """Whether a variable must not reach a command."""
    return name in NEVER or name.startswith(NEVER_PREFIXES)


def scrub(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables a command may have."""
    return {name: value for name, value in variables.items() if not forbidden(name)}


def live_sockets(runtime: Path) -> dict[str, str]:
    """Variables of a compositor whose sockets are there, whatever anybody exported.

    Where there are several, the first by name whose socket answers.
    """
    found: dict[str, str] = {}
    for name, pattern in (
        ("WAYLAND_DISPLAY", "wayland-*"),
        ("HYPRLAND_INSTANCE_SIGNATURE", "hypr/*/.socket.sock"),
    ):
        for path in sorted(runtime.glob(pattern)):
            if path.suffix != ".lock" and answers(path):
                found[name] = path.name if name == "WAYLAND_DISPLAY" else path.parent.name
                break
    return found


def answers(path: Path) -> bool:
    """Whether somebody listens on a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.connect(str(path))
        except BlockingIOError:
            return True  # its queue is full: somebody is there
        except OSError:
            return False
    return True


def session_runtime() -> Path:
    """The session's runtime folder."""
    return Path(get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
