"""The variance of scores in clusters, from a stream: rows of a conversation come over hours, and count together.

    variance = sum over clusters of (sum of weighted deviations)² / sum of squared weights

That is the variance of one row that makes the variance of a mean right, whatever the correlation within clusters (Liang
and Zeger, Biometrika 73, 1986). Clusters are known by a hash of their name, never by the name. Where there are more
than `MOST` at a time, a part of them is followed, chosen by the hash.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from assay.stats.arrays import Floats

#: Clusters that are followed at a time.
MOST = 500
#: Hours after which a cluster without a row is over.
IDLE = 24
_HASHES = 1 << 32


class ClusterVariance:
    """Variance of a row, with the rows of a cluster taken together.

    Deviations are in shares of the range of scores. A deviation of the whole range counts as seen from the start: where
    all rows were good, the next one may be bad.
    """

    def __init__(self) -> None:
        self._squares = 1.0  # of clusters' sums
        self._alone = 1.0  # of rows
        self._weights = 1.0  # squares of weights
        self._below = _HASHES  # clusters with a hash below this are followed
        self._open: dict[int, tuple[float, int]] = {}  # hash -> sum of deviations, last hour

    @property
    def variance(self) -> float:
        """That of one row."""
        return max(self._squares, self._alone) / self._weights

    @property
    def design_effect(self) -> float:
        """How many times more variance the mean has than that of independent rows; 1 or more."""
        return max(1.0, self._squares / self._alone)

    def add(self, deviations: Floats, weights: Floats, clusters: Sequence[Hashable] | None, hour: int) -> None:
        """Take in rows of an hour: deviations from what was expected, weights of mean 1 or so, clusters."""
        weighted = deviations * weights
        if clusters is None:
            self._alone_rows(weighted, weights)
            return
        hashes = {one: None if one is None else _hash(one) for one in set(clusters)}
        keys = [hashes[one] for one in clusters]
        below = self._below
        if below < _HASHES or None in hashes:
            alone = np.array([key is None for key in keys])
            self._alone_rows(weighted[alone], weights[alone])
            kept = np.array([key is not None and key < below for key in keys])
            weighted, weights = weighted[kept], weights[kept]
            keys = [key for key, one in zip(keys, kept.tolist(), strict=True) if one]
        self._alone += float(weighted @ weighted)
        self._weights += float(weights @ weights)
        sums: dict[int | None, float] = {}
        for key, value in zip(keys, weighted.tolist(), strict=True):
            sums[key] = sums.get(key, 0.0) + value
        for key, value in sums.items():
            assert key is not None
            before = self._open.get(key, (0.0, hour))[0]
            self._squares += value * (2.0 * before + value)  # (before + value)² - before²
            self._open[key] = (before + value, hour)
        if len(self._open) > MOST:
            self._forget(hour)

    def _alone_rows(self, weighted: Floats, weights: Floats) -> None:
        squares = float(weighted @ weighted)
        self._squares += squares
        self._alone += squares
        self._weights += float(weights @ weights)

    def _forget(self, hour: int) -> None:
        self._open = {key: one for key, one in self._open.items() if hour - one[1] < IDLE}
        while len(self._open) > 3 * MOST // 4:
            self._below //= 2
            self._open = {key: one for key, one in self._open.items() if key < self._below}

    def state(self) -> dict[str, Any]:
        """The variance as JSON values."""
        return {
            "sums": [self._squares, self._alone, self._weights],
            "below": self._below,
            "open": [[key, value, hour] for key, (value, hour) in self._open.items()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ClusterVariance:
        """The variance of a `state`."""
        made = cls()
        made._squares, made._alone, made._weights = (float(one) for one in state["sums"])
        made._below = int(state["below"])
        made._open = {int(key): (float(value), int(hour)) for key, value, hour in state["open"]}
        return made


def _hash(cluster: Hashable) -> int:
    return crc32(str(cluster).encode("utf-8", "surrogatepass"))
