"""Verify unit files as the user manager would load them, wherever the repository lies.

usage: verify_units.py FOLDER

`systemd-analyze verify` looks units up by name and %Y is the folder of the file, so each file is given by its
path; the programs they start must be there.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = (".service", ".socket", ".slice", ".path", ".timer")
ACTIVATION = "io.github."  # the bus's own files end in .service as well


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    units = [str(path) for path in sorted(folder.iterdir()) if path.suffix in KINDS]
    units = [path for path in units if not Path(path).name.startswith(ACTIVATION)]
    if not units:
        print(f"verify_units: no units in '{folder}'", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as runtime:
        environment = {**os.environ, "SYSTEMD_PAGER": "", "XDG_RUNTIME_DIR": runtime}
        command = ["systemd-analyze", "--user", "--man=no", "--recursive-errors=no", "verify", *units]
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    said = [line for line in done.stderr.splitlines() if any(Path(unit).name in line for unit in units)]
    print("\n".join(said), end="\n" if said else "")
    if done.returncode and not said:
        print(done.stderr, file=sys.stderr)
    return int(bool(done.returncode or said))


if __name__ == "__main__":
    sys.exit(main())
