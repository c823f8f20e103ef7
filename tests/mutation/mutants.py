"""The mutants of a file: each is the file with one constant, operator, comparison or condition changed.

Changed are numbers (n to n + 1, x to x + 0.1), True and False, + - * / // % **, & and |, comparisons, `and` and `or`,
`not`, bare conditions, min and max, any and all, sum (to max), floor and ceil, and the direction of a metric.

Left out: texts, f-strings and what is raised, annotations, decorators and overloads, what an entry tells people, and
arguments that say how a class or a `zip` is made.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay import prompts

ROOT = Path(__file__).parents[2]
METRICS = ROOT / "src" / "assay" / "metrics"
#: Formulas that several systems use.
SHARED = "shared"
ROOMS = (
    "ragas",
    "deepeval",
    "ragchecker",
    "trulens",
    "llamaindex",
    "langchain",
    "openevals",
    "langsmith",
    "bedrock",
    "multimodal",
    SHARED,
)

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "max", "floor": "ceil", "ceil": "floor"}
DIRECTIONS = {"higher": "lower", "lower": "higher"}
LEFT_OUT = {"Entry", "Steps", "TypeVar", "Literal"}
#: What a judge is asked and a reader told: functions by their names and by what they return, and names of values.
TOLD_BY = {"label", "name", "asks", "material", "_material", "sections", "_sections"}
TOLD_AS = {"Entry", "Material", "Sections"}
TOLD = {"texts", "reason", "reasons", "material", "titles"}
PLUMBING = {"strict", "kw_only", "slots", "frozen", "repr", "compare", "init"}
PROMPTS = {name for name in prompts.__all__ if name not in {"JudgePrompt", "Material"}}
#: How much of the surrounding expression names a mutant, in characters.
READABLE = 72


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change of one file.

    path    the file, from the root of the repository
    where   the function, or "" outside of functions
    lines   of the statement, first and last
    text    "before -> after", numbered where a function has the same change twice
    told    whether it is in what a judge is asked or a reader is told, not in what makes a value
    place   the node that is changed, what holds it, and its replacement
    """

    path: str
    where: str
    lines: tuple[int, int]
    text: str
    told: bool
    tree: ast.Module = field(repr=False)
    place: tuple[ast.AST, str, int | None, ast.AST] = field(repr=False)

    @property
    def room(self) -> str:
        """The system whose formula it is, or "shared"."""
        name = self.path.removeprefix("src/assay/metrics/").partition("/")[0]
        return name if name in ROOMS else SHARED

    @property
    def inside(self) -> bool:
        """Whether it is in the body of a function, not in what runs at import."""
        return self.where.rpartition(".")[2].lstrip("_")[:1].islower()

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is called in the table of equivalents."""
        return self.path, self.where, self.text

    def __str__(self) -> str:
        return f"{self.path}:{self.lines[0]} {self.where or '(module)'}: {self.text}"

    def source(self) -> str:
        """The file as it is with this change."""
        parent, name, index, node = self.place
        before = _put(parent, name, index, node)
        try:
            return ast.unparse(self.tree)
        finally:
            _put(parent, name, index, before)

    def code(self) -> object:
        """The same, compiled; lines are those of the file."""
        parent, name, index, node = self.place
        before = _put(parent, name, index, node)
        try:
            return compile(self.tree, str(ROOT / self.path), "exec")
        finally:
            _put(parent, name, index, before)


def files(room: str) -> list[Path]:
    """The files with the formulas of a room."""
    if room == SHARED:
        return sorted([*METRICS.glob("*.py"), *(METRICS / "systems").glob("*.py")])
    return sorted((METRICS / room).rglob("*.py"))


def mutants_of(room: str) -> list[Mutant]:
    """Every mutant of every file of a room."""
    return [mutant for path in files(room) for mutant in mutants(path.read_text(encoding="utf-8"), _name(path))]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def mutants(source: str, path: str) -> list[Mutant]:
    """Every mutant of one file."""
    tree = ast.parse(source)
    seen: Counter[tuple[str, str]] = Counter()
    made = []
    for place, where, above in _places(tree, "", ()):
        text = _text(place, above)
        seen[where, text] += 1
        if seen[where, text] > 1:
            text += f" #{seen[where, text]}"
        made.append(Mutant(path, where, _lines(above), text, _told(above), tree, place))
    return made


def _told(above: Above) -> bool:
    """Whether a node so held is in what a judge is asked or a reader is told: a text beside a number, a metric's
    label, the material of a prompt. The rest counts as formula, and so does a number given to a prompt: its scale.
    """
    if any(_tells(one) for one in above):
        return True
    asked = [place for place, one in enumerate(above) if isinstance(one, ast.Call) and _named(one.func) in PROMPTS]
    return bool(asked) and above[-1] is not above[asked[0]]


def _tells(node: ast.AST) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        result = ast.unparse(node.returns) if node.returns is not None else ""
        return node.name in TOLD_BY or result in TOLD_AS
    if isinstance(node, ast.Call):
        return _named(node.func) in ("entry", "_entry")
    if isinstance(node, ast.keyword):
        return node.arg in TOLD
    if not isinstance(node, ast.Assign) or not all(_named(one) in TOLD for one in node.targets):
        return False
    value = node.value.body if isinstance(node.value, ast.IfExp) else node.value
    return _named(node.targets[0]) != "texts" or isinstance(value, ast.Dict)  # other "texts" may be what is counted


def _named(node: ast.expr) -> str:
    """The name of a variable or function, else nothing."""
    return node.id if isinstance(node, ast.Name) else ""


Place = tuple[ast.AST, str, int | None, ast.AST]
Above = tuple[ast.AST, ...]


def _places(node: ast.AST, where: str, above: Above) -> Iterator[tuple[Place, str, Above]]:
    """Where something can be changed below a node; the function it is in; all nodes that hold it, outermost first."""
    for name, index, child in _children(node):
        inside = where
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and name == "body":
            inside = f"{where}.{node.name}".lstrip(".")
        for new in _replacements(node, name, child):
            ast.copy_location(new, child if hasattr(child, "lineno") else node)
            yield (node, name, index, ast.fix_missing_locations(new)), inside, (*above, node)
        if not _left_out(node, name, child):
            yield from _places(child, inside, (*above, node))


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield name, None, value
        elif isinstance(value, list):
            yield from ((name, index, one) for index, one in enumerate(value) if isinstance(one, ast.AST))


def _left_out(node: ast.AST, name: str, child: ast.AST) -> bool:
    if name in ("decorator_list", "annotation", "returns") or isinstance(child, (ast.Raise, ast.JoinedStr)):
        return True
    if isinstance(child, ast.keyword):
        return child.arg in PLUMBING
    if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return any(_named(one) == "overload" for one in child.decorator_list)  # for type checkers alone
    return isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in LEFT_OUT


def _replacements(node: ast.AST, name: str, child: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if _left_out(node, name, child):
        return
    if type(child) in OPERATORS:
        yield OPERATORS[type(child)]()
    elif isinstance(child, ast.Constant):
        yield from _constants(child.value)
    elif isinstance(child, ast.UnaryOp) and isinstance(child.op, (ast.Not, ast.USub)):
        yield child.operand
    elif isinstance(child, ast.Name) and child.id in NAMES and name == "func":
        yield ast.Name(NAMES[child.id], ast.Load())
    elif isinstance(child, ast.Attribute) and child.attr in NAMES and name == "func":
        yield ast.Attribute(child.value, NAMES[child.attr], ast.Load())
    if (name == "test" or (isinstance(node, ast.comprehension) and name == "ifs")) and not isinstance(
        child, (ast.Compare, ast.BoolOp, ast.UnaryOp)
    ):
        yield ast.UnaryOp(ast.Not(), child)  # type: ignore[arg-type]


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, float):
        yield ast.Constant(round(value + 0.1, 12))
    elif isinstance(value, str) and value in DIRECTIONS:
        yield ast.Constant(DIRECTIONS[value])


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> ast.AST:
    """Put a node in its place; returns what was there."""
    value = getattr(parent, name)
    if index is None:
        setattr(parent, name, node)
        return value
    before: ast.AST = value[index]
    value[index] = node
    return before


def _text(place: Place, above: Above) -> str:
    """ "before -> after" of the largest expression around a change that can still be read."""
    parent, name, index, node = place
    shown = next(one for one in reversed(above) if isinstance(one, (ast.expr, ast.stmt, ast.comprehension)))
    for one in reversed(above):
        if isinstance(one, (ast.expr, ast.keyword, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign)):
            if len(ast.unparse(one)) > READABLE:
                break
            shown = one
    before = _line(shown)
    was = _put(parent, name, index, node)
    after = _line(shown)
    _put(parent, name, index, was)
    return f"{before} -> {after}"


def _line(node: ast.AST) -> str:
    """The text of an expression, or the first line of a statement."""
    return ast.unparse(node).partition("\n")[0]


def _lines(above: Above) -> tuple[int, int]:
    """The lines of the statement that a change is in; of one with a body, of the expression."""
    statement = next(i for i in range(len(above) - 1, -1, -1) if isinstance(above[i], ast.stmt))
    node = above[statement]
    if hasattr(node, "body") or isinstance(node, ast.Match):
        below = [one for one in above[statement + 1 :] if hasattr(one, "lineno")]
        node = below[0] if below else node
        return (node.lineno, (node.end_lineno or node.lineno) if below else node.lineno)  # type: ignore[attr-defined]
    return node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
