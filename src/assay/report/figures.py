"""The figures of a run that every report shows: of each metric its mean with an interval, coverage, bounds, the values.

One pass over the rows fills them (`ReportFigures`), also by the values of columns (slices).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.errors import Cause, InputError
from assay.evaluation.groups import cluster_of, value_in
from assay.evaluation.overview import Overview
from assay.evaluation.summary import Summary
from assay.records import Sample, Score

if TYPE_CHECKING:
    from assay.store.store import Row


@dataclass(slots=True)
class Figures:
    """One metric over some rows.

    Attributes:
        summary: Mean, coverage, bounds, causes.
        values: The measured values, in the order of the rows.
        rows: For each value the number of its row.
    """

    summary: Summary
    values: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def add(self, score: Score, row: int, cluster: str | None) -> None:
        """Take the score of one row into account."""
        self.summary.add(score, cluster)
        if score.measured and score.value is not None:
            self.values.append(score.value)
            self.rows.append(row)

    def worst(self, n: int) -> list[tuple[int, float]]:
        """Rows and values of the worst that are not as good as can be, the worst first."""
        higher = self.summary.direction == "higher"
        best, sign = (self.summary.high, 1.0) if higher else (self.summary.low, -1.0)
        found = ((sign * value, row, value) for value, row in zip(self.values, self.rows, strict=True) if value != best)
        return [(row, value) for _, row, value in heapq.nsmallest(n, found)]


@dataclass(slots=True)
class ReportFigures:
    """What one pass over the rows of a run finds; `metrics` limits it to those.

    Attributes:
        of: The figures of each metric.
        slices: Column -> its value in a row -> metric -> figures.
        overview: Shares of rows; filled only where rows are correlated, as `Result` has it otherwise.
    """

    metrics: Sequence[str]
    columns: Sequence[str] = ()
    cluster: str | None = None
    of: dict[str, Figures] = field(default_factory=dict)
    slices: dict[str, dict[str, dict[str, Figures]]] = field(default_factory=dict)
    overview: Overview = field(default_factory=Overview)
    _there: set[str] = field(default_factory=set)
    _known: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.of = {name: Figures(Summary(metric=name)) for name in self.metrics}
        self.slices = {column: {} for column in self.columns}

    def take(self, row: Row) -> None:
        """Take a row into account."""
        scored, sample = row.scored, row.scored.sample
        self._known.update(dict.fromkeys(sample.metadata))
        together: str | None = None
        if self.cluster is not None:
            self._value(sample, self.cluster)
            together = cluster_of(sample, self.cluster, row.number)
            self.overview.add(row.number, scored, together)
        values = tuple(self._value(sample, column) or "–" for column in self.columns)
        groups = [self.of] + [self.slices[c].setdefault(v, {}) for c, v in zip(self.columns, values, strict=True)]
        for name in self.metrics:
            score = scored.scores.get(name)
            if score is not None:
                for group in groups:
                    figures = group.setdefault(name, Figures(Summary(metric=name)))
                    figures.add(score, row.number, together)

    def add_missing(self, rows: Mapping[Cause, int]) -> None:
        """Take rows into account that belong to the run and have no scores, by cause; no slice is known of them."""
        for figures in self.of.values():
            figures.summary.add_missing(rows)

    def _value(self, sample: Sample, column: str) -> str | None:
        there, value = value_in(sample, column)
        if there:
            self._there.add(column)
        return value if there else None

    def check(self) -> None:
        """Raise InputError for a column that no row has."""
        for option, columns in (("slice", self.columns), ("cluster", [self.cluster] if self.cluster else [])):
            for column in columns:
                if column not in self._there:
                    known = ", ".join([*map(repr, list(self._known)[:20]), "language", "status"])
                    raise InputError(f"{option}: no row has the column {column!r}; there are {known}")


def gathered(
    rows: Iterable[Row], metrics: Sequence[str], columns: Sequence[str] = (), cluster: str | None = None
) -> ReportFigures:
    """The figures of these rows. Raises InputError for a column that no row has."""
    found = ReportFigures(metrics, columns, cluster)
    for row in rows:
        found.take(row)
    found.check()
    return found


def largest(groups: Mapping[str, Mapping[str, Figures]]) -> Iterator[tuple[str, Mapping[str, Figures]]]:
    """The groups of a column, those with most rows first."""
    sizes = {value: max((one.summary.total for one in of.values()), default=0) for value, of in groups.items()}
    for value in sorted(groups, key=lambda one: (-sizes[one], one)):
        yield value, groups[value]
