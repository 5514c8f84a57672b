"""uv.lock: whole, hashed, without addresses, and what pyproject.toml asks for."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[2]
LOCK = REPO / "uv.lock"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.!+-]*\.(?:whl|tar\.gz|zip)")
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(?P<specifier>[^;\[]*)")
BUILT_FROM_SOURCE = {"sdnotify", "systemd-python"}


@cache
def lock() -> dict[str, Any]:
    return tomllib.loads(LOCK.read_text(encoding="utf-8"))


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))


def packages() -> dict[str, dict[str, Any]]:
    """Every locked package but the project itself."""
    return {entry["name"]: entry for entry in lock()["package"] if "registry" in entry["source"]}


def files(package: dict[str, Any]) -> list[dict[str, Any]]:
    return [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]


def requirements() -> list[tuple[str, str]]:
    texts = [*project()["project"]["dependencies"]]
    for group in project()["dependency-groups"].values():
        texts += group
    found = [REQUIREMENT.fullmatch(text) for text in texts]
    return [(one["name"], one["specifier"].strip()) for one in found if one]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def meets(version: str, specifier: str) -> bool:
    for clause in filter(None, specifier.split(",")):
        operator, wanted = re.fullmatch(r"(==|>=|<)(.+)", clause.strip()).groups()  # type: ignore[union-attr]  # no match fails the test
        have, bound = numbers(version), numbers(wanted)
        if not {"==": have == bound, ">=": have >= bound, "<": have < bound}[operator]:
            return False
    return True


def test_every_file_of_every_package_has_a_digest_and_a_plain_name() -> None:
    assert len(packages()) > 40
    for name, package in packages().items():
        assert files(package), name
        for file in files(package):
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]), (name, file)
            assert NAME.fullmatch(file["path"]), (name, file)
            assert file.keys() <= {"path", "hash", "size"}, (name, file)


def test_no_address_and_no_time_is_in_the_lock() -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    assert "upload-time" not in text
    assert {entry["source"]["registry"] for entry in packages().values()} == {"wheels"}


def test_only_the_known_packages_are_built_from_source() -> None:
    assert {name for name, package in packages().items() if not package.get("wheels")} <= {
        *BUILT_FROM_SOURCE,
        "dbus-python",  # of the group for python-dbusmock, which no environment of ours installs
        "python-dbusmock",
    }


@pytest.mark.parametrize(("name", "specifier"), requirements())
def test_what_the_project_asks_for_is_locked(name: str, specifier: str) -> None:
    assert name in packages(), "run: make lock"
    assert meets(packages()[name]["version"], specifier), "run: make lock"


def test_the_lock_was_made_from_these_requirements() -> None:
    (own,) = (entry for entry in lock()["package"] if entry["name"] == project()["project"]["name"])
    locked = {(one["name"], one.get("specifier", "")) for one in own["metadata"]["requires-dist"]}
    for group in own["metadata"]["requires-dev"].values():
        locked |= {(one["name"], one.get("specifier", "")) for one in group}
    assert locked == set(requirements()), "run: make lock"


def test_uv_exports_the_lock_as_it_is(tmp_path: Path) -> None:
    data = Path(sys.prefix).resolve().parents[1]  # where the environment of these tests has its uv beside it
    command = [str(REPO / "bin/omarchy-mcp-setup"), "uv"]
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    uv = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copyfile(REPO / name, tmp_path / name)
    export = [uv, "export", "--quiet", "--frozen", "--offline", "--no-header", "--no-annotate", "--group", "dev"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "UV_NO_CONFIG": "1"}
    exported = subprocess.run(export, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert exported.stdout.count("--hash=sha256:") > 100
    for name, _ in requirements():
        if name not in {"python-dbusmock", "setuptools"}:
            assert re.search(rf"^{name}==", exported.stdout, re.MULTILINE), name
