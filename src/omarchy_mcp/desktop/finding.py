"""Where programs are taken from that are not Omarchy's own."""

from pathlib import Path

PROGRAM_FOLDERS = (Path("/usr/local/bin"), Path("/usr/bin"))
"""Where they lie, whatever PATH has in front of them."""


def program_path(omarchy: Path, name: str) -> str:
    """A program's path: Omarchy may bring one of its own; where it should be when it is nowhere."""
    found = (folder / name for folder in (omarchy / "bin", *PROGRAM_FOLDERS))
    return str(next((path for path in found if path.is_file()), PROGRAM_FOLDERS[-1] / name))
