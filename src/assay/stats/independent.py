"""The difference of the means of two independent samples, such as two weeks of traffic.

The interval is put together from those of both means (the method of variance estimates recovery: Newcombe, Stat. Med.
17, 1998; Zou and Donner, Stat. Med. 27, 2008):

    low   d - sqrt((b - its low)² + (a's high - a)²),  d = b - a
    high  d + sqrt((b's high - b)² + (a - its low)²)

p is that of the interval which just holds 0: the reach towards 0 counts as t standard errors, with the degrees of
freedom of Welch (Biometrika 34, 1947).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from assay.stats.arrays import Floats
from assay.stats.distributions import t_quantile, t_tail
from assay.stats.intervals import Estimate
from assay.stats.paired import Difference, detectable
from assay.stats.weighted_means import weighted_estimate


def independent_difference(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    low: float = 0.0,
    high: float = 1.0,
    *,
    weights: tuple[Floats | None, Floats | None] = (None, None),
    clusters: tuple[Sequence[Hashable] | None, Sequence[Hashable] | None] = (None, None),
    confidence: float = 0.95,
) -> Difference | None:
    """Estimate how much higher the mean of the second sample is.

    Args:
        first: Scores in [low, high].
        second: Scores of other rows in the same range.
        low: Least score that there can be.
        high: Greatest score that there can be.
        weights: Of the first and of the second: how many samples each row stands for. None: all as many.
        clusters: Of the first and of the second: what rows are correlated by. None: all are independent.
        confidence: Probability that the interval holds the difference.

    Returns:
        The difference; None where one sample is empty.

    Raises:
        InputError: As `weighted_estimate`.
    """
    a = weighted_estimate(first, weights[0], low, high, clusters=clusters[0], confidence=confidence)
    b = weighted_estimate(second, weights[1], low, high, clusters=clusters[1], confidence=confidence)
    if a is None or b is None:
        return None
    mean, width = b.mean - a.mean, high - low
    down = math.hypot(b.mean - b.low, a.high - a.mean)
    up = math.hypot(b.high - b.mean, a.mean - a.low)
    errors = None if a.error is None or b.error is None else math.hypot(a.error, b.error)
    count = a.clusters + b.clusters
    found = Estimate(mean, max(-width, mean - down), min(width, mean + up), a.n + b.n, count, errors, confidence)
    return Difference(a.mean, b.mean, found, _p(a, b, down if mean > 0.0 else up), detectable(found, width))


def _p(a: Estimate, b: Estimate, reach: float) -> float:
    """Two-sided; 1 where the means are equal, or one sample says nothing of how much scores differ."""
    off = abs(b.mean - a.mean)
    if a.error is None or b.error is None or not off or not reach:
        return 1.0
    freedom = _freedom(a, b)
    return t_tail(off / reach * t_quantile(0.5 + a.confidence / 2.0, freedom), freedom)


def _freedom(a: Estimate, b: Estimate) -> float:
    largest = max(a.error or 0.0, b.error or 0.0)
    if not largest:
        return max(1.0, a.clusters + b.clusters - 2.0)
    one, other = (((found.error or 0.0) / largest) ** 2 for found in (a, b))  # squares of tiny ones are 0
    return (one + other) ** 2 / (one**2 / max(1, a.clusters - 1) + other**2 / max(1, b.clusters - 1))
