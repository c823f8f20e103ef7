"""Two runs compared, for terminals: the verdicts in colour, and what moved as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from assay._util.rich_text import SafeText

if TYPE_CHECKING:
    from assay.analysis.lens import DefinitionResult, Lens

from typing import TYPE_CHECKING

from assay.analysis.comparison.metric_diff import verdict_in_words
from assay.analysis.comparison.sentences import fell
from assay.errors import printable

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.metric_diff import MetricDiff

_FLIPS = 3  # of a row that are shown


_COLOURS = {"better": "bold green", "worse": "bold red", "cannot tell": "yellow"}


def headline_in_colour(comparison: Comparison) -> SafeText:
    """The headline, with each verdict in its colour."""
    text = SafeText(comparison.headline)
    for verdict, style in _COLOURS.items():
        shown = verdict_in_words(verdict)
        text.highlight_regex(rf"(?<=[:;] ){shown}(?= on )", style)
    return text


def compared_in_colour(one: MetricDiff) -> SafeText:
    """What is said of one metric, with its verdict in its colour."""
    text, before = SafeText(str(one)), len(printable(f"{one.metric}: "))
    if one.difference is not None:
        text.stylize(_COLOURS[one.verdict], before, before + len(verdict_in_words(one.verdict)))
    return text


def moved_table(comparison: Comparison, *, fallen: bool = False) -> Table | None:
    """The rows that moved most, those for the worse first, with what flipped; None where none moved.

    `fallen` leaves out those that moved for the better.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("metric", overflow="fold")
    for title in ("first", "second"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("flipped", overflow="fold", ratio=1)
    for one in comparison.metrics.values():
        for moved in (moved for moved in one.moved if fell(one, moved) or not fallen):
            more = len(moved.flips) - _FLIPS
            lines = [str(flip) for flip in moved.flips[:_FLIPS]] + ([f"and {more} more"] if more > 0 else [])
            second = SafeText(f"{moved.second:.2f}", "red" if fell(one, moved) else "green")
            flips = SafeText("\n".join(lines))
            table.add_row(SafeText(moved.name), SafeText(one.metric), f"{moved.first:.2f}", second, flips)
    return table if table.row_count else None


def lens_table(lens: Lens) -> Table:
    """One line per definition, and the step where its formula parts from the first one's."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("parts from the first at", overflow="fold")
    for number, one in enumerate(lens.seen):
        where = "" if number == 0 else one.difference or "– the same formula"
        table.add_row(SafeText(one.definition.metric), SafeText(_value(one)), SafeText(where))
    return table


def formula(lens: Lens) -> str:
    """The formula that the others are held against."""
    first = lens.seen[0].definition
    return f"{first.metric}: " + ", ".join(f"{step}: {said}" for step, said in first.steps.to_dict().items())


def _value(one: DefinitionResult) -> str:
    if one.score.error is not None:
        return str(one.score.error.cause)
    return f"{one.score.value:.2f}" + ("" if one.score.convention is None else " by convention")
