"""A lens as a table for terminals: the metrics of all systems, their values, and where their formulas part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from assay.report.seen import SeenText

if TYPE_CHECKING:
    from assay.lens import Lens, Seen

_STEPS = ("unit", "against", "counts", "aggregate")


def lens_table(lens: Lens) -> Table:
    """One line per definition; the step where it parts from the first one is marked."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    for step in _STEPS:
        table.add_column(step, overflow="fold")
    for one in lens.seen:
        steps = one.definition.steps
        cells = [SeenText(getattr(steps, step), style="bold yellow" if step == one.parts_at else "") for step in _STEPS]
        table.add_row(SeenText(one.definition.metric), SeenText(_value(one)), *cells)
    return table


def _value(one: Seen) -> str:
    if one.score.unscored is not None:
        return str(one.score.unscored.cause)
    return f"{one.score.value:.2f}" + ("" if one.score.convention is None else " by convention")
