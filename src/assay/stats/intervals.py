"""An interval around a mean of bounded scores: one method for proportions, graded scores and rows that hang together.

    centre  (m + t²/2n*) / (1 + t²/n*)
    half    t / (1 + t²/n*) · sqrt(m(1 - m)/n* + t²/4n*²)
    n*      m(1 - m) / variance of the mean

with m the mean on the scale from 0 (worst possible) to 1 and t Student's quantile. That is Wilson's interval for a
proportion (1927), of as many independent yes-or-no answers as would leave the mean as uncertain as it is (Dean and
Pagano, J. Surv. Stat. Methodol. 3(4), 2015; Franco et al., ibid. 7(3), 2019, for samples in clusters). It never leaves
the range, and needs no special case where all scores are equal.

The variance of the mean of clusters is that of their sums (Liang and Zeger 1986), never less than that of independent
rows; the degrees of freedom are those of the clusters, weighted by their sizes. Variances of few rows miss what is rare
and far: of graded scores the one farthest from the mean counts once more (of clusters half as much, and `PRIOR` of one
that is all at the far end). The weights are set by simulation: tests/stats/test_coverage.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.stats.distributions import t_quantile

Floats = npt.NDArray[np.float64]

#: How often the score, or the cluster, that is farthest from the mean counts besides.
FARTHEST, FARTHEST_CLUSTER = 1.0, 0.5
#: How much of a cluster at the far end counts as seen.
PRIOR = 0.1
_ROUNDING = 1e-12  # of the range: what equal scores differ by


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and where the true one lies, with the given confidence.

    n         scores
    clusters  groups of scores that hang together; as many as scores where nothing was said
    error     the standard error of the mean, on the scale of the scores; None for a single score
    """

    mean: float
    low: float
    high: float
    n: int
    clusters: int
    error: float | None
    confidence: float = 0.95

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def estimate(
    values: Sequence[float],
    low: float = 0.0,
    high: float = 1.0,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """The mean of scores in [low, high] with its interval; None where there are none.

    clusters  for each score what it hangs together with: a document, a conversation. None: all are independent.

    One score, or one cluster, says nothing of how much scores differ: the interval is the range then. A range without
    an end gives Student's interval, which is honest for many rows only. Raises InputError for values outside the range,
    clusters of another number, and a confidence outside (0, 1).
    """
    x = np.asarray(values, dtype=float)
    _check(x, low, high, clusters, confidence)
    if not x.size:
        return None
    mean, n = float(x.mean()), x.size
    sizes, sums = grouped(x - mean, clusters)
    if len(sizes) == 1:
        return Estimate(mean, low, high, n, 1, None, confidence)
    alike = n / float((sizes**2).sum())  # one over the size of the cluster that a row is in, on average
    width = high - low
    variance = _variance(x, sizes, sums, low, high)
    t = t_quantile(0.5 + confidence / 2.0, max(n * alike - 1.0, 0.5))
    error = math.sqrt(variance)
    if not math.isfinite(width):
        return Estimate(mean, mean - t * error, mean + t * error, n, len(sizes), error, confidence)
    share = (mean - low) / width
    spread = share * (1.0 - share)
    # where all scores are equal, each cluster counts as one answer
    differ = error > _ROUNDING * width and spread
    effective = spread * width**2 / variance if differ else n * alike
    bottom, top = _wilson(share, effective, t)
    return Estimate(mean, low + width * bottom, low + width * top, n, len(sizes), error, confidence)


def _variance(x: Floats, sizes: Floats, sums: Floats, low: float, high: float) -> float:
    """The variance of the mean; `sums` are the deviations from it, summed by cluster."""
    n, found = x.size, len(sizes)
    squares = (x - x.mean()) ** 2
    bounded = math.isfinite(high - low)
    if found == n:
        ends = np.minimum(abs(x - low), abs(x - high)) <= _ROUNDING * (high - low) if bounded else x == x
        graded = not ends.all()  # nothing lies farther out than the ends
        return float(squares.sum() + FARTHEST * graded * squares.max()) / (n - 1) / n
    alone = float(squares.sum()) * n / (n - 1)
    if not alone:
        return 0.0
    between = float((sums**2).sum() + FARTHEST_CLUSTER * (sums**2).max()) * found / (found - 1)
    size = float((sizes**2).sum()) / n
    prior = PRIOR * (high - low) ** 2 * size if bounded else 0.0
    return max(1.0, (between + prior * size) / (alone + prior)) * alone / n**2


def _wilson(share: float, n: float, t: float) -> tuple[float, float]:
    squared = t * t / n
    centre = (share + squared / 2.0) / (1.0 + squared)
    half = math.sqrt(max(0.0, share * (1.0 - share) * squared + squared**2 / 4.0)) / (1.0 + squared)
    return max(0.0, centre - half), min(1.0, centre + half)


def grouped(deviations: Floats, clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """The size of each cluster, and the sum of its deviations."""
    if clusters is None:
        return np.ones(deviations.size), deviations
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=int)
    return np.bincount(index).astype(np.float64), np.bincount(index, weights=deviations).astype(np.float64)


def _check(x: Floats, low: float, high: float, clusters: Sequence[Hashable] | None, confidence: float) -> None:
    if not low < high:
        raise InputError(f"low, high: expected low below high, got {low} and {high}")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    wrong = np.flatnonzero(~((x >= low - 1e-9) & (x <= high + 1e-9) & np.isfinite(x)))
    if wrong.size:
        raise InputError(f"values: expected numbers from {low} to {high}; value {wrong[0] + 1} is {x[wrong[0]]}")
    if clusters is not None and len(clusters) != x.size:
        raise InputError(f"clusters: expected one for each of {x.size} values, got {len(clusters)}")
