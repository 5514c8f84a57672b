"""Make uv.lock again from pyproject.toml: a real lock, without addresses.

usage: relock.py UV [--upgrade] [--check]

Each file in the lock is a name and a digest, so that the index is the installer's choice and a folder of
wheels works as well.  Versions that are locked stay unless --upgrade is given; --check only says whether the
lock would change.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
LOCK = REPO / "uv.lock"
KEPT = re.compile(r"PATH|HOME|LANG|SSL_.*|.*_proxy|.*_PROXY|XDG_.*")


def without_addresses(lock: str) -> str:
    """The same lock with file names where addresses were, and no times."""
    lock = re.sub(r'source = \{ registry = "[^"]*" \}', 'source = { registry = "wheels" }', lock)
    lock = re.sub(r'\{ (?:url|path) = "(?:[^"]*/)?([^"/]+)"', r'{ path = "\1"', lock)
    lock = re.sub(r', upload-time = "[^"]*"', "", lock)
    return re.sub(r"\n\[manifest\]\n(?:[^\[\n].*\n|\]\n|\n)*", "\n", lock)


def pins() -> list[str]:
    """What is locked now, as constraints."""
    packages = tomllib.loads(LOCK.read_text(encoding="utf-8"))["package"]
    return [f"{package['name']}=={package['version']}" for package in packages if "registry" in package["source"]]


def resolve(uv: str, *, upgrade: bool) -> str:
    """Resolve pyproject.toml in a folder of its own, as nobody's settings but its own say."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "pyproject.toml")
        shutil.copyfile(REPO / "pyproject.toml", project)
        if not upgrade:
            text = project.read_text(encoding="utf-8")
            line = f"constraint-dependencies = {pins()!r}\n"
            project.write_text(text.replace("[tool.uv]\n", f"[tool.uv]\n{line}", 1), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
        environment = {**kept, "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
        subprocess.run([uv, "lock", "--quiet"], cwd=folder, env=environment, check=True)
        return without_addresses(Path(folder, "uv.lock").read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("uv")
    parser.add_argument("--upgrade", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    try:
        made = resolve(asked.uv, upgrade=asked.upgrade)
    except subprocess.CalledProcessError:
        print("relock: uv could not resolve pyproject.toml; with --upgrade it is free to move", file=sys.stderr)
        return 1
    same = made == LOCK.read_text(encoding="utf-8")
    print("relock: uv.lock", "is as it should be" if same else "would change" if asked.check else "changed")
    if not same and not asked.check:
        LOCK.write_text(made, encoding="utf-8")
    return int(asked.check and not same)


if __name__ == "__main__":
    sys.exit(main())
