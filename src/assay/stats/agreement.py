"""How well a judge agrees with people: accuracy, balanced accuracy, kappa, AUROC and calibration, with intervals.

Each figure is computed once more without each cluster (the jackknife: Efron and Stein, Ann. Stat. 9, 1981; beyond
`GROUPS` clusters without groups of them), and its variance put into the shape of Wilson's interval, as in
`assay.stats.intervals`: a figure of 1.0 on few labels is then no certainty. Labels may have weights, one over the
probability with which each was asked for (Hajek, Ann. Math. Stat. 35, 1964).

    balanced accuracy  (found of what is true + left of what is not) / 2
    kappa              (agreement - that of chance) / (1 - that of chance)        Cohen, Educ. Psychol. Meas. 20, 1960
    AUROC              a true one has the higher probability than a false one; ties count half
    calibration error  mean distance of probability and share of true ones, over bins with as many labels each
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.arrays import Floats, effective
from assay.stats.distributions import t_quantile
from assay.stats.intervals import wilson

#: Clusters that are left out one by one; more of them are left out in so many groups.
GROUPS = 200
#: Labels of one bin of the calibration error, which fewer do not have, and bins, at most.
BIN, BINS = 20, 10
#: Below these the figures are shown, and said to show little: labels, and labels of the rarer kind.
FEW, FEW_OF_ONE = 50, 15
#: A weight counts at least as this share of the largest.
TINY = 1e-12
_REDRAWN = 1000  # samples of the bootstrap of the calibration error
_SEED = 20_261_123

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and where the true one lies, with the confidence that was asked for."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class Agreement(Tabular):
    """A judge against people on yes-or-no labels. None stands for what these labels cannot say.

    Attributes:
        n, clusters: Labels, and groups of them that hang together.
        positives: Labels that say yes.
        prevalence: The share of yes, weighted.
        majority: The accuracy of always saying what people say most often; its balanced accuracy is 0.5, its kappa 0.
        gain: Accuracy - majority.
        ece: Expected calibration error; `ece_by_chance` is what a judge without any would show on so many labels.
        thin: Why these figures show little; None where there are enough labels.
    """

    _columns = (
        "n clusters positives prevalence majority accuracy=accuracy.value gain=gain.value "
        "balanced_accuracy=balanced_accuracy.value kappa=kappa.value auroc=auroc.value ece=ece.value ece_by_chance thin"
    )

    n: int
    clusters: int
    positives: int
    prevalence: float
    majority: float
    accuracy: Figure | None
    gain: Figure | None
    balanced_accuracy: Figure | None
    kappa: Figure | None
    auroc: Figure | None
    ece: Figure | None
    ece_by_chance: float | None
    thin: str | None
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels, what the judge said, its probabilities (NaN: none), weights and numbers of clusters."""

    truth: Bools
    said: Bools
    probability: Floats
    weight: Floats
    group: npt.NDArray[np.int64]

    def kept(self, keep: Bools) -> _Labels:
        return _Labels(self.truth[keep], self.said[keep], self.probability[keep], self.weight[keep], self.group[keep])

    @property
    def with_probability(self) -> _Labels:
        return self.kept(np.isfinite(self.probability))

    def share(self, of: Bools, among: Bools | None = None) -> float | None:
        weight = self.weight if among is None else np.where(among, self.weight, 0.0)
        total = float(weight.sum())
        return float(weight[of].sum()) / total if total > 0.0 else None


def agreement(
    truth: Sequence[bool],
    said: Sequence[bool],
    probability: Sequence[float | None] | None = None,
    *,
    weights: Sequence[float] | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Agreement | None:
    """What people say (`truth`) against what a judge says (`said`, and its `probability` of yes); None without labels.

    AUROC and calibration error are over the labels that have a probability. Raises InputError for lists of unequal
    lengths, weights that are not positive, probabilities outside [0, 1] and a confidence outside (0, 1).

    Args:
        weights: One over the probability with which each label was asked for, up to a factor; None: all alike.
        clusters: For each label what it hangs together with: the row that a claim is of, a document.
    """
    labels = _checked(truth, said, probability, weights, clusters, confidence)
    n = labels.truth.size
    if not n:
        return None
    right = _right(labels)
    assert right is not None
    prevalence = float(np.average(labels.truth, weights=labels.weight))
    most = prevalence >= 0.5  # what people say most often
    ranked = labels.with_probability
    positives, groups = int(labels.truth.sum()), len(np.unique(labels.group))
    return Agreement(
        n=n,
        clusters=groups,
        positives=positives,
        prevalence=prevalence,
        majority=max(prevalence, 1.0 - prevalence),
        accuracy=_figure(labels, _right, confidence),
        gain=_figure(labels, lambda some: _gain(some, most), confidence, low=-1.0),
        balanced_accuracy=_figure(labels, _balanced, confidence, both=True),
        kappa=_figure(labels, _kappa, confidence, low=-1.0, both=True),
        auroc=_figure(ranked, _auroc, confidence, both=True) if ranked.truth.size else None,
        ece=_calibration(ranked, confidence),
        ece_by_chance=_by_chance(ranked),
        thin=_thin(n, positives, groups),
        confidence=confidence,
    )


def _checked(
    truth: Sequence[bool],
    said: Sequence[bool],
    probability: Sequence[float | None] | None,
    weights: Sequence[float] | None,
    clusters: Sequence[Hashable] | None,
    confidence: float,
) -> _Labels:
    n = len(truth)
    for name, given in {"said": said, "probability": probability, "weights": weights, "clusters": clusters}.items():
        if given is not None and len(given) != n:
            raise InputError(f"{name}: expected one for each of {n} labels, got {len(given)}")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    given_p = [None] * n if probability is None else probability
    known = [math.nan if p is None else float(p) for p in given_p]
    for number, p in enumerate(known, 1):
        if p < 0.0 or p > 1.0:
            raise InputError(f"probability: expected numbers from 0 to 1; number {number} is {p}")
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not (np.isfinite(weight).all() and (weight > 0.0).all()):
        raise InputError("weights: expected positive numbers")
    if n:  # their scale says nothing, and sums of squares of huge ones are no numbers
        weight = np.maximum(weight / weight.max(), TINY)
    numbers: dict[Hashable, int] = {}
    named = range(n) if clusters is None else clusters
    group = np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)
    return _Labels(
        np.asarray(truth, dtype=bool), np.asarray(said, dtype=bool), np.array(known, dtype=float), weight, group
    )


def _thin(n: int, positives: int, groups: int) -> str | None:
    rarer = min(positives, n - positives)
    if not rarer:
        return f"all {n} labels say the same: only how often the judge says so too can be told"
    if n < FEW:
        return f"only {n} labels: from {FEW} on the figures begin to say something"
    if rarer < FEW_OF_ONE:
        return f"only {rarer} of {n} labels are of the rarer kind: at least {FEW_OF_ONE} are needed"
    if groups < FEW_OF_ONE:
        return f"the labels are of {groups} rows only, which hang together: label more rows"
    return None


# ---- the figures


def _right(labels: _Labels) -> float | None:
    return labels.share(labels.truth == labels.said)


def _gain(labels: _Labels, most: bool) -> float | None:
    """Accuracy, less that of always saying `most`, in [-1, 1]."""
    right, trivial = _right(labels), labels.share(labels.truth == most)
    return None if right is None or trivial is None else right - trivial


def _balanced(labels: _Labels) -> float | None:
    found = labels.share(labels.said, labels.truth)
    left = labels.share(~labels.said, ~labels.truth)
    return None if found is None or left is None else (found + left) / 2.0


def _kappa(labels: _Labels) -> float | None:
    right, yes, said = _right(labels), labels.share(labels.truth), labels.share(labels.said)
    if right is None or yes is None or said is None or not labels.truth.any() or labels.truth.all():
        return None
    chance = yes * said + (1.0 - yes) * (1.0 - said)
    return (right - chance) / (1.0 - chance) if chance < 1.0 else None


def _auroc(labels: _Labels) -> float | None:
    """The weighted share of pairs of a true and a false label that stand in the right order; ties count half."""
    values, place = np.unique(labels.probability, return_inverse=True)
    true = np.bincount(place, weights=labels.weight * labels.truth, minlength=values.size)
    false = np.bincount(place, weights=labels.weight * ~labels.truth, minlength=values.size)
    pairs = true.sum() * false.sum()
    if not pairs:
        return None
    below = np.cumsum(false) - false / 2.0
    return float((true * below).sum() / pairs)


# ---- intervals


def _figure(
    labels: _Labels,
    measure: Callable[[_Labels], float | None],
    confidence: float,
    *,
    low: float = 0.0,
    both: bool = False,
) -> Figure | None:
    """The figure in [low, 1] with its interval. `both`: it needs labels of both kinds, and the rarer one limits it."""
    value = measure(labels)
    if value is None:
        return None
    groups = _grouped(labels)
    without = [measure(labels.kept(groups != one)) for one in np.unique(groups)]
    clusters = _effective(labels)
    share = (value - low) / (1.0 - low)
    left = np.array([(one - low) / (1.0 - low) for one in without if one is not None])
    variance = float(((left - left.mean()) ** 2).sum() * (left.size - 1) / left.size) if left.size > 1 else 0.0
    # where leaving out changes nothing, or nothing is left, each cluster counts as one answer
    few = min(_effective(labels.kept(kind)) for kind in (labels.truth, ~labels.truth)) if both else clusters
    certain = variance <= 1e-12 or len(left) < len(without)
    n = few if certain else share * (1.0 - share) / variance
    t = t_quantile(0.5 + confidence / 2.0, max((few if both else clusters) - 1.0, 0.5))
    bottom, top = wilson(share, max(n, 1e-9), t)
    return Figure(value, low + (1.0 - low) * bottom, low + (1.0 - low) * top)


def _effective(labels: _Labels) -> float:
    """How many clusters of one size would be as many (Kish)."""
    return effective(np.bincount(labels.group, weights=labels.weight)) if labels.group.size else 0.0


def _grouped(labels: _Labels) -> npt.NDArray[np.int64]:
    """The numbers of what is left out together."""
    _, group = np.unique(labels.group, return_inverse=True)
    return group % GROUPS


# ---- calibration


def _bins(labels: _Labels) -> npt.NDArray[np.int64]:
    """For each label its bin; bins have as many labels each, and equal probabilities are in one bin."""
    wanted = max(1, min(BINS, labels.truth.size // BIN))
    ends = np.quantile(labels.probability, np.arange(1, wanted) / wanted, method="lower")
    return np.searchsorted(ends, labels.probability, side="left")


def _calibration(labels: _Labels, confidence: float) -> Figure | None:
    """The error with its interval, by a bootstrap over clusters.

    Few labels show an error where there is none, so the lower end is the error less as much as noise alone adds up to;
    the upper one is two standard errors away, since noise only ever adds.
    """
    if labels.truth.size < BIN:
        return None
    _, group = np.unique(labels.group, return_inverse=True)
    bins, groups = _bins(labels), int(group.max()) + 1
    cells = group * BINS + bins
    off = np.bincount(cells, labels.weight * (labels.probability - labels.truth), groups * BINS).reshape(groups, BINS)
    of = np.bincount(group, labels.weight, groups)
    error = float(np.abs(off.sum(axis=0)).sum() / of.sum())
    if groups < 2:
        return Figure(error, 0.0, 1.0)
    rng = np.random.default_rng(_SEED)
    times = rng.multinomial(groups, np.full(groups, 1.0 / groups), _REDRAWN).astype(np.float64)
    total = times @ of
    again = (times @ off) / total[:, None]
    tail = 0.5 + confidence / 2.0
    noise = float(np.quantile(np.abs(again - off.sum(axis=0) / of.sum()).sum(axis=1), tail))
    reach = t_quantile(tail, max(groups - 1.0, 0.5)) * float(np.abs(again).sum(axis=1).std(ddof=1))
    least = _by_chance(labels) or 0.0  # rows that are all alike do not differ when they are drawn again
    return Figure(error, max(0.0, error - max(noise, least)), min(1.0, error + max(reach, least)))


def _by_chance(labels: _Labels) -> float | None:
    """The error that such labels would show of a judge whose probabilities hold: a half-normal for each bin."""
    if labels.truth.size < BIN:
        return None
    bins = _bins(labels)
    variance = np.bincount(bins, labels.weight**2 * labels.probability * (1.0 - labels.probability))
    return float(np.sqrt(2.0 / math.pi * variance).sum() / labels.weight.sum())
