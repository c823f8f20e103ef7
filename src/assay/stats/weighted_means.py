"""The interval of a weighted mean of bounded scores, for a window that is over: Wilson's at the effective sample size.

    mean      sum of w x / sum of w
    variance  C/(C - 1) · sum over clusters of (sum of w (x - mean))² / (sum of w)²

(the ratio estimator of a sample in clusters: Cochran, Sampling Techniques, 1977, 6.3), never less than that of
independent rows. With equal weights it is `assay.stats.estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from assay.errors import InputError
from assay.stats.arrays import Floats, checked, effective, grouped
from assay.stats.distributions import t_quantile
from assay.stats.intervals import Estimate, estimate, wilson

#: A deviation of this share of the range counts as seen besides: of few rows the rare and far is missing.
_UNSEEN = 0.5


def weighted_estimate(
    values: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    low: float = 0.0,
    high: float = 1.0,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Estimate the mean of a population from weighted scores.

    Args:
        values: Scores in [low, high].
        weights: Inverse sampling rates. None: all the same.
        low, high: The range of the scores.
        clusters: What rows hang together by. None: all are independent.
        confidence: Probability that the interval holds the mean.

    Returns:
        The mean and its interval; None where there are no scores. One row or one cluster gives the whole range.

    Raises:
        InputError: A value is out of range, a weight is not above 0, or lengths differ.
    """
    x = checked(values, low, high, clusters)
    weight = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
    if weight.shape != x.shape:
        raise InputError(f"weights: expected one for each of {x.size} values, got {weight.size}")
    if not bool(((weight > 0.0) & np.isfinite(weight)).all()):
        raise InputError("weights: expected numbers above 0")
    if not x.size or float(weight.min()) == float(weight.max()):
        return estimate(x.tolist(), low, high, clusters=clusters, confidence=confidence)
    weight = weight / weight.max()
    total = float(weight.sum())
    mean = float(weight @ x) / total
    off = weight * (x - mean)
    _, sums = grouped(off, clusters)
    count = sums.size
    if count < 2:
        return Estimate(mean, low, high, x.size, count, None, confidence)
    width = high - low
    alone = float(off @ off) * x.size / (x.size - 1)
    between = float(sums @ sums) * count / (count - 1)
    spread = total * total / effective(weight)  # the sum of squared weights
    few = (_UNSEEN * width) ** 2 * spread / x.size if math.isfinite(width) else 0.0
    variance = (max(alone, between) + few) / total**2
    freedom = max(1.0, min(count - 1.0, effective(weight) - 1.0))
    t, error = t_quantile(0.5 + confidence / 2.0, freedom), math.sqrt(variance)
    if not math.isfinite(width):
        return Estimate(mean, mean - t * error, mean + t * error, x.size, count, error, confidence)
    share = min(1.0, max(0.0, (mean - low) / width))
    # no scores in a range vary more than those at its ends, as many as they are: n is not below that, also near an end,
    # where what was not seen would outweigh what was
    least = effective(weight) * (min(1.0, alone / between) if between > 0.0 else count / x.size)
    n = max(least, share * (1.0 - share) * width**2 / variance)
    bottom, top = wilson(share, n, t)
    return Estimate(mean, low + width * bottom, low + width * top, x.size, count, error, confidence)
