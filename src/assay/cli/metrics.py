"""The command `assay metrics`: what can be measured, of what, and by which judges."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import width
from assay.cli.output import say, show
from assay.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from assay.metrics import Metric

_GOOD = {"higher": "↑", "lower": "↓"}
_ROOMY = 110  # columns in which every line has room for names, needs and judges side by side
_WIDE = 120  # columns in which there is room for what each measures
_NEEDS, _JUDGES = len("reference_tool_calls"), len("embedded,")  # the longest words there, where lines have to wrap
_FACT = 16  # columns before what is said of one metric
_NO_PARAMETER = ("name", "profile")
_REST = 53  # columns beside the name where needs wrap and judges do not


def metrics(
    name: Annotated[str | None, typer.Argument(help="Show one metric: formula, inputs, parameters.")] = None,
    system: Annotated[
        str | None, typer.Option(help="List those of another system: ragas, deepeval, ...; 'all' for every system.")
    ] = None,
) -> None:
    """List the metrics with inputs, range, direction and judges."""
    from assay.metrics import systems
    from assay.metrics.names import names, resolve_metrics

    if name is not None:
        if system is not None:
            raise InputError("metrics: name one metric, or a system with --system, not both")
        (metric,) = resolve_metrics(name)
        say(_described(metric))
        return
    found: dict[str, Metric] = {}
    for name in names() if system is None else systems.names(system):
        try:
            (found[name],) = resolve_metrics(name)
        except InputError as error:  # of another package, which is broken; the others are there
            say(f"assay: {error}", aside=True)
    show(_table(found))
    if system is not None:
        say(f"\n{_how_to_write(next(iter(found)))}", aside=True)


def _table(found: Mapping[str, Metric]) -> Table:
    from assay._util.tables import Column, make_table
    from assay.metrics.meanings import meaning_of, sentence_of

    columns = width()
    squeezed = columns < _ROOMY and max(map(len, found), default=0) > columns - _REST
    head: list[Column | str] = [
        "metric",
        Column(title="needs", most=_NEEDS if columns < _ROOMY else None),
        Column(title="range", wraps=False),
        Column(title="judges", most=_JUDGES if squeezed else None),
    ]
    explained = columns >= _WIDE and any(map(meaning_of, found))
    head += ["measures"] if explained else []
    rows = []
    for name, metric in found.items():
        span = f"{metric.low:g} to {metric.high:g} {_GOOD[metric.direction]}"
        meaning = (sentence_of(metric) or "",) if explained else ()
        rows.append((name, ", ".join((*metric.needs, *metric.needed_columns)), span, _judges_for(metric), *meaning))
    return make_table(head, rows)


def _described(metric: Metric) -> str:
    """All about one metric: what its file says of the formula and its source, and what it takes."""
    module = inspect.getmodule(type(metric))
    docs = [inspect.cleandoc(one) for one in (module and module.__doc__, _own_doc(metric)) if one]
    about = [_filled(paragraph) for doc in docs for paragraph in doc.split("\n\n")]
    good = "higher" if metric.direction == "higher" else "lower"
    facts = {
        "needs": ", ".join((*metric.needs, *(f"{column} (a column)" for column in metric.needed_columns))) or "nothing",
        "may read": ", ".join(f"{column} (a column)" for column in metric.may_read),
        "value": f"{metric.low:g} to {metric.high:g}, {good} is better",
        "judges": _judges_for(metric),
        "parameters": ", ".join(_parameters(metric)),
        **_entry_facts(metric),
        "formula in": module.__name__ if module else "",
    }
    listed = [f"{title:<{_FACT}}{fact}" for title, fact in facts.items() if fact]
    return "\n\n".join([metric.label, *about, "\n".join(listed)])


def _filled(paragraph: str) -> str:
    """Sentences fill the terminal's lines; formulas and lists stay as they are."""
    made_up = any(line.startswith(" ") or "   " in line for line in paragraph.splitlines())
    return paragraph if made_up else textwrap.fill(paragraph, min(width(), 100))


def _own_doc(metric: Metric) -> str | None:
    """What its class says; a dataclass without a docstring is given its signature as one."""
    doc = type(metric).__doc__
    return None if doc is None or doc.startswith(f"{type(metric).__name__}(") else doc


def _parameters(metric: Metric) -> list[str]:
    """The parameters that can be given in Python, with their values here."""
    return [f"{one.name}={getattr(metric, one.name)!r:.60}" for one in fields(metric) if one.name not in _NO_PARAMETER]


def _entry_facts(metric: Metric) -> dict[str, str]:
    """What the table of its system says of it."""
    from assay.metrics import systems

    system, _, short = metric.name.partition(":")
    entry = systems.system_entries(system).get(short) if system in systems.SYSTEMS else None
    if entry is None:
        return {}
    steps = entry.steps
    return {
        "steps": f"{steps.unit} / {steps.against} / {steps.counts} / {steps.aggregate}",
        "original name": entry.source,
        "compared": entry.compared,
        "on empty input": f"the original gives {entry.empty}; ours has no value" if entry.empty else "",
        "example": ", ".join(f"{field}={value!r}" for field, value in entry.example.items()),
    }


def _how_to_write(name: str) -> str:
    """How names of other systems' metrics are written, and what the table does not hold."""
    room = name.partition(":")[0]
    return (
        f"A name has its system's defaults. {name}@original gives the\n"
        "system's own numbers to the letter. Its names of classes and functions are\n"
        f"understood too. Parameters are given in Python, to the classes in\n"
        f"assay.metrics.{room}. Needs that are no texts are columns with the system's\n"
        f"own names. `assay metrics {name}` tells all about one."
    )


def _judges_for(metric: Metric) -> str:
    from assay.judges.embedded.judge import PROMPTS

    if not metric.asks:  # of another package: it asks nothing, or does not say what
        return "any" if metric.consults else "none"
    return "embedded, LLM" if set(metric.asks) <= set(PROMPTS) else "LLM"
