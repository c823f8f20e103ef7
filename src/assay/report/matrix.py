"""Several runs compared: one table for each metric, for terminals, as Markdown and as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay._util.markdown import escape, table
from assay._util.terminal import pluralize
from assay.evaluation.display.lines import NOTHING
from assay.report.comparison_table import COLOURS, p_in_words

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from assay.analysis.comparison.matrix import ComparisonMatrix
    from assay.analysis.comparison.metric_diff import MetricDiff, Verdict


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A run against another one by one metric, in words."""

    verdict: Verdict
    difference: str = ""
    interval: str = ""
    p: str = ""
    n: str = "0"

    def __str__(self) -> str:
        known = f", {self.difference} ({self.interval}), p = {self.p}" if self.p else ""
        return f"{self.verdict}{known}, n = {self.n}"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A run by one metric: its mean and rank, and a cell for each run that it was compared with."""

    run: str
    mean: str
    rank: str
    cells: Sequence[MatrixCell | None]


def matrix_rows(matrix: ComparisonMatrix, metric: str) -> list[MatrixRow]:
    """The rows of the matrix of one metric; mean and rank are those on the rows with a value in all runs."""
    ranks = {one.run: one for one in matrix.ranks[metric]}
    rows = []
    for run in matrix.runs:
        pairs = [matrix.pair(first, run) for first in matrix.baselines]
        cells = [None if one is None else _cell(one.metrics[metric]) for one in pairs]
        mean = f"{ranks[run].mean:.3f}" if run in ranks else NOTHING
        rows.append(MatrixRow(run, mean, str(ranks[run]) if run in ranks else NOTHING, cells))
    return rows


def _cell(one: MetricDiff) -> MatrixCell:
    if one.difference is None or one.p is None or one.verdict == "unchanged":
        return MatrixCell(one.verdict, n=str(one.pairs))
    by = one.difference.estimate
    interval = f"{by.low:+.3f} to {by.high:+.3f}"
    return MatrixCell(one.verdict, f"{by.mean:+.3f}", interval, p_in_words(one.p), str(one.pairs))


def matrix_caption(matrix: ComparisonMatrix, metric: str) -> str:
    """The metric, and the number of rows on which the runs are ranked."""
    rows = next((one.rows for one in matrix.ranks[metric]), 0)
    return f"{metric}: mean and rank on {rows} rows with a value in all runs" if rows else metric


def matrix_facts(matrix: ComparisonMatrix) -> list[str]:
    """What stands below the matrices: how to read them, refusals, notes."""
    tests = f"{pluralize(len(matrix.comparisons), 'pair')} and {pluralize(len(matrix.metrics), 'metric')}"
    found = [f"A row against a column, {matrix.confidence:.0%} intervals; n: rows with a value in both; "
             f"p corrected for {tests}."]  # fmt: skip
    found += [f"{one.second} against {one.first}: {one.refusals}." for one in matrix.comparisons if one.refusals]
    return [*found, *matrix.notes]


def matrix_table(matrix: ComparisonMatrix, metric: str) -> Table:
    """The matrix of one metric, as rich draws it: with one baseline a line for each run."""
    from assay._util.rich_text import SafeText
    from assay._util.tables import Column, make_table, number

    def stacked(cell: MatrixCell | None) -> Text:
        if cell is None:
            return SafeText("")
        text = SafeText(cell.verdict, COLOURS[cell.verdict])
        return text.append(f"\n{cell.difference}\n{cell.interval}\np {cell.p}" if cell.p else "", "not bold default")

    rows = matrix_rows(matrix, metric)
    heads: list[Column | str] = ["run", number("mean"), "rank", *(f"against {run}" for run in matrix.baselines)]
    if len(matrix.baselines) > 1:
        return make_table(heads, [(row.run, row.mean, row.rank, *map(stacked, row.cells)) for row in rows])
    heads += ["difference", number("p"), number("n")]
    lines = []
    for row in rows:
        cell = row.cells[0]
        verdict = SafeText("") if cell is None else SafeText(cell.verdict, COLOURS[cell.verdict])
        told = ("", "", "") if cell is None else (_difference(cell), cell.p, cell.n)
        lines.append((row.run, row.mean, row.rank, verdict, *told))
    return make_table(heads, lines)


def _difference(cell: MatrixCell) -> str:
    return f"{cell.difference}\n({cell.interval})" if cell.p else ""


def matrix_markdown(matrix: ComparisonMatrix) -> Iterator[str]:
    """The lines of a Markdown file."""
    yield f"### {len(matrix.runs)} runs compared"
    for metric in matrix.metrics:
        yield f"\n{escape(matrix_caption(matrix, metric))}\n"
        rows = [
            (escape(row.run), row.mean, row.rank, *("" if cell is None else str(cell) for cell in row.cells))
            for row in matrix_rows(matrix, metric)
        ]
        yield from table(("run", "mean", "rank", *(f"against {escape(run)}" for run in matrix.baselines)), rows, "mean")
    yield ""
    yield from (f"- {escape(fact)}" for fact in matrix_facts(matrix))
