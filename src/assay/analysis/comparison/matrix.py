"""Three or more runs compared: each with the first, or each with each, on the rows that two of them share.

found = compare_runs([Result.load("monday"), Result.load("tuesday"), Result.load("wednesday")])
print(found)
found.pair("monday", "wednesday").metrics["faithfulness"].verdict
found.ranks["faithfulness"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from assay._util.tabular import Tabular, record_of
from assay.analysis.comparison.compare import CONFIDENCE, Comparison, check_judges, comparison_of, notes_of
from assay.analysis.comparison.family import Family
from assay.analysis.comparison.metric_diff import MetricDiff, Pairs
from assay.analysis.comparison.pairing import RunRows, match_rows, matching_places, read_rows, shared_metrics
from assay.errors import InputError, printable
from assay.evaluation.result import Result
from assay.records.range_ends import plain_values
from assay.stats.run_ranks import rank_runs


@dataclass(frozen=True, slots=True)
class RunRank(Tabular):
    """The rank of a run by one metric, on the rows with a value in all runs.

    Attributes:
        rank: 1 for the best; runs of one mean share the better rank.
        low, high: Bootstrap interval of the rank, over rows or clusters.
        rows: Rows with a value in all runs.
    """

    run: str
    mean: float
    rank: int
    low: int
    high: int
    rows: int

    def __str__(self) -> str:
        return f"{self.rank} ({self.low} to {self.high})" if self.low < self.high else str(self.rank)


@dataclass(frozen=True, slots=True)
class ComparisonMatrix(Tabular):
    """Several runs, compared in pairs.

    Attributes:
        runs: Their names, in the order in which they were given.
        comparisons: One for each pair, the earlier run first. Their p-values are corrected for all pairs and metrics.
        ranks: Metric -> the rank of each run, in the order of `runs`; empty where no row has a value in all runs.
    """

    _item_type = MetricDiff

    def _title(self) -> str:
        return f"{', '.join(self.runs)}: {len(self.comparisons)} comparisons"

    def _items(self) -> list[dict[str, Any]]:
        return [
            {"run": one.second, "baseline": one.first, **record_of(diff)}
            for one in self.comparisons
            for diff in one.metrics.values()
        ]

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    ranks: Mapping[str, tuple[RunRank, ...]] = field(default_factory=dict)
    confidence: float = CONFIDENCE

    @property
    def baselines(self) -> tuple[str, ...]:
        """The runs that others are compared with: the first, or all but the last."""
        return tuple(dict.fromkeys(one.first for one in self.comparisons))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of any pair, each sentence once."""
        return tuple(dict.fromkeys(note for one in self.comparisons for note in one.notes))

    def pair(self, first: str, second: str) -> Comparison | None:
        """The comparison of two runs; None where this pair was not compared."""
        return next((one for one in self.comparisons if (one.first, one.second) == (first, second)), None)

    def __str__(self) -> str:
        lines = []
        for metric in self.metrics:
            ranks = [f"{one.run} {one}" for one in self.ranks[metric]]
            lines.append(f"{metric}: rank {', '.join(ranks)}" if ranks else f"{metric}: no row has a value in all runs")
            lines += [f"  {one.second} against {one.first}: {one.metrics[metric].sentence}" for one in self.comparisons]
        lines += [f"{one.second} against {one.first}: {one.refusals}" for one in self.comparisons if one.refusals]
        return printable("\n".join([*lines, *self.notes]))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return plain_values(self)


def compare_runs(
    results: Sequence[Result],
    metrics: str | Sequence[str] | None = None,
    *,
    each: bool = False,
    cluster: str | None = None,
    confidence: float = CONFIDENCE,
    any_judge: bool = False,
) -> ComparisonMatrix:
    """Compare several runs with the first one, or each with each.

    The p-values are corrected for all pairs and metrics together (Holm), by the test that `compare` uses by default.

    Args:
        results: The runs; the first one is the baseline.
        metrics: Names of metrics. None: all that every run has.
        each: Compare each run with each, in place of each with the first.
        cluster: A column of the data. Rows with the same value are correlated and count as one cluster.
        confidence: Confidence of intervals, verdicts and ranks.
        any_judge: Also compare runs of different judges, whose scales may differ.

    Returns:
        A comparison for each pair, without moved rows and slices, and the rank of each run by each metric.

    Raises:
        InputError: For fewer than two runs, two runs of one name, and as `compare`.
    """
    runs = tuple(one.run for one in results)
    if len(runs) < 2 or len(set(runs)) < len(runs):
        raise InputError(f"runs: expected two or more with different names, got {', '.join(runs) or 'none'}")
    for other in results[1:]:
        check_judges(results[0], other, any_judge)
    names = _metrics_of_all(results, metrics)
    rows = [read_rows(one, names, cluster) for one in results]
    places = [(a, b) for a, b in combinations(range(len(runs)), 2) if each or a == 0]
    matched = [match_rows(results[a], results[b], rows[a], rows[b], cluster) for a, b in places]
    judged = iter(
        Family(confidence, by_cluster=cluster is not None).judge(
            [Pairs(name, one) for one in matched for name in names]
        )
    )
    comparisons = tuple(
        comparison_of(results[a], results[b], one, [next(judged) for _ in names], confidence,
                      notes_of(results[a], results[b], names))
        for (a, b), one in zip(places, matched, strict=True)
    )  # fmt: skip
    ranks = {name: _ranked(runs, rows, name, cluster is not None, confidence) for name in names}
    return ComparisonMatrix(runs, tuple(names), comparisons, ranks, confidence)


def _metrics_of_all(results: Sequence[Result], metrics: str | Sequence[str] | None) -> list[str]:
    """The metrics that are meant; by default those that every run has. Raises InputError as `shared_metrics`."""
    names = shared_metrics(results[0], results[1], metrics)
    for other in results[2:]:
        if metrics is not None:
            shared_metrics(results[0], other, names)
        names = [name for name in names if name in other.metrics]
    if not names:
        raise InputError(f"the runs {', '.join(one.run for one in results)} have no metric in common")
    return names


def _ranked(
    runs: Sequence[str], rows: Sequence[RunRows], metric: str, by_cluster: bool, confidence: float
) -> tuple[RunRank, ...]:
    """The ranks by one metric, on the rows with a value in all runs."""
    places = [np.arange(len(rows[0]))]
    for other in rows[1:]:
        here, there = matching_places(rows[0].columns.pairing_keys(), other.columns.pairing_keys())
        found = np.full(len(rows[0]), -1, dtype=np.int64)
        found[here] = there
        places.append(found)
    values = np.array([
        np.where(at >= 0, of.scores(metric).values[at] if len(of) else np.nan, np.nan)
        for of, at in zip(rows, places, strict=True)
    ])  # fmt: skip
    whole = np.flatnonzero(~np.isnan(values).any(axis=0))
    if not len(whole):
        return ()
    direction = rows[0].range(metric).direction
    ranks = rank_runs(
        values[:, whole].tolist(),
        higher=direction == "higher",
        clusters=rows[0].cluster_names(whole) if by_cluster else None,
        confidence=confidence,
    )
    return tuple(
        RunRank(run, one.mean, one.rank, one.low, one.high, len(whole)) for run, one in zip(runs, ranks, strict=True)
    )
