"""Every regular expression in the sources of all distributions here, found by their syntax trees."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Found:
    """A regular expression as it stands in a source file; `pattern` is None where it is made at run time."""

    file: str
    source: str  # the call, or the name that it is bound to
    pattern: re.Pattern[str] | None
    anchored: bool  # only ever asked of the beginning of a text, or of a whole one


_MAKERS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_ANCHORED = {"match", "fullmatch", "pattern"}


@cache
def source_files() -> list[Path]:
    """All source files of the distributions here."""
    return sorted([*(ROOT / "src").rglob("*.py"), *ROOT.glob("integrations/*/src/**/*.py")])


def patterns_in(path: Path) -> Iterator[Found]:
    """Every regular expression of a source file, compiled or inline."""
    text = path.read_text("utf-8")
    if not re.search(r"\b(?:import|from) re(?:gex)?\b|\bre\.", text):
        return
    tree = ast.parse(text)
    for node in ast.walk(tree):  # the search below goes by the name `re`
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("re", "regex"), f"{path}: import the module re, not its functions"
        if isinstance(node, ast.Import):
            assert all(a.name != "regex" and (a.name != "re" or a.asname is None) for a in node.names), path
    names = _names(tree)
    bound = {id(node.value): _target(node) for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)}
    asked = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MAKERS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        name = bound.get(id(node))
        if node.func.attr != "compile":
            uses = {node.func.attr}
        elif id(node) in asked:  # re.compile(...).search(...)
            uses = {asked[id(node)]}
        else:
            uses = _uses(path, name) if name else {"search"}
        pattern = _evaluated(node, names)
        yield Found(
            str(path.relative_to(ROOT)), name or ast.unparse(node), pattern, anchored=bool(uses) and uses <= _ANCHORED
        )


def _target(node: ast.Assign | ast.AnnAssign) -> str | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else None


def _names(tree: ast.Module) -> dict[str, Any]:
    """What the constants of a module are, without running the module: it may need a framework."""
    names: dict[str, Any] = {"re": re}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay."):
            module = importlib.import_module(str(node.module))
            names.update({a.asname or a.name: getattr(module, a.name, None) for a in node.names})
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and (name := _target(node)):
            try:
                names[name] = eval(compile(ast.Expression(node.value), "constant", "eval"), dict(names))
            except Exception:  # not a constant
                names.pop(name, None)
    return names


def _evaluated(call: ast.Call, names: dict[str, Any]) -> re.Pattern[str] | None:
    assert isinstance(call.func, ast.Attribute)
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    if call.func.attr == "compile":
        flags += call.args[1:2]
    elif call.func.attr in ("search", "match", "fullmatch", "findall", "finditer"):
        flags += call.args[2:3]
    first = [keyword.value for keyword in call.keywords if keyword.arg == "pattern"] + call.args
    made = ast.Call(ast.Attribute(ast.Name("re", ast.Load()), "compile", ast.Load()), [first[0], *flags], [])
    try:
        pattern = eval(compile(ast.fix_missing_locations(ast.Expression(made)), "pattern", "eval"), dict(names))
    except Exception:  # a name that is known at run time only
        return None
    return pattern if isinstance(pattern.pattern, str) else None


@dataclass(frozen=True, slots=True)
class _Names:
    """How a source file uses the names that it reads."""

    attributes: dict[str, set[str]]  # name -> what is asked of it
    reads: Counter[str]
    asked: Counter[str]


@cache
def _names_read(path: Path) -> _Names:
    found = _Names(defaultdict(set), Counter(), Counter())
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.attributes[node.value.id].add(node.attr)
            found.asked[node.value.id] += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.reads[node.id] += 1
    return found


@cache
def _importers() -> dict[str, list[Path]]:
    """Module -> the files that import names from it."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in source_files():
        for module in set(re.findall(r"\bfrom (\S+) import\b", path.read_text("utf-8"))):
            found[module].append(path)
    return found


def _uses(path: Path, name: str) -> set[str]:
    """The methods of a file's pattern that are called, there and where it is imported. Handed on, it is searched."""
    found: set[str] = set()
    module = ".".join(path.with_suffix("").parts[path.parts.index("src") + 1 :])
    for other in (path, *_importers().get(module, ())):
        names = _names_read(other)
        found |= names.attributes.get(name, set())
        if names.reads[name] > names.asked[name]:
            found.add("search")
    return found


# What a pattern is fond of


def heads_of(pattern: re.Pattern[str], most: int = 4) -> list[str]:
    """Beginnings of texts that the pattern matches: the longer they are, the deeper it reads before it gives up."""
    examples = _examples(parser.parse(pattern.pattern, pattern.flags), most)
    heads = {
        example[:length]
        for example in examples
        for length in (*range(1, 5), len(example) // 2, len(example) - 1, len(example))
    }
    return sorted(head for head in heads if head)


def _examples(nodes: Any, most: int) -> list[str]:
    examples = [""]
    for code, value in nodes:
        options = _options(code, value, most)
        examples = [
            example + option for i, option in enumerate(options) for example in (examples if i == 0 else examples[:1])
        ][:most]
    return examples


def _options(code: Any, value: Any, most: int) -> list[str]:
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.NOT_LITERAL:
        return ["b" if value == ord("a") else "a"]
    if code is codes.ANY:
        return ["a"]
    if code is codes.IN:
        return [_member(value)]
    if code is codes.BRANCH:
        return [option for nodes in value[1] for option in _examples(nodes, most)][:most]
    if code is codes.SUBPATTERN:
        return _examples(value[3], most)
    if code is codes.ATOMIC_GROUP:
        return _examples(value, most)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, _, nodes = value
        return [option * max(least, 1) for option in _examples(nodes, most)]
    if code is codes.ASSERT and value[0] > 0:
        return _examples(value[1], most)
    return [""]


def _member(items: Any) -> str:
    """A character of a set."""
    if items[0][0] is not codes.NEGATE:
        code, value = items[0]
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.RANGE:
            return chr(value[0])
    source = "".join(map(chr, range(32, 127)))
    categories = {
        codes.CATEGORY_SPACE: str.isspace,
        codes.CATEGORY_DIGIT: str.isdigit,
        codes.CATEGORY_WORD: str.isalnum,
    }
    negated = {
        codes.CATEGORY_NOT_SPACE: str.isspace, codes.CATEGORY_NOT_DIGIT: str.isdigit,
        codes.CATEGORY_NOT_WORD: str.isalnum,
    }  # fmt: skip

    def holds(char: str) -> bool:
        for code, value in items:
            if code is codes.LITERAL and value == ord(char):
                return True
            if code is codes.RANGE and value[0] <= ord(char) <= value[1]:
                return True
            if code is codes.CATEGORY and (
                (value in categories and categories[value](char)) or (value in negated and not negated[value](char))
            ):
                return True
        return False

    wanted = items[0][0] is not codes.NEGATE
    return next((char for char in "a ." + source if holds(char) is wanted), "a")
