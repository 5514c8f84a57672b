"""Whether the person has paused agents: a mark in the runtime folder, which outlives both services."""

from pathlib import Path

REASON = "paused by the user: nothing runs until they let it go on; tell them, and wait"
"""What a call is answered meanwhile."""


class Pause:
    """The mark: set by the control service, seen by the server at every call."""

    def __init__(self, folder: Path) -> None:
        self._mark = folder / "paused"

    @property
    def active(self) -> bool:
        """Whether agents are paused; so they are when that cannot be seen."""
        try:
            self._mark.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True

    def begin(self) -> None:
        """Pause; in force for every call from now on."""
        self._mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._mark.touch(mode=0o600)

    def end(self) -> None:
        """Let agents go on."""
        self._mark.unlink(missing_ok=True)
