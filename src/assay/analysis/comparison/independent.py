"""Two runs that share no rows, such as two weeks of traffic: compared as independent samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from assay._util.tabular import ResultRows
from assay.analysis.comparison.metric_diff import MetricDiff, MovedRow, Pairs
from assay.analysis.comparison.pairing import RunRows
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.records import Direction
from assay.stats.arrays import Floats, places_by_value
from assay.stats.classic import Method
from assay.stats.independent import independent_difference
from assay.store.columns import NO_SCORE, Integers

#: Slice keys by which rows of live traffic are correlated, the first that rows have.
CLUSTERS = ("conversation", "conversation_id", "session_id", "thread_id", "user", "user_id")


def are_independent(first: Result, second: Result) -> bool:
    """Whether the runs are windows, or parts of one run, whose rows are not the same ones."""
    selections = [one.selection for one in (first, second) if one.selection is not None]
    if any(selection.window is not None for selection in selections):
        return True
    return bool(selections) and _of_one_run(first, second)


def _of_one_run(first: Result, second: Result) -> bool:
    return (first.store.name, first.stored_run) == (second.store.name, second.stored_run)


def check_independent(first: Result, second: Result, cluster: str | None) -> None:
    """Raise InputError for rows that are in both, and for a cluster that no row has."""
    if _of_one_run(first, second):
        shared = np.intersect1d(first.score_columns().numbers, second.score_columns().numbers)
        if len(shared):
            raise InputError(
                f"{len(shared):,} rows are in {first.run!r} and in {second.run!r}: compare windows that do not "
                "overlap, such as shop@14d..7d and shop@7d"
            )
    if cluster is not None and not any(
        any(value is not None for value in one.score_columns().column(cluster)) for one in (first, second)
    ):
        raise InputError(f"cluster: no row has the column {cluster!r}")


def cluster_key(results: Sequence[Result]) -> str | None:
    """The slice key by which rows of traffic are correlated; None where no row has one."""
    for key in CLUSTERS:
        if any(any(value is not None for value in one.score_columns().column(key)) for one in results):
            return key
    return None


@dataclass(frozen=True, slots=True)
class RunSample:
    """Some rows of a run."""

    rows: RunRows
    places: Integers

    def values(self, metric: str) -> tuple[Floats, Integers]:
        """The measured values, and the places of their rows."""
        found: Floats = self.rows.scores(metric).values[self.places]
        there = ~np.isnan(found)
        return found[there], self.places[there]

    def scored(self, metric: str) -> int:
        """Rows that have a score of the metric, also one without a value."""
        return int((self.rows.scores(metric).codes[self.places] != NO_SCORE).sum())

    def weights(self, places: Integers) -> Floats:
        """How many samples the rows at these places stand for."""
        found: Floats = self.rows.columns.weights[places]
        return found


class IndependentRows(Pairs):
    """The rows of two runs, for one metric."""

    def __init__(self, metric: str, first: RunSample, second: RunSample) -> None:
        self.metric, self._one, self._other = metric, first, second

    @property
    def _direction(self) -> Direction:
        return self._one.rows.range(self.metric).direction

    def _range(self) -> tuple[float, float]:
        ends = [one.rows.range(self.metric) for one in (self._one, self._other)]
        return min(one.low for one in ends), max(one.high for one in ends)

    def compared(self, by_cluster: bool, confidence: float, method: Method = "sign-flip") -> MetricDiff:
        """The difference, before any correction."""
        (a, here), (b, there) = self._one.values(self.metric), self._other.values(self.metric)
        scored = self._one.scored(self.metric) + self._other.scored(self.metric)
        missing = scored - len(a) - len(b)
        low, high = self._range()
        names: tuple[Sequence[Hashable] | None, Sequence[Hashable] | None] = (None, None)
        if by_cluster:
            names = self._one.rows.cluster_names(here), self._other.rows.cluster_names(there)
        found = independent_difference(
            a, b, low, high, weights=(self._one.weights(here), self._other.weights(there)), clusters=names,
            confidence=confidence,
        )  # fmt: skip
        if found is None:
            return MetricDiff(self.metric, self._direction, len(a), missing, second_rows=len(b))
        moved = int(found.estimate.mean != 0.0)
        return MetricDiff(self.metric, self._direction, len(a), missing, found, improved=moved, second_rows=len(b))

    def moved(self, first: Result, second: Result, most: int) -> tuple[MovedRow, ...]:
        """None: no row is in both."""
        return ResultRows((), MovedRow)


def samples_of(first: RunRows, second: RunRows) -> tuple[RunSample, RunSample]:
    """All rows of both runs. Raises InputError where one has none."""
    for rows in (first, second):
        if not len(rows):
            raise InputError(f"run {rows.run!r} has no rows to compare")
    one, other = (RunSample(rows, np.arange(len(rows), dtype=np.int64)) for rows in (first, second))
    return one, other


def slices_of(
    one: RunSample, other: RunSample, columns: Sequence[str]
) -> dict[tuple[str, str], tuple[RunSample, RunSample]]:
    """The rows by column and value, of values that both runs have. Raises InputError for a column that no row has."""
    found: dict[tuple[str, str], tuple[RunSample, RunSample]] = {}
    for column in columns:
        before, after = (_by_value(sample, column) for sample in (one, other))
        if not before and not after:
            raise InputError(f"by: no row has the column {column!r}")
        for value, places in before.items():
            if value in after:
                found[column, value] = RunSample(one.rows, places), RunSample(other.rows, after[value])
    return found


def _by_value(sample: RunSample, column: str) -> dict[str, Integers]:
    values = [value or "" for value in sample.rows.values[column]]
    return {value: places for value, places in places_by_value(values).items() if value}
