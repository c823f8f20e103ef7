"""A confidence interval of a mean that may be looked at after every row: weighted rows, and rows in clusters.

The mean is that of the population from which rows were sampled: the sum of weight times value by the sum of weights.
It is m where each cluster's G(m) = sum of w (x - m) is 0 on average. The wealth of a bettor on "the mean is above m",

    W(m) = mean over c of the product over clusters of  1 + c G(m) / (largest · m)    (x and m on a scale from 0 to 1)

grows to 2/alpha with probability alpha/2 at most where the mean is m (Ville 1939), whatever the values, the weights
and the correlation within clusters, as no cluster weighs more than `largest` (testing by betting: Waudby-Smith and
Ramdas, J. R. Stat. Soc. B 86, 2024). The interval holds all m that are bet away on neither side.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from assay.errors import InputError
from assay.stats.arrays import Floats, checked, effective, grouped
from assay.stats.sequential import STAKES

_HALVINGS = 40


class ConfidenceSequence:
    """The interval of a mean of bounded values, valid at any time.

        sequence = ConfidenceSequence(largest=20.0)              # rows sampled at 1 in 20
        sequence.add(values, weights)                            # as often as you like
        low, high = sequence.interval

    Rows of one cluster have to come in one call of `add`. Clusters are independent, and come in an order that says
    nothing of their values.

    Args:
        low, high: The range of the values.
        confidence: Probability that the interval holds the mean at all times.
        largest: What no cluster weighs more than: the largest inverse sampling rate, times the most rows of a cluster.
            Choose it before the rows are seen. The nearer it is, the narrower the interval.

    Raises:
        InputError: An argument is out of range.
    """

    def __init__(self, low: float = 0.0, high: float = 1.0, *, confidence: float = 0.95, largest: float = 1.0) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(f"low, high: expected numbers, low below high, got {low} and {high}")
        if not 0.0 < confidence < 1.0:
            raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
        if not (math.isfinite(largest) and largest > 0.0):
            raise InputError(f"largest: expected a number above 0, got {largest}")
        self.low, self.high, self.confidence, self.largest = low, high, confidence, largest
        self._values = np.empty(0)  # by cluster: sum of weight times value, on a scale from 0 to 1, by `largest`
        self._weights = np.empty(0)  # by cluster: sum of weights, by `largest`

    def add(
        self,
        values: Sequence[float] | Floats,
        weights: Sequence[float] | Floats | None = None,
        clusters: Sequence[Hashable] | None = None,
    ) -> None:
        """Take in rows.

        Args:
            values: Scores in the range.
            weights: Inverse sampling rates. None: all 1.
            clusters: What rows hang together by. None: each row is a cluster.

        Raises:
            InputError: A value is out of range, a weight is not above 0, a cluster weighs more than `largest`, or
                lengths differ.
        """
        x = (checked(values, self.low, self.high, clusters) - self.low) / (self.high - self.low)
        weight = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
        if weight.shape != x.shape:
            raise InputError(f"weights: expected one for each of {x.size} values, got {weight.size}")
        wrong = np.flatnonzero(~((weight > 0.0) & np.isfinite(weight)))
        if wrong.size:
            raise InputError(f"weights: expected numbers above 0; that of value {wrong[0] + 1} is {weight[wrong[0]]}")
        _, total = grouped(weight, clusters)
        _, sums = grouped(weight * np.clip(x, 0.0, 1.0), clusters)
        if total.size and float(total.max()) > self.largest * (1.0 + 1e-9):
            raise InputError(f"weights: expected clusters that weigh {self.largest:g} at most, got {total.max():g}")
        self._values = np.concatenate([self._values, sums / self.largest])
        self._weights = np.concatenate([self._weights, total / self.largest])

    @property
    def mean(self) -> float | None:
        """The weighted mean; None without a row."""
        if not self._weights.size:
            return None
        return self.low + (self.high - self.low) * float(self._values.sum() / self._weights.sum())

    @property
    def effective_n(self) -> float:
        """How many clusters of one weight say as much (Kish)."""
        return effective(self._weights)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean lies; the range where there is no row."""
        width = self.high - self.low
        bottom = self._end(self._values)
        top = 1.0 - self._end(self._weights - self._values)
        return self.low + width * bottom, self.low + width * top

    def _end(self, sums: Floats) -> float:
        """The largest m that is bet away from below: wealth falls as m rises."""
        if not sums.size:
            return 0.0
        least = math.log(2.0 / (1.0 - self.confidence))
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            gains = sums / middle - self._weights
            wealth = np.array([float(np.log1p(stake * gains).sum()) for stake in STAKES])
            most = float(wealth.max())
            away = most + math.log(float(np.exp(wealth - most).mean())) >= least
            low, high = (middle, high) if away else (low, middle)
        return low

    def __repr__(self) -> str:
        low, high = self.interval
        return f"<{type(self).__name__}: {low:.3f} to {high:.3f}, {self._weights.size} clusters>"
