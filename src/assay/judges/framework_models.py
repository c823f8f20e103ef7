"""Models of frameworks as judges: `judge=ChatOpenAI(...)`, `judge=Settings.llm`.

The core knows no framework. A package that makes judges of a framework's models says so by an entry point in the group
`assay.judges`, named after the package that defines the framework's base classes:

    [project.entry-points."assay.judges"]
    langchain_core = "assay_langchain.judge:judge_of"

The function takes the object and returns a `BaseJudge` (most subclass `assay.judges.llm.framework.FrameworkJudge`),
or raises InputError where it is something of that framework that cannot judge. It is loaded only when an object of
one of the framework's classes is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.judges.base import BaseJudge

GROUP = "assay.judges"

#: Packages that define base classes of models, and the extra of assay whose package makes judges of them.
FRAMEWORKS: Mapping[str, str] = {"langchain_core": "langchain", "llama_index": "llama-index"}


def judge_of(model: object) -> BaseJudge | None:
    """The judge that a framework's object is to be; None where it belongs to no framework that anybody knows.

    Raises InputError for a class in place of an object and for what cannot judge, MissingExtra where the package for
    the framework is not installed.
    """
    kind = model if isinstance(model, type) else type(model)
    owners = {base.__module__.partition(".")[0] for base in kind.__mro__}
    points = {point.name: point for point in entry_points(group=GROUP)}
    for name in (*FRAMEWORKS, *points):
        if name in owners:
            _refuse_class(model)
            return _load_judge(name, points.get(name), model)
    if isinstance(model, type) and issubclass(model, BaseJudge):
        _refuse_class(model)
    return None


def _refuse_class(model: object) -> None:
    if isinstance(model, type):
        raise InputError(f"judge: this is the class {model.__name__}; give an object of it: {model.__name__}(...)")


def _load_judge(name: str, point: EntryPoint | None, model: object) -> BaseJudge:
    how = install_extra(FRAMEWORKS[name]) if name in FRAMEWORKS else "see who made it"
    missing = f"judge: {type(model).__name__} needs a package: {how}"
    if point is None:
        raise MissingExtra(missing)
    try:
        make = point.load()
    except ImportError as error:
        if name in FRAMEWORKS:
            raise MissingExtra(f"{missing} ({error})") from error
        raise
    judge = make(model)
    if not isinstance(judge, BaseJudge):
        raise InputError(f"judge: the entry point {name!r} of {GROUP} gave {type(judge).__name__}, not a judge")
    return judge
