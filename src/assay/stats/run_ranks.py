"""Ranks of runs by their means, with intervals of a bootstrap over rows, or over clusters (Efron, Ann. Stat. 7, 1979).

All runs are resampled together: a draw takes the same rows of each, so that hard rows lower all of them. The
interval is that of percentiles. Runs of one mean share the better rank. Of many rows the means are drawn from the
normal distribution that resampled means tend to (Bickel and Freedman, Ann. Stat. 9, 1981).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.arrays import Floats, grouped

DRAWS = 2_000
_SEED = 20_261_128
_BLOCK = 2_000_000  # weights drawn at once
LARGE = 20_000  # rows, or clusters, from which on the normal limit is drawn from
_DIGITS = 12  # of means, beyond which runs are of one mean


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of one run, 1 for the best, with its interval."""

    mean: float
    rank: int
    low: int
    high: int


def rank_runs(
    scores: Sequence[Sequence[float]],
    *,
    higher: bool = True,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> list[Rank]:
    """Rank runs by their mean scores of the same rows; with a fixed seed. Empty where there are no rows.

    Args:
        scores: The scores of each run, in the same order of rows.
        higher: Whether higher scores are better.
        clusters: The cluster of each row.
        confidence: Confidence of the intervals.
    """
    table = np.asarray(scores, dtype=float)
    if not table.size:
        return []
    sizes, _ = grouped(table[0], clusters)
    sums = np.stack([grouped(row, clusters)[1] for row in table])
    drawn = _drawn(sums, sizes, higher)
    ends = np.quantile(drawn, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0], axis=0, method="inverted_cdf")
    means = table.mean(axis=1)
    ranks = _ranks(means[None, :], higher)[0]
    return [
        Rank(float(mean), int(rank), int(min(low, rank)), int(max(high, rank)))
        for mean, rank, low, high in zip(means, ranks, *ends, strict=True)
    ]


def _drawn(sums: Floats, sizes: Floats, higher: bool) -> Floats:
    """The ranks of each draw: its rows (or clusters) drawn with replacement."""
    rng = np.random.default_rng(_SEED)
    count = sizes.size
    if count >= LARGE:
        means = sums.sum(axis=1) / sizes.sum()
        parts = (sums - means[:, None] * sizes) / sizes.sum()  # what each row moves the means by
        return _ranks(rng.multivariate_normal(means, parts @ parts.T, size=DRAWS, method="eigh"), higher)
    block = max(1, _BLOCK // count)
    found = []
    for done in range(0, DRAWS, block):
        draws = (rng.integers(count, size=count) for _ in range(min(block, DRAWS - done)))
        weights = np.stack([np.bincount(one, minlength=count) for one in draws]).astype(np.float64)
        found.append(_ranks((weights @ sums.T) / (weights @ sizes)[:, None], higher))
    return np.concatenate(found)


def _ranks(means: Floats, higher: bool) -> Floats:
    """For each line of means, 1 and how many are better."""
    rounded = np.round(means if higher else -means, _DIGITS)
    better: Floats = 1.0 + (rounded[:, None, :] > rounded[:, :, None]).sum(axis=2)
    return better
