"""The value of a metric from which on people say yes, with what it is worth on labels that it was not found on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.analysis.judges.alignment.groups import FOLDS, Group, threshold_on
from assay.judges.thresholds import Threshold
from assay.stats.arrays import effective
from assay.stats.shares import ConfusionCounts

#: Labels, and of the rarer kind, below which no map and no threshold is found.
FEWEST, FEWEST_OF_ONE = 30, 8
_SEED = 20_261_123


def threshold_of(group: Group, metric: str | None) -> Threshold | str:
    """The threshold of a metric by labels of samples; or why there is none, in words.

    Each part of the labels, with as many of each kind as the others, is held to the threshold of all others: the
    labels that one was found on flatter it. Gates hold rows to the same ones.

    Args:
        metric: The metric with its parameters, as the run has it.
    """
    truths = [pair.truth for pair in group.pairs]
    if not set(truths) <= {0.0, 1.0}:
        return f"{group.name} has grades for labels; a threshold parts yes from no"
    truth = np.array([one == 1.0 for one in truths], dtype=bool)
    n, yes = truth.size, int(truth.sum())
    if n < FEWEST or min(yes, n - yes) < FEWEST_OF_ONE:
        return (
            f"{group.name} has {n} labels of samples with a value, {yes} of them yes; expected {FEWEST}, and "
            f"{FEWEST_OF_ONE} of each kind"
        )
    values = np.array([pair.item.value for pair in group.pairs], dtype=float)
    weight = np.array([pair.weight for pair in group.pairs], dtype=float)
    part = parts_of(truth.tolist())
    columns = values.tolist(), truth.tolist(), weight.tolist()
    found = [threshold_on(*columns, np.flatnonzero(part != one).tolist()) for one in range(FOLDS)]
    whole = threshold_on(*columns, range(n))
    parts = [one for one in found if one is not None]
    if whole is None or len(parts) < len(found):
        return f"{group.name} has the same value on nearly all labelled samples"
    reaches = values >= np.array(parts)[part]
    told = ConfusionCounts(
        effective(weight[truth]), effective(weight[~truth]),
        float(np.average(reaches[truth], weights=weight[truth])),
        float(np.average(~reaches[~truth], weights=weight[~truth])),
    )  # fmt: skip
    if told.tells <= 0.0:
        return f"{group.name}: people do not say yes more often where its value is higher"
    return Threshold(
        value=whole, parts=tuple(parts), yes=told.true, no=told.false, found=told.found, left=told.left, labels=n,
        metric=metric,
    )  # fmt: skip


def parts_of(truth: Sequence[bool]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each label its part, drawn with a fixed seed; each has as many of a kind as the others, or one more."""
    kinds = np.asarray(truth, dtype=bool)
    part = np.zeros(kinds.size, dtype=np.int64)
    rng = np.random.default_rng(_SEED)
    for kind in (True, False):
        places = rng.permutation(np.flatnonzero(kinds == kind))
        part[places] = np.arange(places.size) % FOLDS
    return part
