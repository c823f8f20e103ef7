"""The command `assay metrics`: what can be measured, of what, and by which judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.output import say, show
from assay.errors import InputError
from assay.terminal import width

if TYPE_CHECKING:
    from rich.table import Table

    from assay.metrics import Metric

_GOOD = {"higher": "↑", "lower": "↓"}
_ROOMY = 110  # columns in which every line has room for names, needs and judges side by side
_NEEDS, _JUDGES = len("reference_contexts"), len("embedded,")  # the longest words there, where lines have to wrap
_REST = 51  # columns beside the name where needs wrap and judges do not


def metrics(
    system: Annotated[
        str | None, typer.Option(help="List those of another system: ragas, deepeval, ...; 'all' for every system.")
    ] = None,
) -> None:
    """List the metrics: what each needs, its range and direction, and which judges can do it."""
    from assay import systems
    from assay.naming import names, resolve

    found: dict[str, Metric] = {}
    for name in names() if system is None else systems.names(system):
        try:
            (found[name],) = resolve(name)
        except InputError as error:  # of another package, which is broken; the others are there
            say(f"assay: {error}", aside=True)
    show(_table(found))
    if system is not None:
        say(f"\n{_how_to_write(next(iter(found)))}", aside=True)


def _table(found: Mapping[str, Metric]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    columns = width()
    squeezed = columns < _ROOMY and max(map(len, found), default=0) > columns - _REST
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", overflow="fold")
    table.add_column("needs", max_width=_NEEDS if columns < _ROOMY else None)
    table.add_column("range", no_wrap=True)
    table.add_column("judges", max_width=_JUDGES if squeezed else None)
    for name, metric in found.items():
        span = f"{metric.low:g} to {metric.high:g} {_GOOD[metric.direction]}"
        table.add_row(name, ", ".join(metric.needs), span, _judges_for(metric))
    return table


def _how_to_write(name: str) -> str:
    """How names of other systems' metrics are written, and what the table does not hold."""
    room = name.partition(":")[0]
    return (
        f"A name has its system's defaults. {name}@original gives the\n"
        "system's own numbers to the letter. Its names of classes and functions are\n"
        f"understood too. Parameters are given in Python, to the classes in\n"
        f"assay.systems.{room}. Inputs besides texts are columns with the system's own\n"
        "names; `assay failures` says which are missing."
    )


def _judges_for(metric: Metric) -> str:
    from assay.judges.embedded.judge import INQUIRIES

    if not metric.asks:  # of another package: it asks nothing, or does not say what
        return "any" if metric.consults else "none"
    return "embedded, LLM" if set(metric.asks) <= set(INQUIRIES) else "LLM"
