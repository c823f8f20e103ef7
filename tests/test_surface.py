"""The public surface: `assay`, `assay.extension` and the integrations' packages, as a snapshot; and who imports what.

Write the snapshot anew after a change that you mean: `python -m tests.test_surface`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

ROOT = Path(__file__).parents[1]
SNAPSHOT = Path(__file__).with_name("surface.txt")
#: Packages whose names users import; those of integrations that need a server or a cluster to import are left out.
PACKAGES = (
    "assay",
    "assay.extension",
    "assay.testing",
    "assay_langchain",
    "assay_langfuse",
    "assay_langsmith",
    "assay_llama_index",
    "assay_mlflow",
    "assay_opentelemetry",
    "assay_phoenix",
)
LAZY = ("assay", "assay.extension", "assay.judges", "assay.live", "assay.stats", "assay.analysis.gates")
#: More names than this belong into the package of their subject. The second number may only fall.
LIMITS = {"assay": 46, "assay.extension": 181}
INTEGRATIONS = sorted((ROOT / "integrations").glob("*/src/**/*.py"))


def signature(name: str, value: object) -> str:
    """One line of the snapshot."""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return f"{kind} {name}{_parameters(value)}"
    return f"def {name}{_parameters(value)}" if inspect.isroutine(value) else f"{type(value).__name__} {name}"


def _parameters(value: object) -> str:
    """The names of parameters; `=` marks those with a default. Types and defaults may differ between Pythons."""
    try:
        parameters = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    texts, keyword_only = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            texts.append("*")
        texts.append(marks.get(one.kind, "") + one.name + ("" if one.default is one.empty else "="))
    return f"({', '.join(texts)})"


def surface() -> str:
    """The whole snapshot."""
    lines = []
    for package in PACKAGES:
        module = import_module(package)
        lines.append(f"[{package}]")
        lines += sorted(signature(name, getattr(module, name)) for name in module.__all__)
        lines.append("")
    return "\n".join(lines)


def imports_for_type_checkers(path: Path) -> dict[str, str]:
    """Name -> module, as a package's `if TYPE_CHECKING:` has them."""
    found: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and line.module is not None:
                    found.update({alias.name: line.module for alias in line.names})
    return found


def imports_of_assay(path: Path) -> Iterator[str]:
    """The modules of assay that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        yield from (module for module in modules if module.partition(".")[0] == "assay")


def test_the_surface_is_as_written_down() -> None:
    assert surface() == SNAPSHOT.read_text(encoding="utf-8"), "python -m tests.test_surface writes it anew"


@pytest.mark.parametrize(("package", "limit"), LIMITS.items())
def test_the_surface_stays_small(package: str, limit: int) -> None:
    names = import_module(package).__all__
    assert len(names) == len(set(names)) <= limit


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_hidden_by_a_module(package: str) -> None:
    """An import of the submodule `p.name` would put the module where `from p import name` had a function."""
    module = import_module(package)
    modules = {found.name for found in iter_modules(getattr(module, "__path__", ()))}
    assert {name for name in modules & set(module.__all__) if not inspect.ismodule(getattr(module, name))} == set()


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_see_what_is_loaded(package: str) -> None:
    module = import_module(package)
    path = Path(str(module.__file__))
    written = imports_for_type_checkers(path)
    homes = {name: home for home, names in module._HOMES.items() for name in names.split()}
    written.pop("metrics", None)  # a module
    assert written == homes


def test_integrations_import_from_assay_and_its_extension_alone() -> None:
    others = {
        (str(path.relative_to(ROOT)), module)
        for path in INTEGRATIONS
        for module in imports_of_assay(path)
        if module not in ("assay", "assay.extension", "assay.testing")
    }
    assert others == set()


def test_integrations_use_every_name_of_the_extension() -> None:
    """`Question` is for judge prompts of one's own; docs/extending.md shows it."""
    used = {
        alias.name
        for path in INTEGRATIONS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "assay.extension"
        for alias in node.names
    }
    assert set(import_module("assay.extension").__all__) - used == {"Question"}


@pytest.mark.parametrize("package", ["assay", "assay.extension"])
def test_every_class_and_function_has_a_docstring(package: str) -> None:
    module = import_module(package)
    values = {name: getattr(module, name) for name in module.__all__}
    things = {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isroutine(value)}
    assert [name for name, value in things.items() if not inspect.getdoc(value)] == []


def lacking_sections(function: object) -> list[str]:
    """The sections that a docstring in Google style lacks. "Async form of `name`" has those of that name."""
    text, signature_of = inspect.getdoc(function) or "", inspect.signature(function)  # type: ignore[arg-type]
    if text.startswith("Async form of `"):
        return []
    parameters = [name for name in signature_of.parameters if name not in ("self", "cls")]
    returns = signature_of.return_annotation not in (None, "None", "NoReturn", inspect.Signature.empty)
    return [
        part
        for part, wanted in (("Args:", bool(parameters)), ("Returns:", returns))
        if wanted and part not in text and not (part == "Returns:" and "Yields:" in text)
    ]


def undocumented(value: object) -> dict[str, list[str]]:
    """What the docstrings of a function, or of a class and its methods, lack."""
    if not inspect.isclass(value):
        return {"": lacking_sections(value)}
    lacking = {}
    text = (inspect.getdoc(value) or "") + (inspect.getdoc(value.__init__) or "")
    made = not issubclass(value, BaseException) and not getattr(value, "_is_protocol", False)
    if made and _parameters(value) not in ("", "()"):
        lacking["__init__"] = [] if "Args:" in text or "Attributes:" in text else ["Args:"]
    functions = {key: getattr(one, "__func__", one) for key, one in vars(value).items() if not key.startswith("_")}
    # through the class: a method that overrides another inherits its docstring
    methods = [key for key, one in functions.items() if inspect.isfunction(one)]
    return lacking | {key: lacking_sections(getattr(value, key)) for key in methods}


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "assay.testing"])
def test_every_argument_and_result_is_documented(package: str) -> None:
    """Enumerations and aliases of types have no arguments, and exceptions are raised by assay itself."""
    module = import_module(package)
    values = {name: getattr(module, name) for name in module.__all__}
    plain = {
        name: value
        for name, value in values.items()
        if inspect.isroutine(value) or (inspect.isclass(value) and not issubclass(value, Enum))
    }
    lacking = {f"{name}.{key}": parts for name, one in plain.items() for key, parts in undocumented(one).items()}
    assert {name: parts for name, parts in lacking.items() if parts} == {}


if __name__ == "__main__":
    SNAPSHOT.write_text(surface(), encoding="utf-8")
