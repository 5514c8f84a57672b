"""The desktop under test: the stand-in Omarchy of demo/ with probe commands of the tests' own beside it.

It is a copy in the world's scratch folder, so a read-only repository and a test that changes a command
are both fine.
"""

import json
import shutil
from pathlib import Path

from system.world import REPO, World

PROBES = Path(__file__).parent / "probes"

# Routes of the probes: what each is for stands in its file.
ARGV = "omarchy theme probe argv"
ENVIRON = "omarchy theme probe environ"
FLOOD = "omarchy theme probe flood"
SLEEP = "omarchy theme probe sleep"
LEAK = "omarchy theme probe leak"
TREE = "omarchy theme probe tree"
EXIT = "omarchy theme probe exit"
TRUE = "omarchy theme probe true"
FORGE = "omarchy theme probe forge"
CALL_BUS = "omarchy theme probe bus"
# What the policy thinks of a probe is not what is tested with it: these the person has allowed.
ALLOWED = (ARGV, ENVIRON, FLOOD, SLEEP, LEAK, TREE, EXIT, TRUE, FORGE, CALL_BUS)
GUARDED = "omarchy install probe"
ROOT = "omarchy theme probe root"
ASKED = "omarchy install asked"


class Desktop:
    """A folder that OMARCHY_PATH can name, and the state its commands keep."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.path = world.scratch / "omarchy"
        self.state = world.scratch / "state"
        shutil.copytree(REPO / "demo", self.path, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        for probe in PROBES.iterdir():
            shutil.copy(probe, self.path / "bin" / probe.name)
        self.notes.mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """What the manager's environment says of it."""
        return {"OMARCHY_PATH": str(self.path), "OMARCHY_DEMO_STATE": str(self.state)}

    @property
    def config(self) -> Path:
        """The person's configuration."""
        return self.world.folder("XDG_CONFIG_HOME", ".config") / "omarchy" / "mcp" / "config.toml"

    def write_config(self, more: str = "") -> None:
        """The person's own configuration: it allows the probes, and `more`."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(f"[policy]\nallow = {json.dumps(ALLOWED)}\n{more}", encoding="utf-8")

    @property
    def notes(self) -> Path:
        """Where probes leave what the tests look for."""
        return self.state / "probe"

    @property
    def canary(self) -> Path:
        """Made by any argument that is interpreted instead of handed on."""
        return self.notes / "canary"

    def ran(self, probe: str) -> bool:
        """Whether a probe that must not run did."""
        return (self.notes / f"{probe}.ran").exists()

    def pids(self, name: str) -> list[int]:
        """The processes a probe said it started; empty until all are there."""
        file = self.notes / f"{name}.pids"
        if not file.exists():
            return []
        pids: list[int] = json.loads(file.read_text(encoding="utf-8"))
        return pids

    def runs(self) -> list[list[str]]:
        """The arguments of every run of the command the person is asked about."""
        file = self.notes / "asked.runs"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def forget(self) -> None:
        """Take away what earlier probes left."""
        for file in self.notes.iterdir():
            file.unlink()
