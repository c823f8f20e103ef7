"""A gate that may be looked at after every sample and stop as soon as it is sure, and is wrong no more often for that.

Two bets run against each other, on values in [low, high]:

    fail   once it is shown that their mean lies below `reference`; so a gate fails by chance with probability `alpha`
           at most, however often it is looked at
    pass   once it is shown that it lies above `reference - margin`; where it does not, with probability `alpha` at most

Each is a test by betting (Waudby-Smith and Ramdas, J. R. Stat. Soc. B 86, 2024): the wealth of a gambler who stakes the
share c of what can be lost on values above m,

    W(m) = mean over c of the product over values x of  1 + c (x - m) / (m - low)

grows to 1/alpha or more with probability alpha at most, at whatever time one looks, where the mean is m or less (Ville
1939). Shares are mixed in place of chosen (Robbins, Ann. Math. Stat. 41, 1970), so that no size of a difference has to
be guessed. The interval holds all m that neither side has bet away: its ends are where W(m) is 1/alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from assay.errors import InputError
from assay.stats.arrays import Floats

#: The shares that are mixed, each with the same weight: from 1 % of what can be lost to nearly all of it.
STAKES: Floats = np.geomspace(0.01, 0.97, 24)
_HALVINGS = 34  # to 1e-10 of the range


class Sequential:
    """A gate fed one value at a time: the difference of one row (second run minus first), or its score.

        gate = Sequential(margin=0.05)            # differences of scores from 0 to 1
        for first, second in pairs:
            gate.add(second - first)
            if gate.verdict is not None:
                break

    High values are good: give those of metrics where low is good with the other sign. Rows have to come in an order
    that says nothing about their values (shuffled, not sorted by topic). Rows that hang together are added as one
    value, their mean. A verdict stays, whatever comes after it. Raises InputError for a margin or a reference with no
    room left in the range, and an alpha outside of (0, 1).

    Args:
        margin: How far below `reference` the mean may lie for the gate to pass; 0 or more.
        reference: What the mean is held against: 0 for differences; 0.8 for "faithfulness of 0.8", with low=0, high=1.
        low, high: The range that values cannot leave: -1 and 1 for differences of scores from 0 to 1.
        alpha: How often each of the two verdicts may be wrong.
    """

    def __init__(
        self, margin: float, *, reference: float = 0.0, low: float = -1.0, high: float = 1.0, alpha: float = 0.05
    ) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(f"low, high: expected numbers, low below high, got {low} and {high}")
        if not 0.0 < alpha < 1.0:
            raise InputError(f"alpha: expected a number between 0 and 1, got {alpha}")
        if not low < reference < high:
            raise InputError(f"reference: expected a number between {low} and {high}, got {reference}")
        if not (0.0 <= margin < reference - low):
            raise InputError(f"margin: expected 0 or more and less than {reference - low:g}, got {margin}")
        self.margin, self.reference, self.low, self.high, self.alpha = margin, reference, low, high, alpha
        self._verdict: Literal["pass", "fail"] | None = None
        self._values: list[float] = []
        self._above = np.zeros(STAKES.size)  # logarithms of wealth, by stake: on a mean above reference - margin
        self._below = np.zeros(STAKES.size)  # on a mean below the reference

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict or 'open'} after {self.n} rows>"

    def add(self, value: float) -> None:
        """Take in one more value. Raises InputError where it is no number in the range."""
        if not self.low - 1e-9 <= value <= self.high + 1e-9:  # nor is NaN
            raise InputError(f"value: expected a number from {self.low} to {self.high}, got {value}")
        value = min(self.high, max(self.low, value))
        self._values.append(value)
        if self._verdict is not None:
            return
        floor = self.reference - self.margin
        self._above += np.log1p(STAKES * ((value - floor) / (floor - self.low)))
        self._below += np.log1p(STAKES * ((self.reference - value) / (self.high - self.reference)))
        if self._enough(self._above):
            self._verdict = "pass"
        elif self._enough(self._below):
            self._verdict = "fail"

    @property
    def verdict(self) -> Literal["pass", "fail"] | None:
        """The verdict, once there is one."""
        return self._verdict

    @property
    def n(self) -> int:
        """How many values there were."""
        return len(self._values)

    @property
    def mean(self) -> float | None:
        return math.fsum(self._values) / self.n if self._values else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean lies; each end is wrong with probability `alpha` at most, however often one looks.

        The range where there are no values. Computed when asked for, from all values.
        """
        values = np.array(self._values)
        if not values.size:
            return self.low, self.high
        width = self.high - self.low
        up = (values - self.low) / width  # shares of the range
        bottom = _end(lambda m: self._enough(_wealth(up, m)))
        top = 1.0 - _end(lambda m: self._enough(_wealth(1.0 - up, m)))
        return self.low + width * bottom, self.low + width * top

    def _enough(self, wealth: Floats) -> bool:
        """Whether the mean of these wealths, given by their logarithms, is 1/alpha."""
        most = float(wealth.max())
        return most + math.log(float(np.exp(wealth - most).mean())) >= -math.log(self.alpha)

    def __str__(self) -> str:
        if self.mean is None:
            return "no value yet"
        low, high = self.interval
        return (
            f"{self._verdict or 'inconclusive so far'}: {self.mean:+.3f} ({low:+.3f} to {high:+.3f}), {self.n} values"
        )


def _wealth(values: Floats, m: float) -> Floats:
    """The logarithm of the wealth of each stake on values in [0, 1] above m."""
    gains = values / m - 1.0
    return np.array([float(np.log1p(stake * gains).sum()) for stake in STAKES])


def _end(bet_away: Callable[[float], bool]) -> float:
    """The largest m in [0, 1] that is bet away: wealth falls as m rises. 0 where none is."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if bet_away(middle) else (low, middle)
    return low
