"""Whether two lists of grades go up and down together: Spearman's rank correlation, with an interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from assay.errors import InputError
from assay.stats.agreement import GROUPS, Figure
from assay.stats.arrays import Floats
from assay.stats.distributions import t_quantile

FEWEST = 5  # clusters


def rank_correlation(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Figure | None:
    """Spearman's correlation in [-1, 1]; ties share their ranks. None where one list never changes, or is too short.

    The interval is Student's around Fisher's z, with the variance of the jackknife over clusters. Raises InputError for
    lists of unequal lengths.
    """
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise InputError(f"second, clusters: expected {len(first)}, as many as there are in first")
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    value = _spearman(a, b)
    if value is None:
        return None
    numbers: dict[Hashable, int] = {}
    named = range(a.size) if clusters is None else clusters
    group = np.array([numbers.setdefault(name, len(numbers)) for name in named])
    if len(numbers) < FEWEST:
        return Figure(value, -1.0, 1.0)
    group %= GROUPS
    found = [_spearman(a[group != one], b[group != one]) for one in np.unique(group)]
    z = np.array([_z(one) for one in found if one is not None])
    error = math.sqrt(float(((z - z.mean()) ** 2).sum()) * (z.size - 1) / z.size)
    reach = t_quantile(0.5 + confidence / 2.0, len(numbers) - 1) * max(error, 1.0 / math.sqrt(4.0 * len(numbers)))
    return Figure(value, math.tanh(_z(value) - reach), math.tanh(_z(value) + reach))


def _z(correlation: float) -> float:
    return math.atanh(max(-1.0 + 1e-9, min(1.0 - 1e-9, correlation)))


def _spearman(a: Floats, b: Floats) -> float | None:
    if a.size < 3 or np.ptp(a) <= 0.0 or np.ptp(b) <= 0.0:
        return None
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Floats) -> Floats:
    """From 1; equal values have the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2.0)[place]
    return ranks
