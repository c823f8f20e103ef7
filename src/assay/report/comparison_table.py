"""Two runs compared, for terminals: the verdicts in colour, and what moved as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText
from assay._util.tables import Column, make_table, number
from assay.analysis.comparison.sentences import fell
from assay.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.metric_diff import MetricDiff
    from assay.analysis.lens import DefinitionResult, Lens

_FLIPS = 3  # of a row that are shown


_COLOURS = {"better": "bold green", "worse": "bold red", "inconclusive": "yellow"}


def headline_in_colour(comparison: Comparison) -> SafeText:
    """The headline, with each verdict in its colour."""
    text = SafeText(comparison.headline)
    for verdict, style in _COLOURS.items():
        shown = verdict
        text.highlight_regex(rf"(?<=[:;] ){shown}(?= on )", style)
    return text


def compared_in_colour(one: MetricDiff) -> SafeText:
    """What is said of one metric, with its verdict in its colour."""
    text, before = SafeText(str(one)), len(printable(f"{one.metric}: "))
    if one.difference is not None:
        text.stylize(_COLOURS[one.verdict], before, before + len(one.verdict))
    return text


def moved_table(comparison: Comparison, *, fallen: bool = False) -> Table | None:
    """The rows that moved most, those for the worse first, with what flipped; None where none moved.

    `fallen` leaves out those that moved for the better.
    """
    rows = []
    for one in comparison.metrics.values():
        for moved in (moved for moved in one.moved if fell(one, moved) or not fallen):
            more = len(moved.flips) - _FLIPS
            lines = [str(flip) for flip in moved.flips[:_FLIPS]] + ([f"and {more} more"] if more > 0 else [])
            second = SafeText(f"{moved.second:.2f}", "red" if fell(one, moved) else "green")
            rows.append((moved.name, one.metric, f"{moved.first:.2f}", second, SafeText("\n".join(lines))))
    flipped = Column(title="flipped", fills=True)
    return make_table(["row", "metric", number("first"), number("second"), flipped], rows) if rows else None


def lens_table(lens: Lens) -> Table:
    """One line per definition, and the step where its formula parts from the first one's."""
    rows = [
        (one.definition.metric, _value(one), "" if n == 0 else one.difference or "– the same formula")
        for n, one in enumerate(lens.seen)
    ]
    return make_table(["metric", number("value"), "parts from the first at"], rows)


def formula(lens: Lens) -> str:
    """The formula that the others are held against."""
    first = lens.seen[0].definition
    return f"{first.metric}: " + ", ".join(f"{step}: {said}" for step, said in first.steps.to_dict().items())


def _value(one: DefinitionResult) -> str:
    if one.score.error is not None:
        return str(one.score.error.cause)
    return f"{one.score.value:.2f}" + ("" if one.score.convention is None else " by convention")
