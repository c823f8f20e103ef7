"""What an interval has to know of scores, taken in one at a time: memory grows by clusters, not with the rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np

#: So many scores of an array are added one by one: a run that is read has the digits that it had when it was scored.
_ONE_BY_ONE = 20_000
#: By how much of the range equal scores may differ.
ROUNDING = 1e-12


@dataclass(slots=True)
class Moments:
    """Numbers of scores: how many, their mean, how far they lie from it.

    Attributes:
        squares: The sum of squared deviations from the mean (Welford, Technometrics 4, 1962).
        graded: Whether some score lies between the ends of the range; False where that has none.
        clusters: By cluster how many scores and their sum; None where nothing was said of clusters.
    """

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = -math.inf
    graded: bool = False
    clusters: dict[Hashable, tuple[int, float]] | None = None

    def add(self, value: float, low: float, high: float, cluster: Hashable | None = None) -> None:
        """Take in a score in [low, high]; those of a cluster hang together, None is no cluster."""
        self.n += 1
        off = value - self.mean
        self.mean += off / self.n
        self.squares += off * (value - self.mean)
        self.least, self.most = min(self.least, value), max(self.most, value)
        self.graded = self.graded or is_graded(value, low, high)
        if cluster is not None:
            if self.clusters is None:
                self.clusters = {}
            n, total = self.clusters.get(cluster, (0, 0.0))
            self.clusters[cluster] = n + 1, total + value

    @classmethod
    def of_array(
        cls, values: np.ndarray[Any, np.dtype[np.float64]], low: float, high: float,
        clusters: Sequence[Hashable] | None = None,
    ) -> Self:  # fmt: skip
        """The moments of many scores in [low, high] at once: as if each had been added, but for rounding.

        Args:
            values: The scores [n].
            low: Least value that there can be.
            high: Greatest value that there can be.
            clusters: The cluster of each score; None: nothing is known of clusters.
        """
        if len(values) <= _ONE_BY_ONE:
            found = cls()
            for value, name in zip(values.tolist(), clusters or [None] * len(values), strict=True):
                found.add(value, low, high, name)
            return found
        mean = float(values.mean())
        least, most = float(values.min()), float(values.max())
        width = high - low
        graded = False
        if math.isfinite(width):
            import numpy as np

            graded = bool((np.minimum(abs(values - low), abs(values - high)) > ROUNDING * width).any())
        found = cls(len(values), mean, float(((values - mean) ** 2).sum()), least, most, graded)
        if clusters is not None:
            sums: dict[Hashable, tuple[int, float]] = {}
            for name, value in zip(clusters, values.tolist(), strict=True):
                n, total = sums.get(name, (0, 0.0))
                sums[name] = n + 1, total + value
            found.clusters = sums
        return found

    def state(self) -> list[Any] | None:
        """All numbers but those of clusters, as plain JSON values; None where there is no score."""
        return [self.n, self.mean, self.squares, self.least, self.most, self.graded] if self.n else None

    @classmethod
    def from_state(cls, state: Sequence[Any] | None) -> Self:
        """What `state` returned."""
        return cls() if state is None else cls(*state)

    def merge(self, other: Moments) -> None:
        """Take in all that another has (Chan, Golub and LeVeque, COMPSTAT 1982)."""
        if other.n:
            n, off = self.n + other.n, other.mean - self.mean
            self.squares += other.squares + off * off * self.n * other.n / n
            self.mean += off * other.n / n
            self.n = n
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.graded = self.graded or other.graded
        if other.clusters is None:
            return
        if self.clusters is None:
            self.clusters = {}
        for cluster, (n, total) in other.clusters.items():
            known, so_far = self.clusters.get(cluster, (0, 0.0))
            self.clusters[cluster] = known + n, so_far + total

    @property
    def farthest(self) -> float:
        """The largest squared deviation from the mean."""
        return max((self.least - self.mean) ** 2, (self.most - self.mean) ** 2)


def is_graded(value: float, low: float, high: float) -> bool:
    """Whether a score lies between the ends of its range; False where that has none."""
    width = high - low
    return math.isfinite(width) and min(abs(value - low), abs(value - high)) > ROUNDING * width
