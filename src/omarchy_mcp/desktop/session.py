"""The login session a command runs in, looked at when it is needed: a server that was started before the desktop works
after it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from omarchy_mcp.session import environment
from omarchy_mcp.session.jobs import Environment
from omarchy_mcp.session.manager import Manager

INSTALLED = Path("/usr/share/omarchy")
SESSION_VARIABLES = ("WAYLAND_DISPLAY", "HYPRLAND_INSTANCE_SIGNATURE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The session at one moment: what a command gets beside the manager's environment, and Omarchy's folder."""

    env: Environment
    omarchy: Path
    graphical: bool = False
    """Whether there is a compositor to speak to, as far as anybody says."""


async def look_at_session(manager: Manager) -> Session:
    """Ask the service manager for the session's variables, and the compositor's sockets for what it was not told."""
    known = await manager.environment()
    found = {}
    if any(name not in known for name in SESSION_VARIABLES):
        live = environment.live_sockets(environment.session_runtime())
        found = {name: value for name, value in live.items() if name not in known}
    omarchy = Path(known.get("OMARCHY_PATH") or environment.get("OMARCHY_PATH") or INSTALLED)
    path = known.get("PATH") or os.defpath
    add = found | {"OMARCHY_PATH": str(omarchy), "PATH": f"{omarchy}/bin:{path}"}
    unset = sorted({*environment.NEVER, *environment.MANAGERS} | set(filter(environment.forbidden, known)))
    graphical = any(name in known or name in found for name in SESSION_VARIABLES)
    return Session(env=Environment(add=add, unset=unset), omarchy=omarchy, graphical=graphical)
