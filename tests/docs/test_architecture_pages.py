"""The pages of `docs/architecture`: one for each folder, short, linked, and with names that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.test_architecture import ORDER

SCREEN = ROOT / "docs" / "architecture.md"
PAGES = ROOT / "docs" / "architecture"
CORE = ROOT / "src" / "assay"

MOST_LINES = 60
MOST_WORDS = 250
SECTIONS = ["Main names", "May import", "Where to add something", "Tests"]

DEFINITION = re.compile(r"^\s*(?:class|def|async def) (\w+)|^(\w+)(?:: [^=]+)? = ", re.MULTILINE)

FOLDERS = sorted(path.name for path in CORE.iterdir() if (path / "__init__.py").exists())


def folder_of(page: str) -> Path:
    """The sources that a page is about."""
    return ROOT / "integrations" if page == "integrations" else CORE / page


@cache
def names_in(folder: Path) -> frozenset[str]:
    """Files, folders, classes, functions and constants under a folder."""
    names = set()
    for path in folder.rglob("*"):
        names |= {path.name, f"{path.name}/"} if path.is_dir() else {path.name}
        if path.suffix == ".py":
            names |= {name for match in DEFINITION.findall(path.read_text(encoding="utf-8")) for name in match}
    return frozenset(names)


def names_on(page: Path) -> list[str]:
    """What the first column of the table of main names has in code."""
    table = page.read_text(encoding="utf-8").partition("## Main names")[2].partition("\n## ")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_screen_fits_and_links_every_page() -> None:
    screen = SCREEN.read_text(encoding="utf-8")
    assert len(screen.splitlines()) <= MOST_LINES
    linked = re.findall(r"\(architecture/(\w+)\.md\)", screen)
    assert sorted(linked) == sorted(path.stem for path in PAGES.glob("*.md"))


def test_the_screen_has_the_folders_in_their_order() -> None:
    rows = re.findall(r"^\| \[?`(\w+)[/.]", SCREEN.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [name for name in ORDER if name not in ("assay", "__main__")]


def test_each_folder_has_a_page() -> None:
    assert sorted([*FOLDERS, "integrations"]) == sorted(path.stem for path in PAGES.glob("*.md"))


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_is_short_and_its_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert len(text.split()) <= MOST_WORDS
    names = names_on(page)
    assert len(names) >= 4
    assert [name for name in names if name not in names_in(folder_of(page.stem))] == []
    files = re.findall(r"`((?:src|tests|docs|integrations)/[\w./]+)`", text.replace("integrations/NAME", ""))
    assert [name for name in files if not (ROOT / name).exists()] == []
