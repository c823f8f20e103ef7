"""A lens as a table for terminals: the metrics of all systems, their values, and where their formulas part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from assay.report.seen import SeenText

if TYPE_CHECKING:
    from assay.lens import Lens, Seen


def lens_table(lens: Lens) -> Table:
    """One line per definition, and the step where its formula parts from the first one's."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("parts from the first at", overflow="fold")
    for number, one in enumerate(lens.seen):
        where = "" if number == 0 else one.difference or "– the same formula"
        table.add_row(SeenText(one.definition.metric), SeenText(_value(one)), SeenText(where))
    return table


def formula(lens: Lens) -> str:
    """The formula that the others are held against."""
    first = lens.seen[0].definition
    return f"{first.metric}: " + ", ".join(f"{step}: {said}" for step, said in first.steps.to_dict().items())


def _value(one: Seen) -> str:
    if one.score.unscored is not None:
        return str(one.score.unscored.cause)
    return f"{one.score.value:.2f}" + ("" if one.score.convention is None else " by convention")
