"""A short table as text and as HTML: how results show themselves in a terminal and in a notebook."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any

from assay._util.terminal import pluralize, shortened, width
from assay.errors import printable

TEXT_LINES = 20  # of a text, all counted
TEXT_ROWS = 12  # rows of a table in a text
TEXT_FIELDS = 16  # rows of a list of fields in a text: it has no line of titles
TEXT_CELL = 60  # columns of a terminal that a text has in a table, where there is no room for more
HTML_ROWS = 30
HTML_COLUMNS = 14
HTML_CELL = 200  # characters
HTML_LINE = 400  # characters of a title or a note
NOTES = 2
TITLE = 3  # lines of a text, at most
LISTED = 5  # items of a list or a mapping in one cell
NARROWEST = 20  # columns of a terminal: a table leaves columns out before a text has less
EMPTY: tuple[Any, ...] = (0, False, None, "", (), [], {})
GAP = 2  # blanks between columns
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class TableView:
    """What a result shows of itself.

    Attributes:
        title: The first line.
        records: Column -> value, one mapping a row; only the first rows are read.
        total: Number of rows.
        fields: Whether the rows are names with values, so that no line of titles is needed.
        notes: Sentences under the table.
    """

    title: str
    records: Iterable[Mapping[str, Any]]
    total: int
    fields: bool = False
    notes: Sequence[str] = field(default=())

    def head(self, most: int) -> tuple[list[str], list[list[Any]]]:
        """The names of the columns that are not empty, and the values of the first rows."""
        records = list(islice(self.records, most)) if not self.fields or self.total <= most else self._telling(most)
        named = dict.fromkeys(name for record in records for name in record)
        names = [name for name in named if self.fields or any(record.get(name) not in EMPTY[2:] for record in records)]
        return names, [[record.get(name) for name in names] for record in records]

    def _telling(self, most: int) -> list[Mapping[str, Any]]:
        """The fields that are neither 0 nor empty, where there is no room for all."""
        return list(islice((record for record in self.records if record["value"] not in EMPTY), most))

    def more(self, shown: int) -> list[str]:
        """The line about the rows that are not shown; none where all are."""
        empty = " are 0 or empty" if self.fields else ""
        return [f"… {self.total - shown:,} more{empty}"] if self.total > shown else []


def plain_value(value: Any, most: int | None = None) -> Any:
    """A value as a cell holds it: None, a bool, a number or a text.

    Args:
        value: Any value. The items of lists and mappings are joined, those of records are shown by their `str`.
        most: Number of items of a list or mapping that are named. None: all.
    """
    if isinstance(value, Enum):
        return plain_value(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return _joined((f"{name} {_part(one)}" for name, one in value.items()), len(value), most, ", ")
    if isinstance(value, (list, tuple, set, frozenset)):
        return _joined(map(_part, value), len(value), most, "; ")
    return str(value)


def _joined(parts: Iterable[str], total: int, most: int | None, between: str) -> str:
    named = list(islice(parts, most))
    return between.join(named + ([f"… {total - len(named):,} more"] if total > len(named) else []))


def _part(value: Any) -> str:
    plain = plain_value(value, LISTED)
    return f"{plain:g}" if isinstance(plain, float) else str(plain)


def cell_text(value: Any, most: int) -> str:
    """A value on one line of at most `most` characters, in which all can be seen."""
    plain = plain_value(value, LISTED)
    if plain is None or plain == "":
        return NOTHING
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, float):
        return _decimal(plain)
    if isinstance(plain, int):
        return str(plain) if abs(plain) < 10**15 else f"{float(plain):.3g}" if abs(plain) < 10**300 else "…"
    return _line(plain, most)


def _decimal(value: float) -> str:
    usual = value == 0.0 or 0.001 <= abs(value) < 1e6
    return f"{value:.3f}" if usual or not math.isfinite(value) else f"{value:.3g}"


def _line(text: str, most: int) -> str:
    cut = text[: 4 * most]  # before anything is done to it: it may be of megabytes
    found = shortened(printable(cut), most)
    return found if len(cut) == len(text) or found.endswith("…") else f"{found[: most - 1]}…"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- text ------------------------------------------------------------------------------------------------------------


def view_as_text(view: TableView, columns: int | None = None) -> str:
    """The table as text of at most 20 lines.

    Args:
        view: What is shown.
        columns: Greatest width of a line. None: the width of the terminal, from 60 to 140; 110 without a terminal.
    """
    wide = width() if columns is None else columns
    names, rows = view.head(TEXT_FIELDS if view.fields else TEXT_ROWS)
    table = _text_table(names, rows, wide, titles=not view.fields)
    notes = [_cut(_line(note, wide), wide) for note in islice(view.notes, NOTES)]
    title = textwrap.wrap(_line(view.title, TITLE * wide), wide)[:TITLE]
    lines = [*(_cut(line, wide) for line in title), *table, *view.more(len(rows)), *notes]
    return "\n".join(line.rstrip() for line in lines[:TEXT_LINES])


def _text_table(names: Sequence[str], rows: Sequence[Sequence[Any]], wide: int, titles: bool) -> list[str]:
    """The lines of a table in which each row has one line. Columns for which there is no room are left out."""
    if not names:
        return []
    cells = [[cell_text(value, wide) for value in row] for row in rows]
    heads = [_line(name, TEXT_CELL) for name in names]
    numbers = [all(value is None or is_number(value) for value in column) for column in zip(*rows, strict=True)]
    table = [heads, *cells] if titles else cells
    widths = _widths(table, numbers, wide)
    lines = [
        (" " * GAP).join(_cut(cell, size, right) for cell, size, right in zip(row, widths, numbers, strict=False))
        for row in table
    ]
    left = len(names) - len(widths)
    more = [f"… {pluralize(left, 'more column')}"] if left else []
    return [*lines, *more]


def _widths(table: Sequence[Sequence[str]], numbers: Sequence[bool], wide: int) -> list[int]:
    """The widths of as many columns as there is room for, the first ones."""
    from rich.cells import cell_len

    natural = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    least = [size if right else min(size, NARROWEST) for size, right in zip(natural, numbers, strict=True)]
    least[-1] = min(least[-1], wide) if len(least) == 1 else least[-1]
    kept = len(natural)
    while kept > 1 and sum(least[:kept]) + GAP * (kept - 1) > wide:
        kept -= 1
    return _shared(natural[:kept], least[:kept], wide - GAP * (kept - 1))


def _shared(natural: list[int], least: Sequence[int], room: int) -> list[int]:
    """Each column as wide as it would be, the widest ones narrower where there is no room for that."""
    sizes = list(natural)
    while (over := sum(sizes) - room) > 0:
        widest = max(range(len(sizes)), key=lambda n: (sizes[n] - least[n] > 0, sizes[n]))
        spare = sizes[widest] - least[widest]
        if spare <= 0:
            break
        second = max((size for n, size in enumerate(sizes) if n != widest and size < sizes[widest]), default=0)
        sizes[widest] -= min(over, spare, max(1, sizes[widest] - second))
    return sizes


def _cut(text: str, size: int, right: bool = False) -> str:
    """A text in so many columns of a terminal, cut with "…" or filled with blanks."""
    from rich.cells import cell_len, set_cell_size

    text = text if len(text) <= 2 * size else text[: 2 * size]  # marks without a width of their own count as well
    if cell_len(text) > size:
        return set_cell_size(text, size - 1).rstrip() + "…"
    fill = " " * (size - cell_len(text))
    return fill + text if right else text + fill


# ---- HTML ------------------------------------------------------------------------------------------------------------


def escaped(text: str, most: int = HTML_LINE) -> str:
    """A text for HTML: escaped, in which all can be seen, on one line of at most `most` characters."""
    return html.escape(_line(text, most))


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[bool] = ()) -> str:
    """A table of cells that are HTML already.

    Args:
        heads: Titles of the columns.
        rows: The cells. Those of columns in `texts` stand at the left: notebooks put cells at the right.
        texts: For each column whether it has texts.
    """
    sides = [f' style="{"text-align:left" if text else "white-space:nowrap"}"' for text in texts] or [""] * len(heads)
    head = "".join(f"<th{side}>{title}</th>" for title, side in zip(heads, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{cell}</td>' for cell, side in zip(row, sides, strict=True))}</tr>" for row in rows
    )
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if any(heads) else ''}<tbody>{body}</tbody></table>"


def view_as_html(view: TableView) -> str:
    """The table as an HTML fragment of at most 30 rows, without scripts, colours and addresses."""
    names, rows = view.head(HTML_ROWS)
    kept = names[:HTML_COLUMNS]
    texts = [not all(value is None or is_number(value) for value in column) for column in zip(*rows, strict=True)]
    table = html_table(
        ["" if view.fields else escaped(name) for name in kept],
        ([html.escape(cell_text(value, HTML_CELL)) for value in row[:HTML_COLUMNS]] for row in rows),
        texts[:HTML_COLUMNS],
    )
    left = [f"… {pluralize(len(names) - len(kept), 'more column')}"] if len(names) > len(kept) else []
    notes = [*view.more(len(rows)), *left, *islice(view.notes, HTML_ROWS)]
    under = "".join(f"<p>{escaped(note)}</p>" for note in notes)
    return f"<div><p><strong>{escaped(view.title)}</strong></p>{table if kept else ''}{under}</div>"
