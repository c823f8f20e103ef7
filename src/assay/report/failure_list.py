"""Rows on the wrong side of a threshold, for terminals: counts by metric, and a line for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay._util.tables import Column, make_table, number
from assay._util.text_lines import wrapped_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.analysis.diagnosis.threshold_failures import FailureSummary, ThresholdFailure
    from assay.evaluation.result import Result

_LONGEST_NAME = 36  # characters of a metric's name that are never broken, in 60 columns
_INDENT = 4


def failure_counts(result: Result, failures: FailureSummary) -> RenderableType:
    """How many rows are on the wrong side of each threshold, of those with a value."""
    thresholds = list(failures.counts)
    lines = [
        (one.metric, str(one), f"{count:,} of {result.metrics[one.metric].scored:,}")
        for one, count in failures.counts.items()
    ]
    name = Column(title="metric", least=min(_LONGEST_NAME, max((len(one.metric) for one in thresholds), default=0)))
    return make_table([name, Column(title="threshold", wraps=False), number("failed rows", "red")], lines)


def failure_rows(rows: Sequence[Sequence[ThresholdFailure]], columns: int) -> RenderableType:
    """Each row with its number, id and values."""
    from rich.console import Group

    lines = []
    for row in rows:
        named = "" if row[0].id is None else f" ({row[0].id[:40]})"
        values = ", ".join(f"{one.metric} {one.value:.3f}" for one in row)
        lines += wrapped_lines(f"row {row[0].number}{named}: {values}", columns, hanging=_INDENT)
    return Group(*lines)
