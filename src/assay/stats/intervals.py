"""An interval around a mean of bounded scores: one method for proportions, graded scores and rows that hang together.

    centre  (m + t²/2n*) / (1 + t²/n*)
    half    t / (1 + t²/n*) · sqrt(m(1 - m)/n* + t²/4n*²)
    n*      m(1 - m) / variance of the mean

with m the mean on the scale from 0 (worst possible) to 1 and t Student's quantile. That is Wilson's interval for a
proportion (1927), of as many independent yes-or-no answers as would leave the mean as uncertain as it is (Dean and
Pagano, J. Surv. Stat. Methodol. 3(4), 2015; Franco et al., ibid. 7(3), 2019, for samples in clusters). It never leaves
the range, and needs no special case where all scores are equal.

The variance of the mean of clusters is that of their sums (Liang and Zeger 1986), never less than that of independent
rows. Its degrees of freedom are those of the clusters, weighted by their sizes, for the part of it that lies between
clusters, and those of the rows for the rest (Satterthwaite 1946). Variances of few rows miss what is rare and far: of
graded scores the one farthest from the mean counts once more (of clusters `FARTHEST_CLUSTER` times, and `PRIOR` of one
that is all at the far end). The weights are set by simulation: tests/stats/test_coverage.py.

Scores that all lie near one end (a judge that says 0.998 of good rows) vary little because no bad row is among them,
not because there is none. Of n rows that are all good, a share of up to 1 - L may be bad, where L is the lower end of
Wilson's interval of n of n (the exact form is the "rule of three": Hanley and Lippman-Hand, JAMA 249, 1983).
So the interval reaches at least as far as the mean would move if that share of rows lay at the other end. This holds in
full where all scores are within a tenth of the range of the end and lean on it, and less the farther they reach and the
more they are a bell of their own. Scores that are even over the last tenth, with 3 % of bad ones, look in half of all
samples of 20 as if none were bad (0.97^20 = 54 %), and Student's interval holds their mean in 47 %. Where no row is bad
the interval is longer than it would have to be: no method can tell. And of yes-or-no
answers of which a few are of one kind, Wilson's interval ends too early beside them (of 20 rows with 1 in 200 bad it
holds the truth in 90 %): there it reaches as far as the exact one (Clopper and Pearson, Biometrika 26, 1934).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.distributions import beta_cdf, t_quantile
from assay.stats.moments import ROUNDING, Moments

if TYPE_CHECKING:
    from assay.stats.arrays import Floats

#: How often the score, or the cluster, that is farthest from the mean counts besides.
FARTHEST, FARTHEST_CLUSTER = 1.0, 0.6
#: How much of a cluster at the far end counts as seen.
PRIOR = 0.02
#: Shares of the range: scores that all lie within `NEAR` of one end count as rows of which no bad one was seen, those
#: that reach `FAR` from it as graded, and those within `AT` as the end itself.
AT, NEAR, FAR = 0.02, 0.05, 0.25
#: Scores are piled up at an end where the nearest is this many times nearer than the farthest.
STEEP = 15.0
#: Their mean distance from an end in standard deviations: up to the first they lean on it (1 of an exponential fall,
#: 1.7 of scores that are even up to the end), from the second on they are a bell beside it.
LEANING = (2.1, 2.9)
#: Shares of the range: scores that lean on an end count as rows of which no bad one was seen where all are within the
#: first of it, and those that reach the second as graded.
REACH = (0.1, 0.3)
#: Yes-or-no answers of one kind, among ten times as many or more, beside which Wilson's interval ends too early.
EXACT = 5


@dataclass(frozen=True, slots=True)
class Estimate(Tabular):
    """A mean and where the true one lies, with the given confidence.

    Attributes:
        n: Scores.
        clusters: Groups of scores that hang together; as many as scores where nothing was said.
        error: The standard error of the mean, on the scale of the scores; None for a single score.
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
    values: Sequence[float] | Floats,
    low: float = 0.0,
    high: float = 1.0,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """The mean of scores in [low, high] with its interval; None where there are none.

    One score, or one cluster, says nothing of how much scores differ: the interval is the range then. A range without
    an end gives Student's interval, which is honest for many rows only. Raises InputError for values outside the range,
    clusters of another number, and a confidence outside (0, 1).

    Args:
        clusters: For each score what it hangs together with: a document, a conversation. None: all are independent.
    """
    from assay.stats.arrays import checked, grouped

    if not low < high:
        raise InputError(f"low, high: expected low below high, got {low} and {high}")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    x = checked(values, low, high, clusters)
    if not x.size:
        return None
    width = high - low
    graded = math.isfinite(width) and bool((abs(abs(2.0 * x - low - high) - width) > 2.0 * ROUNDING * width).any())
    mean = float(x.mean())
    found = Moments(x.size, mean, float(((x - mean) ** 2).sum()), float(x.min()), float(x.max()), graded)
    if clusters is None:
        return _estimate(found, None, low, high, confidence)
    sizes, sums = grouped(x - mean, clusters)
    return _estimate(found, list(zip(sizes.tolist(), sums.tolist(), strict=True)), low, high, confidence)


def estimate_of(found: Moments, low: float = 0.0, high: float = 1.0, confidence: float = 0.95) -> Estimate | None:
    """As `estimate`, of scores that were taken in one at a time."""
    if not found.n:
        return None
    if found.clusters is None:
        return _estimate(found, None, low, high, confidence)
    clusters = [(float(n), total - n * found.mean) for n, total in found.clusters.values()]
    return _estimate(found, clusters, low, high, confidence)


def _estimate(
    found: Moments, clusters: Sequence[tuple[float, float]] | None, low: float, high: float, confidence: float
) -> Estimate:
    """`clusters`: of each its size and the sum of its deviations from the mean; None: each score is one."""
    mean, n = found.mean, found.n
    count = n if clusters is None else len(clusters)
    if count == 1:
        return Estimate(mean, low, high, n, 1, None, confidence)
    # that a row is in, on average
    size = 1.0 if clusters is None else sum(size * size for size, _ in clusters) / n
    width = high - low
    variance, freedom = _variance(found, clusters, width, size)
    t = t_quantile(0.5 + confidence / 2.0, freedom)
    error = math.sqrt(variance)
    if not math.isfinite(width):
        return Estimate(mean, mean - t * error, mean + t * error, n, count, error, confidence)
    share = min(1.0, max(0.0, (mean - low) / width))
    spread = share * (1.0 - share)
    # where all scores are equal, each cluster counts as one answer
    differ = error > ROUNDING * width and spread
    effective = spread * width**2 / variance if differ else n / size
    bottom, top = wilson(share, effective, t)
    if found.graded:
        least, most = _unseen(found, share, n / size, low, width, confidence)
    else:
        least, most = beside_few(share, n, confidence) if count == n else (share, share)
    return Estimate(mean, low + width * min(bottom, least), low + width * max(top, most), n, count, error, confidence)


def _unseen(found: Moments, share: float, n: float, low: float, width: float, confidence: float) -> tuple[float, float]:
    """How far the mean of graded scores would move by bad rows of which none was seen, and by good ones."""
    squared = t_quantile(0.5 + confidence / 2.0, max(n - 1.0, 0.5)) ** 2
    missed = squared / (n + squared)
    least, most = (found.least - low) / width, (found.most - low) / width
    spread = math.sqrt(found.squares / (found.n - 1)) / width
    return (
        share * (1.0 - missed * leaning(1.0 - share, spread, 1.0 - least)),
        1.0 - (1.0 - share) * (1.0 - missed * leaning(share, spread, most)),
    )


def beside_few(share: float, n: float, confidence: float) -> tuple[float, float]:
    """The exact end beside a few of n answers, of one kind; the share itself where there are none, or more."""
    few = n * min(share, 1.0 - share)
    if few < 1e-9 or few > EXACT + 0.5 or 10.0 * few > n * (1.0 + 1e-9):
        return share, share
    end = _exact(round(few, 9), round(n, 9), confidence)
    return (end, share) if share < 0.5 else (share, 1.0 - end)


@lru_cache(maxsize=1024)
def _exact(k: float, n: float, confidence: float) -> float:
    """The lower end of the exact interval of a share, k of n (Clopper and Pearson, Biometrika 26, 1934)."""
    low, high = 0.0, k / n
    for _ in range(50):
        middle = (low + high) / 2.0
        above = beta_cdf(middle, k, n - k + 1.0) > (1.0 - confidence) / 2.0
        low, high = (low, middle) if above else (middle, high)
    return low


def leaning(distance: float, spread: float, farthest: float) -> float:
    """From 0 to 1 how much scores look like those of good rows at an end, in shares of the range.

    Args:
        distance: That of their mean from the end.
        spread: Their standard deviation.
        farthest: The distance of the one that is farthest from the end.
    """
    even = _fading(distance / spread, *LEANING) if spread > ROUNDING else 0.0
    return max(even, _fading(farthest, AT, NEAR)) * _fading(farthest, *REACH)


def piled(nearest: float, farthest: float) -> float:
    """From 0 to 1 how much scores are piled up at an end, by how far they are from it, in shares of the range.

    That is, all are near it, and the nearest much nearer than the farthest (or all so near that this tells nothing).
    """
    steep = max(1.0 - STEEP * nearest / farthest, _fading(farthest, AT, NEAR)) if farthest > 0.0 else 1.0
    return max(0.0, steep) * _fading(farthest, NEAR, FAR)


def _fading(distance: float, start: float, end: float) -> float:
    """1 up to the start, 0 from the end on."""
    return min(1.0, max(0.0, (end - distance) / (end - start)))


def _variance(
    found: Moments, clusters: Sequence[tuple[float, float]] | None, width: float, size: float
) -> tuple[float, float]:
    """The variance of the mean, and its degrees of freedom. `size`: of the cluster that a row is in, on average."""
    n = found.n
    if clusters is None or len(clusters) == n:
        far = FARTHEST * found.farthest if found.graded else 0.0  # nothing lies farther out than the ends
        return (found.squares + far) / (n - 1) / n, n - 1.0
    of_clusters = max(n / size - 1.0, 0.5)
    alone = found.squares * n / (n - 1)
    if not alone:
        return 0.0, of_clusters
    count = len(clusters)
    sums = [total * total for _, total in clusters]
    between = (math.fsum(sums) + FARTHEST_CLUSTER * max(sums)) * count / (count - 1)
    prior = PRIOR * width**2 * size if math.isfinite(width) else 0.0
    design = max(1.0, (between + prior * size) / (alone + prior))
    share = min(1.0, (design - 1.0) / (size - 1.0) * size / design)  # of the variance that lies between clusters
    freedom = 1.0 / (share**2 / of_clusters + (1.0 - share) ** 2 / (n - 1))
    return design * alone / n**2, freedom


def wilson(share: float, n: float, t: float) -> tuple[float, float]:
    """Wilson's interval of a share of n answers, n above 0 and not always whole; t is the quantile it goes by."""
    squared = t * t / n
    centre = (share + squared / 2.0) / (1.0 + squared)
    half = math.sqrt(max(0.0, share * (1.0 - share) * squared + squared**2 / 4.0)) / (1.0 + squared)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))  # but for rounding
