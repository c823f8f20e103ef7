"""Hourly sums of the last weeks: what a baseline has to give back when the level is found to have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import Floats

#: Hours that are kept: more than the oldest change that is looked for.
KEPT = 31 * 24


class HourLog:
    """By the hour in which rows came and the hour to which they belong: how many, and the sum of their scores."""

    def __init__(self) -> None:
        self._sums: dict[tuple[int, int], tuple[float, float]] = {}
        self._oldest = 0

    def add(self, came: int, own: int, n: float, mean: float) -> None:
        """Take in `n` rows, of this mean score."""
        rows, total = self._sums.get((came, own), (0.0, 0.0))
        self._sums[came, own] = rows + n, total + n * mean
        if came >= self._oldest + 24:
            self._oldest = came
            self._sums = {key: one for key, one in self._sums.items() if key[0] > came - KEPT}

    def since(self, hour: int) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
        """Of rows that came in this hour or later: the hours to which they belong, how many, and their sums."""
        found = [(own, *one) for (came, own), one in self._sums.items() if came >= hour]
        return (
            np.array([own for own, _, _ in found], dtype=np.int64),
            np.array([n for _, n, _ in found]),
            np.array([total for _, _, total in found]),
        )

    def rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
        """Of all rows: the hours in which they came, those to which they belong, and how many."""
        came, own = (np.array([key[part] for key in self._sums], dtype=np.int64) for part in (0, 1))
        return came, own, np.array([n for n, _ in self._sums.values()])

    def forget(self, hour: int) -> None:
        """Forget the rows that came in this hour or later."""
        self._sums = {key: one for key, one in self._sums.items() if key[0] < hour}

    def last_day(self, hour: int) -> tuple[float, float]:
        """How many rows came in the 24 hours up to this one, and the sum of their scores."""
        found = [one for key, one in self._sums.items() if key[0] > hour - 24]
        return sum(n for n, _ in found), sum(total for _, total in found)

    def state(self) -> list[list[float]]:
        """The sums as JSON values."""
        return [[came, own, n, total] for (came, own), (n, total) in self._sums.items()]

    @classmethod
    def from_state(cls, state: Any) -> HourLog:
        """The log of a `state`."""
        made = cls()
        made._sums = {(int(came), int(own)): (float(n), float(total)) for came, own, n, total in state}
        made._oldest = max((came for came, _ in made._sums), default=0)
        return made
