"""The expected score of each hour of the week, learned from the hours before: a level plus a weekly rhythm.

    score of an hour = level + hour of the day + weekday + quarter of the weekday + noise

The level is free. The other effects have a normal prior that counts as `PRIOR_ROWS` rows, so that few weeks are enough
and a rhythm of any shape is learned. The estimate is kept as information (Bayesian linear regression), which can be
added, subtracted and stripped of its level exactly. Hours are those of UTC.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import Floats
from assay.stats.json_arrays import from_text, to_text

HOUR = 3600.0
#: Effects: the level, 24 hours of the day, 7 weekdays, 28 quarters of a weekday.
EFFECTS = 1 + 24 + 7 + 28
#: How many rows the prior of an effect counts as: of scores with a standard deviation of 0.4, effects of 0.05.
PRIOR_ROWS = 64.0
#: That of the level: none but for rounding.
FREE = 1e-6
_REFRESH = 512  # updates of the inverse before it is computed anew, against rounding


Places = npt.NDArray[np.int64]


def effects_of(hour: int) -> Places:
    """The places of the four effects of an hour, counted from 1970."""
    return _places(hour % 168)[0]


@lru_cache(maxsize=168)
def _places(hour: int) -> tuple[Places, tuple[Places, ...]]:
    """The places of effects, and of their pairs in a matrix."""
    weekday, of_day = hour // 24, hour % 24
    places = np.array((0, 1 + of_day, 25 + weekday, 32 + 4 * weekday + of_day // 6))
    return places, np.ix_(places, places)


class WeeklyBaseline:
    """Bayesian regression of hourly means on the effects of the week.

    Attributes:
        information: The precision matrix of the effects, in rows.
        total: Information times the estimate.
        inverse: The inverse of `information`.
        estimate: The effects.
    """

    def __init__(self, information: Floats | None = None, total: Floats | None = None) -> None:
        prior = np.full(EFFECTS, PRIOR_ROWS)
        prior[0] = FREE
        self.information = np.diag(prior) if information is None else information
        self.total = np.zeros(EFFECTS) if total is None else total
        self._invert()

    def _invert(self) -> None:
        self.inverse: Floats = np.linalg.inv(self.information).astype(np.float64)
        self.estimate: Floats = self.inverse @ self.total
        self._updates = 0

    def predict(self, hour: int) -> tuple[float, float, Floats]:
        """The expected mean of an hour, its variance in units of one row's, and the covariance with all effects."""
        places = _places(hour % 168)[0]
        covariance: Floats = self.inverse[places].sum(axis=0)
        return float(self.estimate[places].sum()), float(covariance[places].sum()), covariance

    def add(self, hour: int, n: float, mean: float) -> None:
        """Take in the mean of an hour, of `n` rows that count alike (Sherman and Morrison 1950)."""
        self.add_predicted(hour, n, mean, self.predict(hour))

    def add_predicted(self, hour: int, n: float, mean: float, prediction: tuple[float, float, Floats]) -> None:
        """As `add`, with what `predict` says of this hour now."""
        expected, variance, covariance = prediction
        places, pairs = _places(hour % 168)
        gain = n / (1.0 + n * variance)
        self.inverse -= np.multiply.outer(gain * covariance, covariance)
        self.estimate += covariance * (gain * (mean - expected))
        self.information[pairs] += n
        self.total[places] += n * mean
        self._updates += 1
        if self._updates >= _REFRESH:
            self._invert()

    def without(self, hours: Places, n: Floats, sums: Floats) -> WeeklyBaseline:
        """The baseline as if it had never seen these hours.

        Args:
            hours: Hours since 1970, of which each was added.
            n: How many rows each had.
            sums: Their mean times `n`.
        """
        information, total = self.information.copy(), self.total.copy()
        for hour, rows, value in zip(hours.tolist(), n.tolist(), sums.tolist(), strict=True):
            places, pairs = _places(hour % 168)
            information[pairs] -= rows
            total[places] -= value
        return WeeklyBaseline(information, total)

    def rhythm(self) -> WeeklyBaseline:
        """What is known of the rhythm alone: the level is free again (the marginal of the other effects)."""
        cross, level = self.information[1:, 0], max(self.information[0, 0], FREE)
        information, total = np.zeros_like(self.information), np.zeros_like(self.total)
        information[0, 0] = FREE
        information[1:, 1:] = self.information[1:, 1:] - np.outer(cross, cross) / level
        total[1:] = information[1:, 1:] @ self.estimate[1:]
        return WeeklyBaseline(information, total)

    def state(self) -> dict[str, Any]:
        """The baseline as JSON values."""
        lower = np.tril_indices(EFFECTS)
        return {"information": to_text(self.information[lower]), "total": to_text(self.total)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> WeeklyBaseline:
        """The baseline of a `state`."""
        information = np.zeros((EFFECTS, EFFECTS))
        information[np.tril_indices(EFFECTS)] = from_text(state["information"])
        information = information + np.tril(information, -1).T
        return cls(information, from_text(state["total"]).copy())
