"""The house as docs/architecture.md draws it: no circle of imports, and arrows that point one way.

What a module imports when it is loaded is one thing, what a function imports when it is called another: the second
costs nothing at import, and may close a circle inside of a room where both ends need each other. Imports for type
checkers alone do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

#: Circles closed by an import inside of a function, all within one room, and why they may be.
KNOWN = {
    ("assay.judges.asking", "assay.judges.base", "assay.judges.cache"): (
        "BaseJudge.find, for whoever asks a judge without a run, makes itself the cache that stands in front of it"
    ),
    ("assay.judges", "assay.judges.cascade.judge"): (
        "a judge's name may stand for a cascade, and a cascade makes its two judges by name"
    ),
    (
        "assay.live.base",
        "assay.live.feedback",
        "assay.live.intake",
        "assay.live.scorer",
        "assay.live.sizes",
        "assay.live.spool",
    ): "`open_intake` makes a live scorer or a spool where an integration was given none",
}

BELOW = {"records", "errors", "fields", "cleaning", "pictures", "text", "inquiries", "judges"}
#: What the lowest rooms may use besides themselves: a text for a terminal, how an object reads there, what to install,
#: threads, what a fork does, and the one way to keep something on disk.
THEIRS = BELOW | {"terminal", "shown", "installing", "threads", "forks", "database", "packing", "private", "json_files"}
ABOVE = {"report", "cli", "evaluation", "running", "runs", "result", "cascades"}

Edge = tuple[str, str]


def name_of(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted((SRC / "assay").rglob("*.py"))}


def imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[str, str | None, bool]]:
    """Module, name and whether it stands inside of a function, for each import in this tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, None, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports name the whole module"
            yield from ((child.module or "", alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from imports(child, inside or function)


@cache
def edges(deep: bool) -> frozenset[Edge]:
    """Who imports whom, at load; with `deep` also inside of functions."""
    found = set()
    for module, path in MODULES.items():
        for imported, name, inside in imports(ast.parse(path.read_text(encoding="utf-8"))):
            target = f"{imported}.{name}" if f"{imported}.{name}" in MODULES else imported
            if target in MODULES and target != module and (deep or not inside):
                found.add((module, target))
    return frozenset(found)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def between_rooms(found: frozenset[Edge]) -> frozenset[Edge]:
    return frozenset((room(a), room(b)) for a, b in found if room(a) != room(b))


def circles(found: frozenset[Edge]) -> set[tuple[str, ...]]:
    """The sets of names each of which leads to all others of its set."""
    leads: dict[str, set[str]] = {}
    for begin in {name for edge in found for name in edge}:
        reached, todo = set(), [begin]
        while todo:
            here = todo.pop()
            new = {b for a, b in found if a == here} - reached
            reached |= new
            todo += new
        leads[begin] = reached
    return {tuple(sorted(b for b in leads[a] if a in leads[b])) for a in leads if a in leads[a]}


def test_circles_are_found() -> None:
    found = frozenset({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")})
    assert circles(found) == {("a", "b", "c")}


def test_no_module_imports_itself_when_it_is_loaded() -> None:
    assert circles(edges(deep=False)) == set()


def test_no_circle_of_rooms_even_by_what_functions_import() -> None:
    assert circles(between_rooms(edges(deep=True))) == set()


def test_circles_closed_by_functions_are_the_known_ones() -> None:
    assert circles(edges(deep=True)) == set(KNOWN)


def test_the_lowest_rooms_know_only_each_other() -> None:
    wrong = [(a, b) for a, b in edges(deep=True) if room(a) in BELOW and room(b) not in THEIRS]
    assert wrong == []


@pytest.mark.parametrize("live", ["live", "guarding"])
def test_what_runs_inside_of_an_application_knows_no_report_and_no_command(live: str) -> None:
    assert [(a, b) for a, b in edges(deep=True) if room(a) == live and room(b) in ABOVE] == []


def test_nobody_but_the_command_line_imports_the_command_line() -> None:
    assert [(a, b) for a, b in edges(deep=True) if room(b) == "cli" and room(a) not in ("cli", "__main__")] == []


def test_no_private_name_crosses_a_room() -> None:
    wrong = [
        (module, imported, name)
        for module, path in MODULES.items()
        for imported, name, _ in imports(ast.parse(path.read_text(encoding="utf-8")))
        if imported.split(".")[0] == "assay" and room(imported) != room(module)
        if any(part.startswith("_") for part in [*imported.split("."), name or ""])
    ]
    assert wrong == []


def test_the_page_names_every_room() -> None:
    page = (SRC.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.name for path in (SRC / "assay").iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    files = {path.name for path in (SRC / "assay").glob("[a-z]*.py")}
    judges = {path.name for path in (SRC / "assay" / "judges").iterdir() if (path / "__init__.py").exists()}
    missing = [name for name in sorted(rooms | judges) if f"{name}/" not in page]
    assert missing + [name for name in sorted(files) if name not in page] == []
