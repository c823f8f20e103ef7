"""The API reference leaves out nothing that is public, and has one page for each module."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from tests.docs.pages import ROOT

DOCS = ROOT / "docs"
INDEX = (DOCS / "reference.md").read_text(encoding="utf-8")

#: The largest page of the reference, in bytes.
MOST_BYTES = 300_000

needs_sphinx = pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="the group docs is not installed")

LIST_PAGES = """
import importlib, sys
sys.path[:0] = sys.argv[1:]
import reference_pages
for page in reference_pages.public_pages().values():
    print(page.module, *page.names)
"""


def pages() -> dict[str, list[str]]:
    """Public names by module, as the build of the site finds them."""
    folders = [str(DOCS), str(ROOT / "integrations" / "ray" / "src")]
    done = subprocess.run(
        [sys.executable, "-c", LIST_PAGES, *folders], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return {module: names for module, *names in map(str.split, done.stdout.splitlines())}


def test_every_name_of_assay_stands_in_the_index_once() -> None:
    names = [name for group in re.findall(r"<!-- names: (.+) -->", INDEX) for name in group.split()]
    assert sorted(names) == sorted(set(assay.__all__) - {"metrics"})  # a module, with a page of its own
    assert INDEX.index("<!-- names:") < INDEX.index("<!-- modules:")


@pytest.mark.long
@needs_sphinx
def test_every_module_has_a_page_and_stands_in_the_index() -> None:
    found = pages()
    for project in ROOT.glob("integrations/*/pyproject.toml"):
        assert any(Path(project.parent, "src", module).is_dir() for module in found), project
    patterns = [pattern for group in re.findall(r"<!-- modules: (.+) -->", INDEX) for pattern in group.split()]
    matched = [module for module in found if any(re.fullmatch(each.replace("*", ".*"), module) for each in patterns)]
    assert sorted(matched) == sorted(found)
    names = {name for each in found.values() for name in each}
    assert set(assay.__all__) - {"metrics", "guard"} <= names  # `guard` is another name of `Guard`


SIZES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import reference_pages
print(*reference_pages.check_sizes(Path(sys.argv[2])), sep="\\n")
"""


@needs_sphinx
def test_a_page_that_is_too_large_is_named(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference.html").write_text("small")
    (tmp_path / "reference" / "assay.large.html").write_text("x" * (MOST_BYTES + 1))
    done = subprocess.run(
        [sys.executable, "-c", SIZES, str(DOCS), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.stdout == "reference: assay.large.html has more than 300,000 bytes; divide the module\n", done.stderr
