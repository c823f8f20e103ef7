"""How the tests tell linear time from quadratic: hostile texts, ten times as long, may take thirty times as long.

Linear growth is a factor of ten and quadratic growth one of a hundred; what lies between leaves room for a busy machine.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ROOT = Path(__file__).parent.parent
SHORT, LONG = 10_000, 100_000  # characters
FLOOR = 0.02  # seconds that the long text may take anyhow; a quadratic search of it takes several
FACTOR = 30
HOPELESS = 2.0  # seconds for the short text, after which nobody waits for the long one

#: Each is repeated up to the size that is asked for.
UNITS = (
    *(" ", "\n", "\t", "\u00a0", '"', "'", "’", "“", ".", "…", "!", "?", "<", ">", "[", "]", "(", ")", "{", "}"),
    *("-", "/", "\\", "*", "_", "|", "#", ":", ",", "0", "a", "Z", "é", "。", "ก", "\u0301", "\x00", "\ue000"),
    *("a.", "A. ", "a) ", "1. ", "1.", "(a", "[1", ".[1] ", "< ", "</", "{ ", "{}", '{"', "[[", "' ", " '", '" ', "\"'"),
    *(". ", " .", "... ", "?!", "! ", "a ", "no ", "not ", "e.g. ", "Mr. ", "a\n", "\r\n", "\n\n", "- ", "| a |\n", "> "),
)
#: After something that a pattern begins with, each repeated.
TAILS = (" ", "a", "a ", "0", ".")
_END = "\ue001"


def hostile(size: int, units: Sequence[str] = UNITS) -> Iterator[tuple[str, str]]:
    """Names and texts of about `size` characters: one unit over and over, and an end that fits nothing."""
    for unit in units:
        yield repr(unit), unit * (size // len(unit)) + _END


def after(heads: Sequence[str], size: int) -> Iterator[tuple[str, str]]:
    """Texts that begin like `heads`: a head over and over, and one followed by a long run."""
    for head in heads:
        yield f"{head!r}", head * (size // len(head)) + _END
        for tail in TAILS:
            yield f"{head!r} and {tail!r}", head + tail * (size // len(tail)) + _END


def seconds(call: Callable[[], object], times: int) -> float:
    """The best of some, in CPU time of this thread: other processes share the machine."""
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
    return best


def fault(call: Callable[[str], object], short: str, long: str) -> str | None:
    """What is wrong with how the time of `call` grows from one text to the other; None where it is linear."""
    least = seconds(lambda: call(short), 1)
    if least > HOPELESS:
        return f"{len(short)} characters take {least:.1f} s"
    most = seconds(lambda: call(long), 1)
    if most <= FLOOR:
        return None
    if most > FACTOR * least:  # perhaps something else came between
        least, most = seconds(lambda: call(short), 5), min(most, seconds(lambda: call(long), 2))
    if most <= FLOOR + FACTOR * least:
        return None
    return f"{len(short)} characters take {least:.4f} s and {len(long)} take {most:.4f} s"


def first_fault(call: Callable[[str], object], heads: Sequence[str] = (), units: Sequence[str] = UNITS) -> str | None:
    """The first text on which `call` is not linear, and its times; heads are beginnings of which it is fond."""
    shorts = chain(hostile(SHORT, units), after(heads, SHORT))
    longs = chain(hostile(LONG, units), after(heads, LONG))
    for (name, short), (_, long) in zip(shorts, longs, strict=True):
        wrong = fault(call, short, long)
        if wrong:
            return f"{name}: {wrong}"
    return None


# Patterns in sources


@dataclass(frozen=True, slots=True)
class Found:
    """A regular expression as it stands in a source file; `pattern` is None where it is made at run time."""

    file: str
    source: str  # the call, or the name that it is bound to
    pattern: re.Pattern[str] | None
    anchored: bool  # only ever asked of the beginning of a text, or of a whole one


_MAKERS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_ANCHORED = {"match", "fullmatch", "pattern"}


def source_files() -> list[Path]:
    return sorted([*(ROOT / "src").rglob("*.py"), *ROOT.glob("integrations/*/src/**/*.py")])


def patterns_in(path: Path) -> Iterator[Found]:
    """Every regular expression of a source file, compiled or inline."""
    tree = ast.parse(path.read_text("utf-8"))
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
        yield Found(str(path.relative_to(ROOT)), name or ast.unparse(node), pattern, anchored=uses <= _ANCHORED)


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
    made = ast.Call(ast.Attribute(ast.Name("re", ast.Load()), "compile", ast.Load()), [call.args[0], *flags], [])
    try:
        pattern = eval(compile(ast.fix_missing_locations(ast.Expression(made)), "pattern", "eval"), dict(names))
    except Exception:  # a name that is known at run time only
        return None
    return pattern if isinstance(pattern.pattern, str) else None


def _uses(path: Path, name: str) -> set[str]:
    """The methods of a file's pattern `name` that are called, there and where it is imported; handed on, it counts as searched."""
    found: set[str] = set()
    module = ".".join(path.with_suffix("").parts[path.parts.index("src") + 1 :])
    for other in source_files():
        text = other.read_text("utf-8")
        if other != path and not (f"from {module} import" in text and re.search(rf"\b{name}\b", text)):
            continue
        for node in ast.walk(parents := ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                found.add(node.attr)
        read = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(parents))
        asked = sum(
            isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name for n in ast.walk(parents)
        )
        if read > asked:
            found.add("search")
    return found


# What a pattern is fond of


def heads_of(pattern: re.Pattern[str], most: int = 4) -> list[str]:
    """Beginnings of texts that the pattern matches: the longer they are, the deeper it reads before it gives up."""
    examples = _examples(parser.parse(pattern.pattern, pattern.flags), most)
    heads = {example[:length] for example in examples for length in (len(example) // 2, len(example) - 1, len(example))}
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
    categories = {codes.CATEGORY_SPACE: str.isspace, codes.CATEGORY_DIGIT: str.isdigit, codes.CATEGORY_WORD: str.isalnum}
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
