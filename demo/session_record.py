"""What one private session made, kept in its folder so that another process can end it."""

from __future__ import annotations

import json
import os
import pwd
from dataclasses import asdict, dataclass, field
from pathlib import Path

from processes import SessionError, born


@dataclass(slots=True, kw_only=True)
class Session:
    """What one `up` made, as it lies in D/state.json."""

    directory: str
    user: str
    extra: dict[str, str] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    tops: list[str] = field(default_factory=list)
    life: int = 0  # the session is alive while this process is: the manager, before it the one who starts it
    born: str = ""

    @property
    def account(self) -> pwd.struct_passwd:
        return pwd.getpwnam(self.user)

    @property
    def environment(self) -> dict[str, str]:
        home, run = f"{self.directory}/home", f"{self.directory}/run"
        return {
            "HOME": home,
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": os.environ.get("TERM", "dumb"),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "XDG_RUNTIME_DIR": run,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={run}/bus",
            "SYSTEMD_PAGER": "",
            "NO_COLOR": "1",
            **self.extra,
        }

    def save(self, life: int) -> None:
        self.life, self.born = life, born(life)
        Path(self.directory, "state.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, directory: str) -> Session:
        try:
            return cls(**json.loads(Path(directory, "state.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise SessionError(f"no session in '{directory}'") from None
        except (TypeError, ValueError):
            raise SessionError(f"'{directory}' holds a session of another version") from None

    @property
    def alive(self) -> bool:
        return bool(self.life) and born(self.life) == self.born
