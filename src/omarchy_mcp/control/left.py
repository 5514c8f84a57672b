"""What is being asked, in a file of the runtime folder: a control service that is killed can take nothing back.

The next one reads what was left, takes it off the screen and records how it ended.  The file decides nothing: what
it names is over, whoever wrote it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from omarchy_mcp.policy.questions import Subject
from omarchy_mcp.session.files import read_small

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A question that was open, and what it was on the screen: the notification server's unique name, its number."""

    call_id: str
    subject: Subject
    server: str = ""
    notification: int = 0


class LeftBehind:
    """The file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, asked: Iterable[Left]) -> None:
        """Have the file say what is being asked now; without a question there is none.

        Raises:
            OSError: it cannot be written.
        """
        rows = [asdict(each) for each in asked]
        if not rows:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(rows), encoding="utf-8")  # ASCII: lone surrogates are escapes
        new.replace(self._path)

    def take(self) -> tuple[Left, ...]:
        """Read what was left and remove it; what cannot be understood is nothing."""
        try:
            rows = json.loads(read_small(self._path, MAX_BYTES))
            left = tuple(_left(row) for row in rows)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            left = ()
        self._path.unlink(missing_ok=True)
        return left


def _left(row: dict[str, object]) -> Left:
    told = dict(row.pop("subject"))  # type: ignore[call-overload]  # a TypeError says that it is none
    texts = {name: str(value) for name, value in told.items() if name not in ("argv", "capabilities")}
    subject = Subject(argv=tuple(map(str, told["argv"])), capabilities=tuple(map(str, told["capabilities"])), **texts)
    return Left(
        call_id=str(row["call_id"]),
        subject=subject,
        server=str(row["server"]),
        notification=int(str(row["notification"])),
    )
