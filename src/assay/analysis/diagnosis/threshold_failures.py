"""Find the rows whose values are below, or above, a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay._util.tabular import ResultRows, Tabular
from assay.analysis.diagnosis.failed_rows import thresholds_for
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.stats.moments import ROUNDING


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit for the values of a metric.

    Attributes:
        metric: Name of the metric.
        limit: Number on the scale of the metric.
        below: Whether values below the limit fail. Otherwise values above it fail.
    """

    metric: str
    limit: float
    below: bool = True

    def __str__(self) -> str:
        return f"{'<' if self.below else '>'} {self.limit:g}"

    def fails(self, value: float) -> bool:
        """Whether a value is on the wrong side of the limit."""
        return value < self.limit if self.below else value > self.limit


@dataclass(frozen=True, slots=True)
class ThresholdFailure(Tabular):
    """A value of one row on the wrong side of a threshold."""

    _columns, _noun = "row=number id metric value threshold=threshold.limit", "failure"

    number: int
    id: str | None
    metric: str
    value: float
    threshold: Threshold


def default_thresholds(result: Result) -> list[Threshold]:
    """The default thresholds of the metrics of a run.

    Raises:
        InputError: The run has no metric with a default threshold.
    """
    limits = thresholds_for(result)
    return [Threshold(name, limit, below=result.metrics[name].direction == "higher") for name, limit in limits.items()]


def checked(result: Result, thresholds: Sequence[Threshold]) -> list[Threshold]:
    """Return the thresholds if they fit the run.

    Raises:
        InputError: The run does not have the metric, or the limit is outside of the metric's range.
    """
    for one in thresholds:
        try:
            thresholds_for(result, {one.metric: one.limit})
        except InputError as error:
            option = "--below" if one.below else "--above"
            raise InputError(f"{option}: {str(error).removeprefix('thresholds: ')}") from None
    return list(thresholds)


def threshold_failures(result: Result, thresholds: Sequence[Threshold]) -> ResultRows[ThresholdFailure]:
    """The values on the wrong side of the thresholds, by metric in the order given, the worst value first."""
    columns = result.score_columns()
    places: list[tuple[int, float, Threshold]] = []
    for threshold in dict.fromkeys(thresholds):
        values = columns.values(threshold.metric)
        with np.errstate(invalid="ignore"):  # NaN is no value, and fails no threshold
            failing = np.flatnonzero(values < threshold.limit if threshold.below else values > threshold.limit)
        key = values[failing] if threshold.below else -values[failing]
        places += [(int(place), float(values[place]), threshold) for place in failing[np.argsort(key, kind="stable")]]
    ids = columns.ids() if places else []
    found = [ThresholdFailure(int(columns.numbers[place]), ids[place], threshold.metric, value, threshold)
             for place, value, threshold in places]  # fmt: skip
    return ResultRows(found, ThresholdFailure)


@dataclass(frozen=True, slots=True)
class FailureSummary(Tabular):
    """How many rows are on the wrong side of thresholds, and the first of them.

    Attributes:
        counts: Threshold -> number of rows on its wrong side.
        rows: Number of rows on the wrong side of any.
        first: The failures of the first rows: those on the wrong side of most thresholds, then those with a value
            farthest from one.
    """

    _item_type = ThresholdFailure

    counts: Mapping[Threshold, int]
    rows: int
    first: Sequence[Sequence[ThresholdFailure]]

    def _items(self) -> list[ThresholdFailure]:
        return [one for row in self.first for one in row]


def summarize_failures(result: Result, thresholds: Sequence[Threshold], n: int) -> FailureSummary:
    """Count the rows on the wrong side of thresholds, and list the first `n` of them in the order of `by_row`."""
    columns = result.score_columns()
    failed = np.zeros(len(columns), dtype=np.int64)
    farthest = np.zeros(len(columns))
    counts: dict[Threshold, int] = {}
    values: dict[Threshold, np.ndarray] = {}
    for threshold in dict.fromkeys(thresholds):
        values[threshold] = columns.values(threshold.metric)
        with np.errstate(invalid="ignore"):  # NaN is no value, and fails no threshold
            distance = (threshold.limit - values[threshold]) * (1.0 if threshold.below else -1.0)
            mask = distance > 0.0
        counts[threshold] = int(mask.sum())
        failed += mask
        span = result.metrics[threshold.metric].high - result.metrics[threshold.metric].low
        scale = span if math.isfinite(span) and span > 0.0 else 1.0
        farthest[mask] = np.maximum(farthest[mask], distance[mask] / scale)
    rows = np.flatnonzero(failed)
    first = _first(rows, failed, farthest, n)
    ids = columns.some_ids(columns.numbers[first].tolist())
    return FailureSummary(counts, len(rows), [
        [ThresholdFailure(int(columns.numbers[place]), ids.get(int(columns.numbers[place])), one.metric,
                          float(values[one][place]), one)
         for one in sorted(counts, key=lambda one: thresholds.index(one)) if one.fails(float(values[one][place]))]
        for place in first.tolist()
    ])  # fmt: skip


def _first(rows: np.ndarray, failed: np.ndarray, farthest: np.ndarray, n: int) -> np.ndarray:
    """The first rows by number of failures, then distance, then place; those that cannot be among them unsorted."""
    if len(rows) > n:
        order = failed[rows] + farthest[rows] / (1.0 + farthest.max())
        rows = rows[order >= np.partition(order, len(rows) - n)[len(rows) - n] - ROUNDING]
    found: np.ndarray = rows[np.lexsort((rows, -farthest[rows], -failed[rows]))[:n]]
    return found


def by_row(result: Result, failures: Sequence[ThresholdFailure]) -> list[list[ThresholdFailure]]:
    """Group failures by row: rows with most of them first, then those with a value farthest from its threshold.

    Distances are shares of the metric's range; a range without an end counts as 1.
    """
    rows: dict[int, list[ThresholdFailure]] = {}
    for one in failures:
        rows.setdefault(one.number, []).append(one)

    def distance(one: ThresholdFailure) -> float:
        span = result.metrics[one.metric].high - result.metrics[one.metric].low
        return abs(one.value - one.threshold.limit) / (span if math.isfinite(span) and span > 0.0 else 1.0)

    return sorted(rows.values(), key=lambda of: (-len(of), -max(map(distance, of)), of[0].number))
