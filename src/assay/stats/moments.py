"""What an interval has to know of scores, taken in one at a time: memory grows by clusters, not with the rows."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

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
