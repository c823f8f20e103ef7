"""The mean that people would give, from a judge's scores of all rows and people's labels of a few of them.

    mean   c (mean of the judge on all N rows) + weighted mean of (label - c judge) on the n labelled rows

Prediction-powered inference (Angelopoulos et al., Science 382, 2023). Labels chosen with unequal probabilities count by
one over these, and the judge's mean is that of all rows (Zrnic and Candes, arXiv 2403.03208, eq. 2; Horvitz and
Thompson's difference estimator: Sarndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, ch. 6): the rest
is no sample of the run where rows that the judge is unsure of are labelled more often. No probability is above 1, so no
label stands for less than itself, and all of them stand for N rows together (ibid., sec. 3.6.3).

With equal probabilities it is w (mean of the judge on the rest) + mean of (label - w judge), w = c (N - n) / N. This w
is the one of least variance ("PPI++": Angelopoulos, Duchi and Zrnic, arXiv 2311.01453): at w = 0 it is the mean of the
labels, at 1 the judge's mean on the rest plus how far it was off. Rows of one cluster are one witness, labelled or not.
Where the judge's errors are rare, a few labels make the variance, which is then known with few degrees of freedom
(Satterthwaite, Biom. Bull. 2, 1946).

A weight that was found on the very labels that it is used on bends the mean towards the judge and makes the interval
too narrow. So that of each row is found without it, on the other nine of ten folds (`interval="normal"` does not: it is
what ppi-python computes).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.agreement import TINY
from assay.stats.arrays import Floats, effective
from assay.stats.distributions import normal_quantile, t_quantile
from assay.stats.intervals import beside_few, wilson

#: Parts of the labels for which the weight is found apart.
FOLDS = 10


@dataclass(frozen=True, slots=True)
class CorrectedMean(Tabular):
    """A mean corrected for the judge's error, with its interval.

    judged      the mean of the judge over all rows, labelled or not
    alone       the mean of the labels, with the interval that they alone give
    weight      how much the judge's scores count, in [0, 1]
    labelled    rows with a label and a score; `unlabelled` have a score only
    witnesses   labelled clusters of one size and weight that would say as much (Kish)
    error       standard error of `mean`
    correlation of labels and judge, None where one of them never changes
    differ      whether the labels are not all alike
    narrower    by which share the interval is narrower than that of the labels alone
    """

    mean: float
    low: float
    high: float
    judged: float
    alone: float
    alone_low: float
    alone_high: float
    weight: float
    labelled: int
    unlabelled: int
    error: float
    correlation: float | None
    witnesses: float
    differ: bool
    confidence: float = 0.95

    @property
    def narrower(self) -> float:
        alone = self.alone_high - self.alone_low
        return 1.0 - (self.high - self.low) / alone if alone > 0.0 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class _Parts:
    """Labels, the judge on them and on the rest, the weights of the labels (mean 1), and the numbers of clusters."""

    truth: Floats
    judged: Floats
    rest: Floats
    weight: Floats
    clusters: npt.NDArray[np.int64]

    @property
    def n(self) -> int:
        return int(self.truth.size)

    @property
    def rows(self) -> int:
        return int(self.truth.size + self.rest.size)

    @property
    def every(self) -> Floats:
        """The judge on all rows."""
        return np.concatenate([self.judged, self.rest])

    @property
    def equal(self) -> bool:
        """Whether all labels have one weight: both kinds of rows are samples of the run then."""
        return bool(np.ptp(self.weight) <= 1e-12)

    def left(self, w: float | Floats) -> Floats:
        """For each label, what the mean would be by it alone: `mean(w)` is the mean of these. `w`: one, or one each."""
        if not self.rest.size:
            return self.truth
        left: Floats = self.truth - w * self.rows / self.rest.size * (self.judged - self.every.mean())
        return left

    def mean(self, w: float | Floats) -> float:
        return float((self.weight * self.left(w)).mean())

    def variance(self, w: float | Floats) -> float:
        """Of `mean(w)`: of the sums over clusters of what each row adds, as a label and by the judge's mean.

        What the judge says is taken from its mean; of a sample with equal weights from that of each kind of row.
        """
        adds = self.weight * (self.left(w) - self.mean(w)) / self.n
        if self.rest.size:
            centres = (self.judged.mean(), self.rest.mean()) if self.equal else (self.every.mean(),) * 2
            by_judge = [one - centre for one, centre in zip((self.judged, self.rest), centres, strict=True)]
            adds = np.concatenate([adds, np.zeros(self.rest.size)])
            adds += np.mean(w) / self.rest.size * np.concatenate(by_judge)
        return float((np.bincount(self.clusters[: adds.size], adds) ** 2).sum())

    def freedom(self, w: float | Floats) -> float:
        """The degrees of freedom of `variance`: few where a few labels make most of it (Satterthwaite 1946)."""
        sums = np.bincount(self.clusters[: self.n], self.weight * (self.left(w) - self.mean(w)))
        squares = sums[np.unique(self.clusters[: self.n])] ** 2
        most, spread = max(self.witnesses - 1.0, 0.5), float(squares.var())
        if spread <= 0.0:
            return most
        return round(min(most, max(1.0, 2.0 * float(squares.mean()) ** 2 * squares.size / spread)), 6)

    def without(self, fold: npt.NDArray[np.bool_]) -> _Parts:
        """All but these labels."""
        keep = ~fold
        clusters = np.concatenate([self.clusters[: self.n][keep], self.clusters[self.n :]])
        weight = self.weight[keep]
        return _Parts(self.truth[keep], self.judged[keep], self.rest, weight / weight.mean(), clusters)

    @property
    def witnesses(self) -> float:
        """How many labelled clusters of one size and weight would say as much (Kish)."""
        return effective(np.bincount(self.clusters[: self.n], self.weight))


def corrected_mean(
    truth: Sequence[float],
    judged: Sequence[float],
    rest: Sequence[float],
    low: float = 0.0,
    high: float = 1.0,
    *,
    weights: Sequence[float] | None = None,
    clusters: Sequence[Hashable] | None = None,
    rest_clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    interval: Literal["bounded", "normal"] = "bounded",
) -> CorrectedMean | None:
    """The mean of what people would say of all rows; None with fewer than two labels, or two labelled clusters.

    The labelled rows must be a random sample of all (with `weights`: one with those probabilities), and the rest all
    others. Raises InputError
    for lists of unequal lengths, values outside the range or not finite, and weights that are not positive.

    Args:
        truth: People's labels, in [low, high]; `judged` is what the judge says of the same rows.
        rest: What the judge says of the rows that nobody labelled.
        weights: Of the labels: one over the probability with which each row was chosen, up to a factor.
        clusters: What each labelled row hangs together with, `rest_clusters` the same of the others.
        interval: "bounded" has Student's quantile and Wilson's shape, within the range; "normal" is mean +- z errors.
    """
    parts = _checked(truth, judged, rest, low, high, weights, clusters, rest_clusters)
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    labelled = parts.clusters[: parts.n]
    if parts.n < 2 or len(np.unique(labelled)) < 2:
        return None
    w = _best_weight(parts) if interval == "normal" else _weights_of_folds(parts)
    mean = parts.mean(w)
    found = _ends(parts, w, mean, low, high, confidence, interval)
    alone = parts.mean(0.0)
    by_labels = _ends(parts, 0.0, alone, low, high, confidence, interval)
    return CorrectedMean(
        mean=mean if interval == "normal" else min(high, max(low, mean)),
        low=found[0],
        high=found[1],
        judged=float(parts.every.mean()),
        alone=alone,
        alone_low=by_labels[0],
        alone_high=by_labels[1],
        weight=float(np.mean(w)),
        labelled=parts.n,
        unlabelled=int(parts.rest.size),
        error=math.sqrt(parts.variance(w)),
        correlation=_correlation(parts),
        witnesses=parts.witnesses,
        differ=bool(np.ptp(parts.truth) > 0.0),
        confidence=confidence,
    )


def _weights_of_folds(parts: _Parts) -> Floats:
    """For each label the best weight by the labels of other folds; clusters are not torn."""
    _, cluster = np.unique(parts.clusters[: parts.n], return_inverse=True)
    folds = min(FOLDS, int(cluster.max()) + 1)
    found = np.zeros(parts.n)
    for fold in range(folds):
        inside = cluster % folds == fold
        found[inside] = _best_weight(parts.without(inside))
    return found


def _best_weight(parts: _Parts) -> float:
    """The w of least variance, in [0, 1]: cov(truth, judge) / ((1 + n/N) var(judge)), n labelled and N other rows.

    With unequal weights, and where rows hang together, the w is that at which the variance, a parabola of w, has its
    lowest point.
    """
    if not parts.rest.size:
        return 0.0
    if parts.equal and len(np.unique(parts.clusters)) == parts.rows:
        spread = float(parts.every.var(ddof=1))
        shared = float(((parts.truth - parts.truth.mean()) * (parts.judged - parts.judged.mean())).mean())
        best = shared / ((1.0 + parts.n / parts.rest.size) * spread) if spread > 0.0 else 0.0
    else:
        none, half, whole = (parts.variance(w) for w in (0.0, 0.5, 1.0))
        bend = 2.0 * (none - 2.0 * half + whole)  # variance = bend w^2 + slope w + none
        slope = whole - none - bend
        best = -slope / (2.0 * bend) if bend > 1e-18 else 0.0
    return min(1.0, max(0.0, best))


def _ends(
    parts: _Parts, w: float | Floats, mean: float, low: float, high: float, confidence: float, interval: str
) -> tuple[float, float]:
    variance, tail = parts.variance(w), 0.5 + confidence / 2.0
    if interval == "normal":
        reach = normal_quantile(tail) * math.sqrt(variance)
        return mean - reach, mean + reach
    few = parts.witnesses
    variance *= few / max(few - 1.0, 0.5)  # residuals from a mean that was estimated from them
    t = t_quantile(tail, parts.freedom(w) if np.any(w) else max(few - 1.0, 0.5))
    if not math.isfinite(high - low):
        return mean - t * math.sqrt(variance), mean + t * math.sqrt(variance)
    width = high - low
    share = min(1.0, max(0.0, (mean - low) / width))
    # where nothing differs, and where the mean lies at an end, each labelled cluster counts as one answer
    spread = share * (1.0 - share) * width**2
    n = spread / variance if variance > 1e-14 * width**2 and spread > 0.0 else few
    ends = (*wilson(share, n, t), *beside_few(share, n, confidence))
    return low + width * min(ends), low + width * max(ends)


def rows_each(weight: Floats, rows: int) -> Floats:
    """How many rows each label stands for, from weights up to a factor: one at least, and `rows` together.

    Those whose probability would be above 1 were certain to be chosen, and the factor is that of the others.
    """
    sure = np.zeros(weight.size, dtype=bool)
    while not sure.all():
        each = weight * ((rows - sure.sum()) / weight[~sure].sum())
        more = ~sure & (each < 1.0)
        if not more.any():
            return np.where(sure, 1.0, each)
        sure |= more
    return np.ones(weight.size)


def _correlation(parts: _Parts) -> float | None:
    a, b = (
        np.sqrt(parts.weight) * (one - np.average(one, weights=parts.weight)) for one in (parts.truth, parts.judged)
    )
    size = math.sqrt(float((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / size if size > 1e-12 else None


def _checked(
    truth: Sequence[float],
    judged: Sequence[float],
    rest: Sequence[float],
    low: float,
    high: float,
    weights: Sequence[float] | None,
    clusters: Sequence[Hashable] | None,
    rest_clusters: Sequence[Hashable] | None,
) -> _Parts:
    if not low < high:
        raise InputError(f"low, high: expected low below high, got {low} and {high}")
    n, others = len(truth), len(rest)
    for name, given, expected in (
        ("judged", judged, n),
        ("weights", weights, n),
        ("clusters", clusters, n),
        ("rest_clusters", rest_clusters, others),
    ):
        if given is not None and len(given) != expected:
            raise InputError(f"{name}: expected {expected}, one for each row, got {len(given)}")
    arrays = [np.asarray(given, dtype=float) for given in (truth, judged, rest)]
    for name, values in zip(("truth", "judged", "rest"), arrays, strict=True):
        wrong = np.flatnonzero(~((values >= low - 1e-9) & (values <= high + 1e-9) & np.isfinite(values)))
        if wrong.size:
            raise InputError(
                f"{name}: expected numbers from {low} to {high}; number {wrong[0] + 1} is {values[wrong[0]]}"
            )
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not (np.isfinite(weight).all() and (weight > 0.0).all()):
        raise InputError("weights: expected positive numbers")
    if n:
        weight = rows_each(np.maximum(weight / weight.max(), TINY), n + others)
    named: list[Hashable] = [("row", i) for i in range(n)] if clusters is None else list(clusters)
    named += [("rest", i) for i in range(others)] if rest_clusters is None else list(rest_clusters)
    numbers: dict[Hashable, int] = {}
    group = np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)
    return _Parts(arrays[0], arrays[1], arrays[2], weight / weight.mean() if n else weight, group)
