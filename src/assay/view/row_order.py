"""The rows of a page, by key: a page begins after (or ends before) the value and number of a row, not at a place."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assay.errors import InputError

PAGE = 50


class RowKey(NamedTuple):
    """Where a row stands in an order: by its value, then by its number."""

    value: float
    number: int

    def __str__(self) -> str:
        return f"{self.value!r},{self.number}"

    @classmethod
    def parse(cls, text: str, name: str) -> RowKey:
        """Read what `str` wrote. Raises InputError."""
        value, comma, number = text.partition(",")
        try:
            found = cls(float(value), int(number) if len(number) < 19 else -1)
        except ValueError:
            found = cls(math.nan, -1)
        if not comma or math.isnan(found.value) or found.number < 0:
            raise InputError(f"{name}: expected VALUE,NUMBER of a row, got {text[:60]!r}")
        return found


class RowOrder(NamedTuple):
    """Rows in an order.

    Attributes:
        numbers: Numbers of all rows of the run, rising [n].
        mask: Those that are listed [n].
        values: The values they are ordered by, rising [n]; rows of one value by their numbers.
    """

    numbers: np.ndarray
    mask: np.ndarray
    values: np.ndarray

    def key_of(self, number: int) -> RowKey | None:
        """Where a row stands; None for one that the run has not."""
        place = int(np.searchsorted(self.numbers, number))
        if place == len(self.numbers) or int(self.numbers[place]) != number:
            return None
        return RowKey(float(self.values[place]), number)

    def after(self, key: RowKey | None, count: int) -> list[RowKey]:
        """The first rows behind a key, or of all, in order."""
        mask = self.mask
        if key is not None:
            mask = mask & ((self.values > key.value) | ((self.values == key.value) & (self.numbers > key.number)))
        places = _smallest(self.values, np.flatnonzero(mask), count)
        return [RowKey(float(self.values[place]), int(self.numbers[place])) for place in places]

    def before(self, key: RowKey, count: int) -> list[RowKey]:
        """The last rows before a key, in order."""
        turned = RowOrder(-self.numbers[::-1], self.mask[::-1], -self.values[::-1])
        found = turned.after(RowKey(-key.value, -key.number), count)
        return [RowKey(-value, -number) for value, number in reversed(found)]


def _smallest(values: np.ndarray, places: np.ndarray, count: int) -> list[int]:
    """The places with the smallest values, in order; of equal ones the first. `places` rise."""
    if len(places) > count:
        limit = np.partition(values[places], count - 1)[count - 1]
        below = places[values[places] < limit]
        equal = places[values[places] == limit][: count - len(below)]
        places = np.sort(np.concatenate([below, equal]))
    found: list[int] = places[np.argsort(values[places], kind="stable")].tolist()
    return found
