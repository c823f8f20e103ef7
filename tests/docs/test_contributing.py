"""The pages for contributors name sessions, files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noxfile
from tests._support.projects import ROOT

PAGES = [
    ROOT / ".github" / name
    for name in ("CONTRIBUTING.md", "RELEASING.md", "PULL_REQUEST_TEMPLATE.md", "SECURITY.md")
]  # fmt: skip
CONTRIBUTING = PAGES[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_session_exists(page: Path) -> None:
    commands = re.findall(r"nox -s ([a-z ]+)", page.read_text(encoding="utf-8"))
    sessions = {name for command in commands for name in command.split()}
    assert [name for name in sessions if not hasattr(getattr(noxfile, name, None), "func")] == []


def test_every_session_is_described() -> None:
    sessions = {name for name, value in vars(noxfile).items() if hasattr(value, "func")}
    assert [name for name in sessions if f"nox -s {name}" not in CONTRIBUTING] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"(?<![\w/.])(?:src|tests|integrations|docs|\.github|\.ci)/[\w./]+\w", text)
    assert [path for path in paths if not re.search(r"NAME", path) and not (ROOT / path).exists()] == []


def test_every_folder_of_the_core_has_its_tests_in_the_table() -> None:
    table = CONTRIBUTING.partition("### Which tests for which change")[2].partition("\n## ")[0]
    folders = [path.name for path in (ROOT / "src" / "assay").iterdir() if (path / "__init__.py").exists()]
    assert len(folders) == 19
    assert [name for name in folders if not re.search(rf"\b{name}`", table)] == []


def test_the_page_is_short() -> None:
    assert CONTRIBUTING.count("\n") <= 150
