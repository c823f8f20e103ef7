"""Whether days differ by more than their rows say: topics of the day, an index rebuilt at night, a busy provider.

    factor = (sum of squares of standardised means of days + PRIOR_DAYS) / (n + sqrt(n / 2)),    n = days + PRIOR_DAYS

of the days that are older than four: a drop must not count as noise. At 1 or more: days that differ by less than their
rows say do so by chance. The root is half a standard error of the sum: a factor that is too large hides drops.
"""

from __future__ import annotations

import math
from typing import Any

#: Days before the present one that do not count.
LAG = 4
#: Days that count as seen whose means vary as their rows say.
PRIOR_DAYS = 6


def noise_factor(days: float, squares: float) -> float:
    """The factor of some days, by the sum of squares of their standardised means."""
    known = days + PRIOR_DAYS
    return max(1.0, (squares + PRIOR_DAYS) / (known + math.sqrt(known / 2.0)))


class DayNoise:
    """The variance of days' means in units of what their rows say."""

    def __init__(self) -> None:
        self._settled = (0, 0.0)  # days, sum of squares
        self._recent: dict[int, tuple[float, float]] = {}  # day -> sum of root n times surprise, sum of n
        self._today, self._factor = -1, 1.0

    def add(self, hour: int, surprise: float, n: float) -> None:
        """Take in a standardised surprise of `n` rows."""
        total, rows = self._recent.get(hour // 24, (0.0, 0.0))
        self._recent[hour // 24] = total + math.sqrt(n) * surprise, rows + n

    def factor(self, hour: int) -> float:
        """The factor by which variances are larger than rows say."""
        today = hour // 24
        if today == self._today:
            return self._factor
        self._today = today
        old = [day for day in self._recent if day < today - LAG]
        for day in old:
            total, rows = self._recent.pop(day)
            days, squares = self._settled
            self._settled = days + 1, squares + total * total / rows
        days, squares = self._settled
        self._factor = noise_factor(days, squares)
        return self._factor

    def state(self) -> dict[str, Any]:
        """The noise as JSON values."""
        return {
            "settled": list(self._settled),
            "factor": [self._today, self._factor],
            "recent": [[day, total, rows] for day, (total, rows) in self._recent.items()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> DayNoise:
        """The noise of a `state`."""
        made = cls()
        made._settled = int(state["settled"][0]), float(state["settled"][1])
        made._recent = {int(day): (float(total), float(rows)) for day, total, rows in state["recent"]}
        made._today, made._factor = int(state["factor"][0]), float(state["factor"][1])
        return made
