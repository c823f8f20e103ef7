"""The weighted mean of a window with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.live.alerts.columns import Floats
    from assay.store.columns import MetricRange


@dataclass(frozen=True, slots=True)
class WindowMean:
    """A mean with its 95% interval.

    Attributes:
        mean: The weighted mean.
        low: Lower end of the interval.
        high: Upper end.
        effective_n: Effective sample size: rows of equal weight, or clusters, that say as much (Kish, Survey Sampling,
            1965, 11.7).
    """

    mean: float
    low: float
    high: float
    effective_n: float


def window_mean(
    values: Floats, weights: Floats, scale: MetricRange, clusters: Sequence[Hashable] | None = None
) -> WindowMean | None:
    """Estimate the weighted mean of scores: see `assay.stats.weighted_means`.

    Args:
        values: Finite scores in the range.
        weights: Their weights, above 0.
        scale: The range of the metric.
        clusters: For each score what it is correlated with. None: all are independent.

    Returns:
        The mean; None where there are no scores.
    """
    from assay.stats.arrays import effective, grouped
    from assay.stats.weighted_means import weighted_estimate

    found = weighted_estimate(values, weights, scale.low, scale.high, clusters=clusters)
    if found is None:
        return None
    sizes = weights if clusters is None else grouped(weights, clusters)[1]
    return WindowMean(found.mean, found.low, found.high, effective(sizes))
