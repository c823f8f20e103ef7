"""What moved between two runs, as a table for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from assay.report.seen import SeenText

if TYPE_CHECKING:
    from assay.comparison import Comparison

_FLIPS = 3  # of a row that are shown


def moved_table(comparison: Comparison) -> Table | None:
    """The rows that moved most, those for the worse first, with what flipped; None where none moved."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("metric", overflow="fold")
    for title in ("first", "second"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("flipped", overflow="fold", ratio=1)
    for one in comparison.metrics.values():
        for moved in one.moved:
            more = len(moved.flips) - _FLIPS
            lines = [str(flip) for flip in moved.flips[:_FLIPS]] + ([f"and {more} more"] if more > 0 else [])
            table.add_row(
                SeenText(moved.name), SeenText(one.metric), f"{moved.first:.2f}", f"{moved.second:.2f}",
                SeenText("\n".join(lines)),
            )  # fmt: skip
    return table if table.row_count else None
