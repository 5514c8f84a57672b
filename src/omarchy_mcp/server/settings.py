"""The configuration in force, and how another comes into force."""

import logging
from pathlib import Path

from omarchy_mcp.policy.config import MAX_BYTES, RESTRICTIVE, Config, parse_config
from omarchy_mcp.session.files import read_small
from omarchy_mcp.session.journal import Writer
from omarchy_mcp.session.records import Event

logger = logging.getLogger(__name__)


class Settings:
    """Holds the configuration; whoever decides a call reads `current` once and keeps to it."""

    def __init__(self, path: Path, audit: Writer) -> None:
        self._path = path
        self._audit = audit
        self.current: Config = RESTRICTIVE
        self.problem = "not read yet"
        """What is wrong with the file, or ""."""

    def load(self) -> None:
        """Read at the start: a file that cannot be read means the most restrictive reading, never the defaults."""
        self._read(keep=RESTRICTIVE)

    def reload(self) -> None:
        """Read again: a file that cannot be read changes nothing."""
        before = self.current
        self._read(keep=before)
        changed = "changed" if self.current != before else "unchanged"
        self._audit.write(Event.CONFIG, f"configuration read again: {changed}", action="reloaded", outcome=changed)

    def _read(self, keep: Config) -> None:
        try:
            text = read_small(self._path, MAX_BYTES)
        except FileNotFoundError:
            text = None
        except OSError as error:
            self._reject(f"cannot read config.toml: {error.strerror or error}", keep)
            return
        parsed = parse_config(text)
        if not parsed.parsed:
            self._reject("; ".join(parsed.problems), keep)
            return
        self.current = parsed.config
        self.problem = "; ".join(parsed.problems)
        for problem in parsed.problems:
            self._audit.write(Event.CONFIG, problem, action="problem")

    def _reject(self, why: str, keep: Config) -> None:
        self.current = keep
        self.problem = why
        self._audit.write(Event.CONFIG, f"configuration rejected: {why}", action="rejected", outcome="refused")
