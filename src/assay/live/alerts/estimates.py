"""The weighted mean of a window with its interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.stats.intervals import estimate, estimate_of
from assay.stats.moments import Moments, is_graded

if TYPE_CHECKING:
    from assay.live.alerts.columns import Floats


@dataclass(frozen=True, slots=True)
class WindowMean:
    """A mean with its 95% interval.

    Attributes:
        mean: The weighted mean.
        low: Lower end of the interval.
        high: Upper end.
        effective_n: Number of independent rows of equal weight that would leave the mean as uncertain.
    """

    mean: float
    low: float
    high: float
    effective_n: float


def window_mean(
    values: Floats, weights: Floats, low: float, high: float, clusters: Sequence[Hashable] | None = None
) -> WindowMean | None:
    """Estimate the weighted mean of scores.

    With equal weights it is the interval of `assay.stats.intervals.estimate`. Otherwise it is that of as many
    independent rows as the weights leave (Kish, Survey Sampling, 1965, 11.7), or as the linearised variance of the
    weighted mean shows, by clusters where they are known (Särndal, Swensson and Wretman, Model Assisted Survey
    Sampling, 1992, 5.7), whichever is less.

    Args:
        values: Finite scores from `low` to `high`.
        weights: Their weights, above 0.
        low: Least score.
        high: Greatest score.
        clusters: For each score what it is correlated with. None: all are independent.

    Returns:
        The mean; None where there are no scores.
    """
    if not values.size:
        return None
    if weights.max() == weights.min():
        plain = estimate(values.tolist(), low, high, clusters=clusters)
        return None if plain is None else WindowMean(plain.mean, plain.low, plain.high, float(plain.clusters))
    share = weights / weights.sum()
    mean = float((share * values).sum())
    squares = float((share * (values - mean) ** 2).sum())
    effective = _effective(values - mean, share, squares, clusters)
    count = max(1, math.floor(effective + 1e-9))
    least, most = float(values.min()), float(values.max())
    graded = any(is_graded(value, low, high) for value in values.tolist())
    found = estimate_of(Moments(count, mean, squares * count, least, most, graded), low, high)
    return None if found is None else WindowMean(mean, found.low, found.high, effective)


def _effective(off: Floats, share: Floats, squares: float, clusters: Sequence[Hashable] | None) -> float:
    import numpy as np

    parts, sizes = share * off, share
    if clusters is not None:
        places = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
        index = np.array([places[name] for name in clusters], dtype=np.intp)
        parts = np.bincount(index, weights=parts).astype(np.float64)
        sizes = np.bincount(index, weights=share).astype(np.float64)
    kish = 1.0 / float((sizes**2).sum())
    variance = float((parts**2).sum()) * (len(parts) / max(1, len(parts) - 1))
    return max(1.0, min(kish, squares / variance)) if variance > 0.0 else kish
