"""The labels of one reading, or of one metric, against what the judge says of the same things."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay._util.tabular import Tabular
from assay.analysis.judges.alignment.items import Item
from assay.analysis.judges.alignment.labels import Label, Level
from assay.judges.calibrated_judge import ProbabilityMap
from assay.stats.agreement import Agreement, Figure, agreement
from assay.stats.calibration import best_threshold, fit_isotonic, fit_platt
from assay.stats.ranks import rank_correlation

#: Parts of the labels: what is fitted is judged on the part that it was not fitted to.
FOLDS = 5


@dataclass(frozen=True, slots=True)
class LabelPair:
    """An item and what people say of it, by who says so; `slice` is its value in the column that was asked for."""

    item: Item
    labels: dict[str, Label]
    slice: str | None = None

    @property
    def truth(self) -> float | None:
        """What most people say, or the mean of their grades; None where they are divided."""
        values = [self._meant(label) for label in self.labels.values()]
        if set(values) <= {0.0, 1.0}:
            yes = sum(values)
            return None if 2 * yes == len(values) else float(2 * yes > len(values))
        return math.fsum(values) / len(values)

    @property
    def weight(self) -> float:
        return next(iter(self.labels.values())).weight

    def _meant(self, label: Label) -> float:
        return 1.0 - label.value if label.praises and self.item.direction == "lower" else label.value


@dataclass(frozen=True, slots=True)
class Group(Tabular):
    """One reading or metric.

    Attributes:
        agreement: None where labels are grades, and where the judge has no value on any labelled item.
        ranks: Rank correlation of grades, or of a metric's value with yes and no; None for verdicts.
        threshold: Of a metric: the value from which on people say yes, found on the other part of the labels each time;
            this one on all. None for verdicts.
        calibrated: Agreement with calibrated probabilities, each part with the map of the others; None without.
        unmeasured: Labelled items of which the judge says nothing.
    """

    _noun = "group"
    _columns = (
        "name level metrics labels=agreement.n prevalence=agreement.prevalence accuracy=agreement.accuracy.value "
        "kappa=agreement.kappa.value kappa_low=agreement.kappa.low kappa_high=agreement.kappa.high "
        "auroc=agreement.auroc.value ece=agreement.ece.value rank_correlation=ranks.value threshold unmeasured"
    )

    name: str
    level: Level
    kind: str | None
    metrics: tuple[str, ...]
    agreement: Agreement | None
    ranks: Figure | None = None
    threshold: float | None = None
    calibrated: Agreement | None = None
    slices: Mapping[str, Agreement] = field(default_factory=dict)
    unmeasured: int = 0
    pairs: tuple[LabelPair, ...] = ()


def group_of(name: str, pairs: Sequence[LabelPair], confidence: float) -> Group:
    """What the labels of one group say of the judge."""
    first = pairs[0].item
    usable = [pair for pair in pairs if pair.truth is not None]
    told = [pair for pair in usable if pair.item.yes is not None or pair.item.value is not None]
    metrics = tuple(dict.fromkeys(metric for pair in pairs for metric in pair.item.metrics))
    group = Group(name, first.level, first.kind, metrics, None, unmeasured=len(usable) - len(told), pairs=tuple(told))
    if not told:
        return group
    if first.level == "sample":
        return _of_samples(group, told, confidence)
    truth, weights, clusters = _columns(told)
    said = [bool(pair.item.yes) for pair in told]
    probability = [pair.item.probability for pair in told]
    whole = agreement(truth, said, probability, weights=weights, clusters=clusters, confidence=confidence)
    return Group(
        name, first.level, first.kind, metrics, whole, unmeasured=group.unmeasured, pairs=group.pairs,
        slices=_slices(told, said, probability, confidence), calibrated=_calibrated(told, confidence),
    )  # fmt: skip


def _of_samples(group: Group, told: Sequence[LabelPair], confidence: float) -> Group:
    truth, weights, clusters = _columns(told)
    values = [pair.item.value or 0.0 for pair in told]
    grades = [pair.truth or 0.0 for pair in told]
    ranks = rank_correlation(grades, values, clusters=clusters, confidence=confidence)
    if not set(grades) <= {0.0, 1.0}:
        return Group(group.name, "sample", None, group.metrics, None, ranks, unmeasured=group.unmeasured,
                     pairs=group.pairs)  # fmt: skip
    low, high = told[0].item.low, told[0].item.high
    place = [(value - low) / (high - low) if math.isfinite(high - low) else None for value in values]
    said, threshold = _threshold_votes(values, truth, weights, clusters)
    # the value orders the samples; it is no probability, so it has no calibration error
    whole = agreement(truth, said, place, weights=weights, clusters=clusters, confidence=confidence)
    return Group(
        group.name, "sample", None, group.metrics, _without_calibration(whole), ranks, threshold,
        slices={name: found for name, one in _slices(told, said, place, confidence).items()
                if (found := _without_calibration(one)) is not None},
        unmeasured=group.unmeasured, pairs=group.pairs,
    )  # fmt: skip


def _without_calibration(found: Agreement | None) -> Agreement | None:
    from dataclasses import replace

    return None if found is None else replace(found, ece=None, ece_by_chance=None)


def _threshold_votes(
    values: Sequence[float], truth: Sequence[bool], weights: Sequence[float], clusters: Sequence[int]
) -> tuple[list[bool], float | None]:
    """Yes or no by a threshold, for each part of the labels the one that is best on the others; and that of all."""
    if set(values) <= {0.0, 1.0}:
        return [value >= 0.5 for value in values], 0.5
    fold = folds_of(clusters)
    said = [False] * len(values)
    for one in range(FOLDS):
        others = [n for n in range(len(values)) if fold[n] != one]
        found = threshold_on(values, truth, weights, others)
        for n in range(len(values)):
            if fold[n] == one:
                said[n] = found is None or values[n] >= found
    return said, threshold_on(values, truth, weights, range(len(values)))


def threshold_on(
    values: Sequence[float], truth: Sequence[bool], weights: Sequence[float], of: Sequence[int]
) -> float | None:
    """The best threshold on those of the labels that have these numbers."""
    return best_threshold([values[n] for n in of], [truth[n] for n in of], [weights[n] for n in of])


def _columns(told: Sequence[LabelPair]) -> tuple[list[bool], list[float], list[int]]:
    return [pair.truth == 1.0 for pair in told], [pair.weight for pair in told], [pair.item.row for pair in told]


def _slices(
    told: Sequence[LabelPair], said: Sequence[bool], probability: Sequence[float | None], confidence: float
) -> dict[str, Agreement]:
    names = Counter(pair.slice for pair in told if pair.slice is not None)
    found: dict[str, Agreement] = {}
    for name, _ in sorted(names.items(), key=lambda one: (-one[1], str(one[0]))):
        some = [n for n, pair in enumerate(told) if pair.slice == name]
        truth, weights, clusters = _columns([told[n] for n in some])
        made = agreement(
            truth, [said[n] for n in some], [probability[n] for n in some], weights=weights, clusters=clusters,
            confidence=confidence,
        )  # fmt: skip
        if made is not None and name is not None:
            found[name] = made
    return found


def fitted(told: Sequence[LabelPair], method: str, threshold: str) -> ProbabilityMap | None:
    """The map of the judge's probabilities on these labels; None where they do not rise together, or have none.

    Args:
        method: "platt" or "isotonic".
        threshold: "likely": yes where it is likelier than no; "balanced": where the balanced accuracy is highest.
    """
    some = [pair for pair in told if pair.item.probability is not None]
    truth, weights, _ = _columns(some)
    probability = [pair.item.probability or 0.0 for pair in some]
    made: ProbabilityMap | None = None
    if method == "isotonic":
        points = fit_isotonic(probability, truth, weights)
        if points is not None:
            made = ProbabilityMap(points=tuple(zip(*points, strict=True)), labels=len(some))
    else:
        line = fit_platt(probability, truth, weights)
        if line is not None:
            made = ProbabilityMap(slope=line[0], intercept=line[1], labels=len(some))
    if made is None or threshold == "likely":
        return made
    from dataclasses import replace

    best = best_threshold([made(p) for p in probability], truth, weights)
    return made if best is None else replace(made, threshold=best)


def folds_of(clusters: Sequence[int]) -> list[int]:
    """For each label its part; those of one row are in one part. The parts are drawn with a fixed seed."""
    names = sorted(set(clusters))
    order = np.random.default_rng(20_261_123).permutation(len(names))
    part = {name: int(place) % FOLDS for name, place in zip(names, order, strict=True)}
    return [part[name] for name in clusters]


def _calibrated(told: Sequence[LabelPair], confidence: float) -> Agreement | None:
    some = [pair for pair in told if pair.item.probability is not None]
    truth, weights, clusters = _columns(some)
    fold = folds_of(clusters)
    probability: list[float] = [0.0] * len(some)
    for one in set(fold):
        found = fitted([pair for pair, part in zip(some, fold, strict=True) if part != one], "platt", "likely")
        if found is None:
            return None
        for n, pair in enumerate(some):
            if fold[n] == one:
                probability[n] = found(pair.item.probability or 0.0)
    said = [p >= 0.5 for p in probability]
    return agreement(truth, said, probability, weights=weights, clusters=clusters, confidence=confidence)
