"""All distributions take their version from one file, and their ranges on each other allow it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.version import Version

import assay
from tests._support.projects import OWN_PREFIX, Project, projects

VERSION_FILE = Path(assay.__file__).parent / "_util" / "version.py"
every_project = pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)


@every_project
def test_the_version_comes_from_the_core(project: Project) -> None:
    assert "version" not in project.content["project"]
    assert project.content["project"]["dynamic"] == ["version"]
    source = project.folder / project.content["tool"]["hatch"]["version"]["path"]
    assert source.resolve() == VERSION_FILE.resolve()


@every_project
def test_a_change_of_the_version_file_rebuilds_the_project(project: Project) -> None:
    """uv keeps the metadata of an editable install until one of these files changes."""
    files = [project.folder / key["file"] for key in project.content["tool"]["uv"]["cache-keys"]]
    assert {VERSION_FILE.resolve(), project.folder / "pyproject.toml"} == {file.resolve() for file in files}


@every_project
def test_an_installed_project_has_the_version(project: Project) -> None:
    try:
        installed = version(project.name)
    except PackageNotFoundError:
        pytest.skip(f"{project.name} is not installed here")
    assert installed == assay.__version__


@every_project
def test_ranges_on_each_other_allow_the_version_and_end_before_the_next(project: Project) -> None:
    major, minor = Version(assay.__version__).release[:2]
    for requirement in project.requirements():
        if requirement.name.startswith(OWN_PREFIX) and requirement.name != project.name:
            assert requirement.specifier.contains(assay.__version__), str(requirement)
            assert not requirement.specifier.contains(f"{major}.{minor + 1}"), str(requirement)
