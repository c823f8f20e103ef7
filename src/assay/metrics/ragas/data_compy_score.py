"""ragas' DataCompy score: rows or columns of a table in the response that are those of the reference table.

Both texts are CSV with a header; rows are paired by their position, columns by their names in lower case. With m rows
(or columns) that match, recall = m / those of the reference, precision = m / those of the response, f1 = 2pr / (p + r).

rows     a pair of rows matches where all columns that both tables have are equal in it
columns  a column matches where it is equal in every pair of rows

Range 0 to 1, higher is better; ragas 0.4.3 with datacompy 0.19. Cells are numbers, truth values or texts by column, as
pandas reads them: 1 and 1.0 are equal, two empty cells too. Dates are texts, there as well: two spellings of one day
differ. The original counts all pairs of
rows as matching where the tables have no column in common; without its profile none.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Sample, Score

Mode = Literal["rows", "columns"]
Part = Literal["precision", "recall", "f1"]
Cell = int | float | bool | str | None

_EMPTY = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
#: Characters. Longer is a quotation mark that is never closed. It is Python's default for `csv.field_size_limit`, which
#: belongs to the whole process: a score must not depend on who changed it.
_LONGEST_CELL = 131_072
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


@dataclass(frozen=True)
class Table:
    """A table by its columns: name in lower case -> cells."""

    columns: dict[str, list[Cell]]
    rows: int


def read_table(text: str) -> Table | None:
    """The table that a CSV text holds; None where it has no header, a row longer than that, or an endless cell."""
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=False) if line]
    except csv.Error:
        return None
    if not lines or any(len(line) > len(lines[0]) for line in lines):
        return None
    if any(len(cell) > _LONGEST_CELL for line in lines for cell in line):
        return None
    header, rows = lines[0], lines[1:]
    names: dict[str, list[Cell]] = {}
    given: Counter[str] = Counter()
    for place, name in enumerate(header):
        cells = [row[place] if place < len(row) else "" for row in rows]
        names[_unused(name.strip().lower(), names, given)] = _typed(cells)
    return Table(names, len(rows))


def _unused(name: str, names: Mapping[str, object], given: Counter[str]) -> str:
    """A name given twice gets a number, as in pandas; `given` counts on from the last one."""
    found = name
    while found in names:
        given[name] += 1
        found = f"{name}.{given[name]}"
    return found


def _typed(cells: Sequence[str]) -> list[Cell]:
    known = [cell for cell in cells if cell not in _EMPTY]
    if known and all(cell in _TRUTH for cell in known):
        return [_TRUTH.get(cell) for cell in cells]
    texts: list[Cell] = [None if cell in _EMPTY else cell for cell in cells]
    numbers = _numbers(texts)
    return texts if numbers is None else numbers


def _numbers(cells: Sequence[Cell]) -> list[Cell] | None:
    """The cells as numbers, whole ones where all are and none is empty; None where one is no number."""
    for kind in (int, float) if None not in cells else (float,):
        try:
            return [kind(one) if isinstance(one, str) else one for one in cells]
        except ValueError:
            continue
    return None


def _pairs(a: Sequence[Cell], b: Sequence[Cell]) -> Sequence[tuple[Cell, Cell]]:
    """Two columns by rows. Texts and numbers meet as numbers where all the texts are some, else as texts."""
    rows = min(len(a), len(b))
    worded = [any(isinstance(one, str) for one in column) for column in (a, b)]
    pairs = list(zip(a, b, strict=False))
    if worded[0] == worded[1]:
        return pairs
    numbers = [_numbers(column[:rows]) for column in (a, b)]
    if numbers[0] is not None and numbers[1] is not None:
        return list(zip(*numbers, strict=True))
    # a column that is shorter than the other's gets gaps in pandas, and whole numbers with gaps are not whole there
    return [(_spelled(x, len(a) < len(b)), _spelled(y, len(b) < len(a))) for x, y in pairs]


def _spelled(cell: Cell, gaps: bool) -> str:
    if cell is None:
        return "nan"
    return str(float(cell)) if gaps and isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where both are."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def equal_cells(response: Table, reference: Table) -> dict[str, list[bool]]:
    """For each column of both tables, whether its cells are equal, by pairs of rows."""
    return {
        name: [a == b for a, b in _pairs(reference.columns[name], response.columns[name])]
        for name in reference.columns
        if name in response.columns
    }


def matching_rows(response: Table, reference: Table, *, unnamed: bool = False) -> int:
    """Pairs of rows that are equal in all common columns; without common columns none, or all with `unnamed`."""
    equal = equal_cells(response, reference)
    if not equal:
        return min(response.rows, reference.rows) if unnamed else 0
    return sum(map(all, zip(*equal.values(), strict=True)))


def matching_columns(response: Table, reference: Table) -> int:
    """Common columns that are equal in every pair of rows."""
    return sum(map(all, equal_cells(response, reference).values()))


@dataclass(frozen=True)
class DataCompyScore(SystemMetric):
    """Rows or columns of the answer's table that are those of the reference's: precision, recall or F1."""

    name: ClassVar[str] = "ragas:data_compy_score"
    needs: ClassVar = ("answer", "reference")

    mode: Mode = "rows"
    metric: Part = "f1"

    @property
    def label(self) -> str:
        shown = f"(mode={self.mode},metric={self.metric})"
        return super().label + (shown if (self.mode, self.metric) != ("rows", "f1") else "")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        tables = []
        for field in ("answer", "reference"):
            table = read_table(getattr(sample, field))
            if table is None:
                return self.skip(Cause.NOT_APPLICABLE, f"the {field} is no table in CSV")
            if not table.rows and not self.original:
                return self.skip(Cause.NOT_APPLICABLE, f"the table of the {field} has no rows")
            tables.append(table)
        response, reference = tables
        if self.mode == "rows":
            matching, sizes = matching_rows(response, reference, unnamed=self.original), (response.rows, reference.rows)
        else:
            matching = matching_columns(response, reference)
            sizes = (len(response.columns), len(reference.columns))
        precision, recall = (matching / size if size else 0.0 for size in sizes)
        values = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
        return self.make_score(values[self.metric], parts={**values, "matching": matching})


ENTRIES = (
    Entry(
        make=DataCompyScore,
        source="ragas.metrics.collections.DataCompyScore",
        compared="ragas 0.4.3",
        family="similarity",
        steps=Steps("rows of the answer's table", "the reference", "equal cells", "F1"),
        empty="NaN where a text is no table; 0 for tables without rows",
        also=("data_compare_score",),
        example={"answer": "id,year\n1,1931\n2,1940", "reference": "id,year\n1,1931\n2,1941"},
    ),
)
