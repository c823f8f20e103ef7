"""What a report says first: better, worse, inconclusive or unchanged, and what could have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from assay._util.terminal import pluralize
from assay.errors import printable
from assay.evaluation.completeness import rows_in_words

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.metric_diff import MetricDiff, MovedRow
    from assay.evaluation.result import Result

Word = Literal["better", "worse", "mixed", "inconclusive", "unchanged", "no baseline"]
NAMED = 3  # metrics of which is said what would have shown


def word_of(comparison: Comparison | None) -> Word:
    """All metrics in one word; "mixed" where some are better and some worse."""
    if comparison is None:
        return "no baseline"
    said = {one.verdict for one in comparison.metrics.values()}
    if {"better", "worse"} <= said:
        return "mixed"
    order: tuple[Word, ...] = ("worse", "better", "inconclusive", "unchanged")
    return next((word for word in order if word in said), "inconclusive")


def sentence_of(result: Result, comparison: Comparison | None) -> str:
    """The verdict in one sentence; without a baseline, that there is none to be better or worse than."""
    if comparison is not None:
        return printable(f"{comparison.second} against {comparison.first}: {comparison.headline}")
    rows = rows_in_words(result.rows, result.lost)
    means = [f"{name} {one.mean:.3f}" for name, one in result.metrics.items() if one.mean is not None]
    found = f": {', '.join(means)}" if means else ", and none of them has a value"
    return printable(f"{result.run} by itself, {rows}{found}; name a baseline to compare it with")


def detectable_difference(comparison: Comparison | None) -> str | None:
    """What difference would have shown where none can be told; None where every metric has its verdict."""
    if comparison is None:
        return None
    said = [_detectable_text(one) for one in comparison.metrics.values() if one.verdict == "inconclusive"]
    more = f"; and {len(said) - NAMED} more below" if len(said) > NAMED else ""
    return printable(f"Minimum detectable effect: {'; '.join(said[:NAMED])}{more}.") if said else None


def _detectable_text(one: MetricDiff) -> str:
    if one.difference is None:
        return f"none on {one.metric}, which has no row with a value in both runs"
    if one.difference.detectable is None:
        return f"none on {one.metric} with {pluralize(one.pairs, 'row')}"
    return f"{one.difference.detectable:.2f} on {one.metric} with {pluralize(one.pairs, 'row')}"


def regressions(comparison: Comparison | None) -> list[tuple[MetricDiff, MovedRow]]:
    """The rows that moved for the worse, metric by metric, those that moved most first; of metrics that are worse the
    rows stand before those of others.
    """
    if comparison is None:
        return []
    found = [(one, moved) for one in comparison.metrics.values() for moved in one.moved if fell(one, moved)]
    return sorted(found, key=lambda pair: (pair[0].verdict != "worse", -abs(pair[1].second - pair[1].first)))


def regressions_there(comparison: Comparison | None) -> int:
    """How many rows moved for the worse, counted once for each metric; `regressions` has the largest of them."""
    return 0 if comparison is None else sum(one.worsened for one in comparison.metrics.values())


def fell(one: MetricDiff, moved: MovedRow) -> bool:
    """Whether the row moved for the worse."""
    return (moved.second < moved.first) == (one.direction == "higher")
