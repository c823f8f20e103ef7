"""Scores as arrays, checked, and their sums by cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError

Floats = npt.NDArray[np.float64]


def checked(values: Sequence[float] | Floats, low: float, high: float, clusters: Sequence[Hashable] | None) -> Floats:
    """The scores as an array. Raises InputError for those outside of the range, and clusters of another number."""
    x = np.asarray(values, dtype=float)
    wrong = np.flatnonzero(~((x >= low - 1e-9) & (x <= high + 1e-9) & np.isfinite(x)))
    if wrong.size:
        raise InputError(f"values: expected numbers from {low} to {high}; value {wrong[0] + 1} is {x[wrong[0]]}")
    if clusters is not None and len(clusters) != x.size:
        raise InputError(f"clusters: expected one for each of {x.size} values, got {len(clusters)}")
    return x


def grouped(deviations: Floats, clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """The size of each cluster, and the sum of its deviations."""
    if clusters is None:
        return np.ones(deviations.size), deviations
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=int)
    return np.bincount(index).astype(np.float64), np.bincount(index, weights=deviations).astype(np.float64)


def effective(weights: npt.NDArray[np.number[Any]]) -> float:
    """How many of one weight would say as much (Kish, Survey Sampling, 1965); 0 where there are none, or all are 0."""
    if not weights.size or not (largest := weights.max()):
        return 0.0
    scaled = weights / largest  # the squares of huge ones are no numbers
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def places_by_value(values: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """The places of each value, in rising order; values in the order of their first places."""
    numbers = {value: n for n, value in enumerate(dict.fromkeys(values))}
    codes = np.array([numbers[value] for value in values], dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(codes, minlength=len(numbers)))
    return dict(zip(numbers, np.split(order, ends[:-1]), strict=True)) if numbers else {}
