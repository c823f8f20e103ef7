"""The figures of a run that every report shows: of each metric its mean with an interval, coverage, bounds, the values.

`gathered` makes them from the columns of a run, also by the values of slice keys.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.errors import Cause, InputError
from assay.evaluation.groups import clusters_of, groups_of, keys_in_words
from assay.evaluation.overview import Overview
from assay.evaluation.stored_figures import facts_of
from assay.evaluation.summary import Summary
from assay.stats.arrays import places_by_value
from assay.store.columns import NO_SCORE, MetricRange, MetricScores, RunColumns


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

    def worst(self, n: int) -> list[tuple[int, float]]:
        """Rows and values of the worst that are not as good as can be, the worst first."""
        higher = self.summary.direction == "higher"
        best, sign = (self.summary.high, 1.0) if higher else (self.summary.low, -1.0)
        found = ((sign * value, row, value) for value, row in zip(self.values, self.rows, strict=True) if value != best)
        return [(row, value) for _, row, value in heapq.nsmallest(n, found)]


@dataclass(slots=True)
class ReportFigures:
    """What the columns of a run say; `metrics` limits it to those.

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

    def add_missing(self, rows: Mapping[Cause, int]) -> None:
        """Take rows into account that belong to the run and have no scores, by cause; no slice is known of them."""
        for figures in self.of.values():
            figures.summary.add_missing(rows)


def gathered(
    rows: RunColumns, metrics: Sequence[str], columns: Sequence[str] = (), cluster: str | None = None
) -> ReportFigures:
    """The figures of these rows."""
    clusters = None if cluster is None else np.array(clusters_of(rows, cluster), dtype=object)
    found = ReportFigures(metrics, columns, cluster, slices={column: {} for column in columns})
    if clusters is not None:
        found.overview = Overview.of_columns(rows, facts_of(rows), clusters.tolist())
    places = {column: places_by_value(groups_of(rows, column)) for column in columns}
    everything = np.arange(len(rows), dtype=np.int64)
    for name in metrics:
        ends = rows.metrics.get(name)
        if ends is None:
            found.of[name] = Figures(Summary(metric=name))
            continue
        scores = rows.scores(name)
        found.of[name] = _figures(name, ends, scores, rows, everything, clusters)
        for column, values in places.items():
            for value, here in values.items():
                if (scores.codes[here] != NO_SCORE).any():
                    of = found.slices[column].setdefault(value, {})
                    of[name] = _figures(name, ends, scores, rows, here, clusters)
    return found


def check_columns(rows: RunColumns, columns: Sequence[str], cluster: str | None) -> None:
    """Raise InputError for a column that no row has."""
    for option, names in (("slice", columns), ("cluster", [cluster] if cluster else [])):
        for name in names:
            if all(value is None for value in rows.column(name)):
                raise InputError(f"{option}: no row has the column {name!r}; there are {keys_in_words(rows)}")


def _figures(
    name: str, ends: MetricRange, scores: MetricScores, rows: RunColumns, places: np.ndarray,
    clusters: np.ndarray | None,
) -> Figures:  # fmt: skip
    some = scores.where(places)
    together = None if clusters is None else clusters[places].tolist()
    measured = ~np.isnan(some.values)
    summary = Summary.of_columns(name, ends, some, together)
    return Figures(summary, some.values[measured].tolist(), rows.numbers[places][measured].tolist())


def largest(groups: Mapping[str, Mapping[str, Figures]]) -> Iterator[tuple[str, Mapping[str, Figures]]]:
    """The groups of a column, those with most rows first."""
    sizes = {value: max((one.summary.total for one in of.values()), default=0) for value, of in groups.items()}
    for value in sorted(groups, key=lambda one: (-sizes[one], one)):
        yield value, groups[value]
