"""The commands that errors print work where they are printed: in a clone, and from wheels in a folder."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assay._util import install_hints as installing
from assay._util.install_hints import PARTS, install_extra, install_package

ROOT = Path(__file__).parents[2]


class Installed:
    """A distribution as an installer left it."""

    def __init__(self, by: str | None, url: str | None) -> None:
        self._files = {"INSTALLER": by, "direct_url.json": url}

    def read_text(self, name: str) -> str | None:
        return self._files[name]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def set_up(by: str | None, path: Path | None) -> None:
        url = None if path is None else json.dumps({"url": path.as_uri()})
        monkeypatch.setattr(installing, "distribution", lambda name: Installed(by, url))

    return set_up


def test_from_an_index_by_pip(installed: Any) -> None:
    installed("pip\n", None)
    assert install_extra("embedded") == f"{sys.executable} -m pip install 'assay-rag[embedded]'"
    assert install_extra("classic", of="langchain") == f"{sys.executable} -m pip install 'assay-langchain[classic]'"


def test_from_an_index_by_uv_whose_environments_have_no_pip(installed: Any) -> None:
    installed("uv", None)
    assert install_package("pandas") == f"uv pip install --python {sys.executable} pandas"


def test_from_a_wheel_in_a_folder(installed: Any, tmp_path: Path) -> None:
    wheel = tmp_path / "my wheels" / "assay_rag-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    installed("pip", wheel)
    words = shlex.split(install_extra("phoenix"))
    assert words[-3:] == ["--find-links", str(wheel.parent), "assay-rag[phoenix]"]


def test_from_a_wheel_that_is_gone(installed: Any, tmp_path: Path) -> None:
    installed("pip", tmp_path / "gone.whl")
    assert shlex.split(install_extra("phoenix"))[-2:] == ["install", "assay-rag[phoenix]"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 3}', '{"url": "git+https://host/x"}', "{}"])
def test_what_an_installer_left_may_be_anything(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(installing, "distribution", lambda name: Installed("pip", text))
    assert shlex.split(install_extra("mlflow"))[-1] == "assay-rag[mlflow]"


def test_a_folder_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installing, "distribution", none)
    assert install_extra("parquet") == f"{sys.executable} -m pip install 'assay-rag[parquet]'"


@pytest.mark.parametrize("extra", PARTS)
def test_in_a_clone_every_part_that_is_needed_is_named(installed: Any, extra: str) -> None:
    """Of the parts here, each that the part names itself; pip would look for the others on the index."""
    installed("pip", ROOT)
    words = shlex.split(install_extra(extra))
    folders = [Path(word) for before, word in pairwise(words) if before == "-e"]
    assert folders[0] == ROOT
    assert folders[-1] == ROOT / "integrations" / PARTS[extra]
    named = {tomllib.loads((f / "pyproject.toml").read_text("utf-8"))["project"]["name"] for f in folders}
    needs = tomllib.loads((folders[-1] / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {line.split(">")[0] for line in needs if line.startswith("assay-")} <= named


def test_extras_of_the_core_and_of_parts_in_a_clone(installed: Any) -> None:
    installed("uv", ROOT)
    assert shlex.split(install_extra("parquet"))[-2:] == ["-e", f"{ROOT}[parquet]"]
    langchain = f"{ROOT / 'integrations' / 'langchain'}[classic]"
    assert shlex.split(install_extra("classic", of="langchain"))[-4:] == ["-e", str(ROOT), "-e", langchain]


def test_the_parts_are_the_extras_of_the_core() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    ours = {extra for extra, needs in extras.items() if any(need.startswith("assay-") for need in needs)}
    assert ours == {*PARTS, "all"}
    assert all((ROOT / "integrations" / folder).is_dir() for folder in PARTS.values())


def test_no_page_or_message_names_the_taken_name() -> None:
    """`assay` itself is another package on the index: nothing here tells anybody to install it."""
    folders = ("src", "docs", "cookbook", "integrations", "tests")
    files = [ROOT / "README.md", ROOT / "pyproject.toml", *(p for f in folders for p in (ROOT / f).rglob("*.*"))]
    texts = {p: p.read_text("utf-8") for p in files if p.suffix in {".py", ".md", ".toml"} and p != Path(__file__)}
    wrong = ["install assay ", "install assay\n", "install 'assay[", 'install "assay[', "`assay["]
    assert [str(p) for p, text in texts.items() for phrase in wrong if phrase in text] == []


# ---- for real: environments, wheels and the commands, word for word

SAY = """
import assay
try:
    assay.evaluate([{"question": "Where?", "contexts": ["It is in Rome."], "answer": "In Rome."}], store=None)
except assay.MissingExtra as error:
    print(str(error).partition("not installed: ")[2].partition(", or name")[0])
else:
    print("scored")
"""


def _environment(folder: Path, *, pip: bool) -> Path:
    if pip:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    else:
        subprocess.run(["uv", "venv", "-q", "--python", sys.executable, folder], check=True)
    return folder / "bin" / "python"


def _said(python: Path, folder: Path) -> str:
    done = subprocess.run([python, "-c", SAY], cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip()


@pytest.mark.long
@pytest.mark.parametrize("by", ["uv", "pip"])
def test_what_the_error_says_brings_the_judge_in_a_clone(tmp_path: Path, by: str) -> None:
    python = _environment(tmp_path / "env", pip=by == "pip")
    begin = [python, "-m", "pip"] if by == "pip" else ["uv", "pip"]
    ends = [] if by == "pip" else ["--python", python]
    subprocess.run([*begin, "install", "-q", "-e", ROOT, *ends], check=True, timeout=300)
    command = _said(python, tmp_path)
    assert "install" in command
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True, timeout=300)
    assert _said(python, tmp_path) == "scored"


@pytest.mark.long
def test_what_the_error_says_brings_the_judge_from_wheels(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    for part in (ROOT, ROOT / "integrations" / "embedded"):
        subprocess.run(["uv", "build", "-q", "--wheel", "-o", wheels, part], check=True, timeout=300, cwd=ROOT)
    python = _environment(tmp_path / "env", pip=False)
    (core,) = wheels.glob("assay_rag-*.whl")
    subprocess.run(["uv", "pip", "install", "-q", "--python", python, core], check=True, timeout=300)
    command = _said(python, tmp_path)
    assert f"--find-links {wheels}" in command
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True, timeout=300)
    assert _said(python, tmp_path) == "scored"
