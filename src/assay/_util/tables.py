"""The one kind of table that terminals show. Imported where something is drawn: rich takes long to import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from assay._util.rich_text import SafeText


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its title, and how its cells are laid out.

    Attributes:
        title: The title.
        number: Whether its cells are numbers: to the right, and never broken.
        wraps: Whether its cells may be broken; those of numbers are not.
        fills: Whether it takes the room that the others leave.
        style: The style of its cells, as rich names it.
        least: The columns of a terminal that it has at least.
        most: The columns of a terminal that it has at most.
    """

    title: str
    number: bool = False
    wraps: bool = True
    fills: bool = False
    style: str = ""
    least: int | None = None
    most: int | None = None


def number(title: str, style: str = "") -> Column:
    """Make a column of numbers."""
    return Column(title=title, number=True, style=style)


def make_table(columns: Sequence[Column | str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """Make a table.

    Args:
        columns: Its columns; a title stands for a column of texts.
        rows: The cells of each row. Texts are shown as they are: none is markup.

    Returns:
        The table, as rich draws it.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for one in (Column(title=column) if isinstance(column, str) else column for column in columns):
        table.add_column(
            SafeText(one.title), justify="right" if one.number else "left", style=one.style, overflow="fold",
            no_wrap=one.number or not one.wraps, ratio=1 if one.fills else None, min_width=one.least,
            max_width=one.most,
        )  # fmt: skip
    for row in rows:
        table.add_row(*(SafeText(cell) if isinstance(cell, str) else cell for cell in row))
    return table
