"""The pages of the API reference: one for each public module, written when the site is built.

`conf.py` calls `write_pages` before Sphinx reads the sources, `fill_index` for the index, and `check_sizes` at the end.
Nothing of it is committed.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from sphinx.ext.autodoc.mock import mock

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).with_name("reference")

#: Packages that are not installed with the rest, since half a gigabyte comes with them.
MOCKED = ["ray"]

#: Modules that collect names of others. Their names are described where they come from.
COLLECTIONS = ("assay", "assay.extension")

#: Modules whose names are public.
MODULES = (
    "assay.errors",
    "assay.records",
    "assay.metrics",
    "assay.prompts",
    "assay.judges",
    "assay.live",
    "assay.live.guards",
    "assay.capture",
    "assay.sinks",
    "assay.testing",
    "assay.stats",
    "assay.stats.intervals",
    "assay.stats.paired",
    "assay.stats.classic",
    "assay.stats.sequential",
    "assay.stats.power",
    "assay.stats.noise",
    "assay.stats.alike",
    "assay.analysis.comparison.compare",
    "assay.analysis.comparison.matrix",
    "assay.analysis.comparison.linking",
    "assay.analysis.gates",
    "assay.analysis.power",
    "assay.analysis.judges.noise",
    "assay.analysis.judges.batching_check",
    "assay.evaluation.adapters",
    "assay.evaluation.sharded.estimate",
    "assay.config",
    "assay.report.build",
    "assay.report.inline",
    "assay.report.write",
)

#: The largest page, in bytes.
MOST_BYTES = 300_000

#: A comment of the index in whose place a table stands: names of `assay`, or a module and its names.
TABLE = re.compile(r"<!-- (names|modules): ([\w .,*]+) -->")


@dataclass
class Page:
    """One page: a module, and the names of it that are public."""

    module: str
    names: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The page in reStructuredText."""
        front = sorted(set(self.names) & set(_exports("assay")))
        imports = f"Import from ``assay``: {', '.join(f'``{name}``' for name in front)}.\n\n" if front else ""
        lines = [self.module, "=" * len(self.module), "", imports + f".. automodule:: {self.module}", ""]
        lines += [f".. currentmodule:: {self.module}", ""]
        return "\n".join([*lines, *(line for name in self.names for line in self._entry(name))]) + "\n"

    def _entry(self, name: str) -> list[str]:
        value = getattr(importlib.import_module(self.module), name)
        if inspect.isclass(value) and not value.__module__.startswith("assay"):  # another name of a foreign class
            return [f".. py:data:: {name}", ""]
        if inspect.isclass(value):
            return [f".. autoclass:: {name}", "   :members:", ""]
        return [f".. {'autofunction' if inspect.isroutine(value) else 'py:data'}:: {name}", ""]


def public_modules() -> tuple[str, ...]:
    """The public modules of the core, and the packages of all integrations."""
    projects = sorted(ROOT.glob("integrations/*/pyproject.toml"))
    names = [tomllib.loads(path.read_text(encoding="utf-8"))["project"]["name"] for path in projects]
    return (*MODULES, *(name.replace("-", "_") for name in names))


def public_pages() -> dict[str, Page]:
    """All pages by module. Each name stands on one page: of the first public module that has it."""
    pages = {module: Page(module) for module in public_modules()}  # a plugin of pytest has no names
    seen: set[int] = set()
    with mock(MOCKED):
        loaded = {module: importlib.import_module(module) for module in public_modules()}
    entries = [(module, name) for module in loaded for name in _exports(module)]
    collections = [module for module in COLLECTIONS if importlib.util.find_spec(module)]
    entries += [(_home(module, name), name) for module in collections for name in _exports(module)]
    for module, name in entries:
        value = getattr(importlib.import_module(module), name)
        page = pages.setdefault(module, Page(module))
        if not isinstance(value, ModuleType) and id(value) not in seen:
            seen.add(id(value))
            page.names.append(name)
    return {module: page for module, page in pages.items() if page.names or module in loaded}


def write_pages() -> None:
    """Write one file for each public module, and remove those of modules that are gone."""
    FOLDER.mkdir(exist_ok=True)
    texts = {f"{name}.rst": page.text() for name, page in public_pages().items()}
    for path in FOLDER.glob("*.rst"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def fill_index(text: str) -> str:
    """Put the tables into the index."""
    pages = public_pages()

    def table(match: re.Match[str]) -> str:
        words = match[2].replace(",", " ").split()
        rows = _name_rows(words, pages) if match[1] == "names" else _module_rows(words, pages)
        return "\n".join(["| | |", "|---|---|", *rows])

    return TABLE.sub(table, text)


def check_sizes(folder: Path) -> Iterator[str]:
    """Yield a warning for each page of the reference that is too large to read."""
    for path in [*(folder / "reference").glob("*.html"), folder / "reference.html"]:
        if path.stat().st_size > MOST_BYTES:
            yield f"reference: {path.name} has more than {MOST_BYTES:,} bytes; divide the module"


def _name_rows(names: list[str], pages: dict[str, Page]) -> Iterator[str]:
    targets = {
        id(getattr(importlib.import_module(page.module), name)): f"{page.module}.{name}"
        for page in pages.values()
        for name in page.names
    }
    for name in names:
        value = getattr(importlib.import_module("assay"), name)
        yield f"| {{py:obj}}`{name} <{targets[id(value)]}>` | {_summary(value)} |"


def _module_rows(patterns: list[str], pages: dict[str, Page]) -> Iterator[str]:
    for pattern in patterns:
        start = pattern.removesuffix("*")
        for module in sorted(pages):
            if module == start or (pattern.endswith("*") and module.startswith(start)):
                yield f"| [{module}](reference/{module}.rst) | {_summary(importlib.import_module(module))} |"


def _exports(module: str) -> list[str]:
    loaded = importlib.import_module(module)
    listed = getattr(loaded, "__all__", None)
    if listed is not None:
        return list(listed)
    own = [(name, getattr(value, "__module__", "")) for name, value in vars(loaded).items() if callable(value)]
    is_package = hasattr(loaded, "__path__")
    return [
        name
        for name, home in own
        if not name.startswith("_") and (home == module or (is_package and str(home).startswith(f"{module}.")))
    ]


def _home(collection: str, name: str) -> str:
    """The module that defines a name of a collection; its first public parent, if that module is private."""
    value = getattr(importlib.import_module(collection), name)
    parts = str(getattr(value, "__module__", collection)).split(".")
    while parts[-1].startswith("_"):
        parts.pop()
    home = ".".join(parts)
    return home if getattr(importlib.import_module(home), name, None) is value else collection


def _summary(value: object) -> str:
    line = (inspect.getdoc(value) or "").strip().split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    return line if len(line) <= 160 else line[:157].rsplit(" ", 1)[0] + " …"
