"""The layout of `src/assay`: no circle of imports, folders in one order, at most 24 names at the top.

All imports count: at the top of a module, inside of functions, and those for type checkers.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"

#: Folders and files at the top, each of which may import those before it. The last four are what integrations
#: build on, the public names and the command line.
ORDER = (
    "errors",
    "_util",
    "records",
    "text",
    "stats",
    "store",
    "capture",
    "prompts",
    "data",
    "sinks",
    "judges",
    "metrics",
    "evaluation",
    "live",
    "testing",
    "analysis",
    "config",
    "report",
    "view",
    "extension",
    "assay",
    "cli",
    "__main__",
)

MOST_AT_THE_TOP = 24

Edge = tuple[str, str]


def name_of(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted((SRC / "assay").rglob("*.py"))}


@cache
def imports(path: Path) -> tuple[tuple[str, str | None], ...]:
    """Module and name of each import in a file."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, str | None]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole module"
            yield from ((node.module or "", alias.name) for alias in node.names)


@cache
def edges() -> frozenset[Edge]:
    """Which module imports which."""
    pairs = set()
    for module, path in MODULES.items():
        for imported, name in imports(path):
            target = f"{imported}.{name}" if f"{imported}.{name}" in MODULES else imported
            if target in MODULES and target != module:
                pairs.add((module, target))
    return frozenset(pairs)


def folder(module: str) -> str:
    """The name at the top of `src/assay` that a module belongs to; "assay" for `assay/__init__.py`."""
    return module.split(".")[1] if "." in module else module


def circles(pairs: frozenset[Edge]) -> set[tuple[str, ...]]:
    """The strongly connected components of more than one name."""
    targets = defaultdict(set)
    for start, target in pairs:
        targets[start].add(target)
    reachable: dict[str, set[str]] = {}
    for start in {name for edge in pairs for name in edge}:
        reached, todo = set(), [start]
        while todo:
            here = todo.pop()
            new = targets[here] - reached
            reached |= new
            todo += new
        reachable[start] = reached
    return {tuple(sorted(b for b in reachable[a] if a in reachable[b])) for a in reachable if a in reachable[a]}


def test_a_circle_is_reported() -> None:
    assert circles(frozenset({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")})) == {("a", "b", "c")}


def test_no_circle_of_modules() -> None:
    assert circles(edges()) == set()


def test_folders_import_only_those_before_them() -> None:
    place = {name: number for number, name in enumerate(ORDER)}
    assert {folder(module) for module in MODULES} == set(ORDER)
    assert sorted((a, b) for a, b in edges() if place[folder(a)] < place[folder(b)]) == []


def test_at_most_24_names_at_the_top() -> None:
    names = sorted(path.name for path in (SRC / "assay").iterdir() if path.name != "__pycache__")
    assert len(names) <= MOST_AT_THE_TOP, names


def test_no_private_name_is_imported_from_another_folder() -> None:
    wrong = [
        (module, imported, name)
        for module, path in MODULES.items()
        for imported, name in imports(path)
        if imported.split(".")[0] == "assay" and folder(imported) != folder(module)
        if any(re.match("_[^_]", part) and part != "_util" for part in [*imported.split("."), name or ""])
    ]
    assert wrong == []


def test_the_page_lists_every_folder() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in ORDER if name not in ("assay", "__main__") and f"`{name}" not in page] == []
