"""Every distribution builds, its source archive builds on its own, and the wheels work in an empty environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import assay
from tests._support.projects import ROOT, Project, projects

pytestmark = pytest.mark.long

#: Not installed here: half a gigabyte comes with it.
LARGE = {"assay-ray"}

#: Public names whose types a checker cannot know: their base classes may be absent. These numbers may only shrink.
UNKNOWN_TYPES = {"assay_langchain": 13, "assay_phoenix": 2}


def run(*command: str | Path, cwd: Path, path: Path | None = None, codes: tuple[int, ...] = (0,)) -> str:
    """The output of a command; `path` is searched for programs before all others."""
    environment = os.environ if path is None else {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all source archives and the wheels that uv builds from them."""
    folder = tmp_path_factory.mktemp("dist")
    run("uv", "build", "-q", "--all-packages", "-o", folder, cwd=ROOT)
    run("uv", "build", "-q", "-o", folder, ROOT / "integrations" / "ray", cwd=ROOT)  # no member of the workspace
    return folder


@pytest.fixture(scope="module")
def python(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheels and nothing of this repository."""
    folder = tmp_path_factory.mktemp("empty")
    run("uv", "venv", "-q", "--python", sys.executable, folder / "env", cwd=folder)
    wheels = [wheel_of(project, built) for project in projects() if project.name not in LARGE]
    constraints = ROOT / "constraints.txt"
    interpreter = folder / "env" / "bin" / "python"
    run("uv", "pip", "install", "-q", "--python", interpreter, "-c", constraints, *wheels, cwd=folder)
    return interpreter


def wheel_of(project: Project, built: Path) -> Path:
    return built / f"{project.name.replace('-', '_')}-{assay.__version__}-py3-none-any.whl"


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_the_wheel_holds_the_package_and_its_types(project: Project, built: Path) -> None:
    names = zipfile.ZipFile(wheel_of(project, built)).namelist()
    assert f"{project.module}/__init__.py" in names
    assert f"{project.module}/py.typed" in names
    assert not [name for name in names if "/tests/" in name or name.startswith("tests/")]


def test_every_package_is_imported_from_its_wheel(python: Path, tmp_path: Path) -> None:
    modules = [project.module for project in projects() if project.name not in LARGE]
    code = "import importlib, sys\nfor name in sys.argv[1:]: print(importlib.import_module(name).__file__)"
    files = run(python, "-c", code, *modules, cwd=tmp_path).split()
    assert len(files) == len(modules)
    assert all(Path(file).is_relative_to(python.parents[1]) for file in files)


def test_the_demo_runs_offline_in_the_empty_environment(python: Path, tmp_path: Path) -> None:
    assert "faithfulness" in run(python.with_name("assay"), "demo", cwd=tmp_path)


@pytest.mark.parametrize("module", [project.module for project in projects() if project.name not in LARGE])
def test_type_checkers_know_every_public_type(module: str, python: Path, tmp_path: Path) -> None:
    """pyright reads the installed wheel as it reads the environment of a user. It exits with 1 below 100%."""
    verify = (sys.executable, "-m", "pyright", "--verifytypes", module, "--ignoreexternal", "--outputjson")
    report = json.loads(run(*verify, cwd=tmp_path, path=python.parent, codes=(0, 1)))["typeCompleteness"]
    counts = report["exportedSymbolCounts"]
    assert counts["withKnownType"] > 10
    assert counts["withUnknownType"] <= UNKNOWN_TYPES.get(module, 0)
