"""constraints.txt: exact versions alone, one for each package, in the range of every requirement."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import noxfile
from tests._support.projects import OWN_PREFIX, ROOT, Project, projects

LINES = noxfile.CONSTRAINTS.read_text(encoding="utf-8").splitlines()
VERSIONS = dict(line.split("==") for line in LINES)


def test_a_line_is_a_name_and_a_version_and_nothing_else() -> None:
    """No address, no hash, no option: the file works with any index."""
    assert [line for line in LINES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][a-z0-9.]*", line)] == []


def test_every_package_has_one_line() -> None:
    assert sorted(LINES) == LINES
    assert len(VERSIONS) == len(LINES)


def test_the_distributions_of_this_repository_are_not_in_it() -> None:
    assert not VERSIONS.keys() & {project.name for project in projects()}


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_every_requirement_allows_its_version(project: Project) -> None:
    """If this fails, run `uvx nox -s constraints`."""
    wrong = [str(requirement) for requirement in project.requirements() if not _allows(requirement)]
    assert wrong == []


def _allows(requirement: Requirement) -> bool:
    name = canonicalize_name(requirement.name)
    return name.startswith(OWN_PREFIX) or (name in VERSIONS and requirement.specifier.contains(VERSIONS[name]))


def test_a_version_out_of_range_and_a_package_without_a_line_are_found() -> None:
    assert _allows(Requirement("numpy>=2,<3"))
    assert not _allows(Requirement("numpy>=1,<2"))
    assert not _allows(Requirement("package-without-a-line>=1"))


@pytest.mark.long
def test_a_fresh_clone_takes_the_versions_of_the_file(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    own = shutil.ignore_patterns(".*", "uv.lock", "tests", "docs", "cookbook", "dist", "build", "site", "env")
    shutil.copytree(ROOT, clone, ignore=own)
    subprocess.run([*noxfile.lock_command(), "-q"], cwd=clone, check=True, timeout=300)
    packages = tomllib.loads((clone / "uv.lock").read_text(encoding="utf-8"))["package"]
    locked = {one["name"]: one["version"] for one in packages if not one["name"].startswith(OWN_PREFIX)}
    assert len(locked) > 200
    assert locked == {name: VERSIONS[name] for name in locked}
