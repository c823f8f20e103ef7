"""Two runs on the same rows: the mean difference with its interval, and how surprising it would be by chance.

The interval is put together from those of what rose and of what fell, each a mean of scores from 0 to the whole range
(the method of variance estimates recovery: Newcombe, Stat. Med. 17, 1998; Zou and Donner, Stat. Med. 27, 2008):

    low   d - sqrt((up - its low)² + (its high - down)² - 2r (up - its low)(its high - down)),  d = up - down
    high  likewise with the other ends; r is the correlation of the two means

so that runs of which few rows differ, or none, get an interval that says how many rows were looked at.

p is that of a sign-flip test: were both runs alike, the difference of each row (of each cluster together) could as well
have the other sign. All flips are counted where they are few, or where all differences are of one size (then it is
McNemar's exact test); else it is `FLIPS` of them drawn with a fixed seed, p = (1 + at least as far) / (1 + FLIPS)
(Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import InputError
from assay.stats.distributions import binomial_two_sided, normal_quantile, t_quantile
from assay.stats.intervals import Estimate, Floats, estimate, grouped

FLIPS = 9_999
#: Rows (or clusters) with a difference, up to which all flips are counted.
COUNTED = 14
_SEED = 20_261_123
_BLOCK = 2_000_000  # signs drawn at once
POWER = 0.9


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher the second run is than the first on the same rows.

    estimate    the mean difference with its interval
    p           see the module; 1.0 where no row differs
    detectable  the difference that so many rows show with probability `POWER`, about; None where they show none
    """

    first: float
    second: float
    estimate: Estimate
    p: float
    detectable: float | None


def difference(
    first: Sequence[float],
    second: Sequence[float],
    low: float = 0.0,
    high: float = 1.0,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Difference | None:
    """The second run's scores minus the first's, row by row; None where there are no rows. Raises as `estimate`."""
    if len(first) != len(second):
        raise InputError(f"second: expected {len(first)} scores, as many as the first run has, got {len(second)}")
    for scores in (first, second):
        estimate(scores, low, high, clusters=clusters, confidence=confidence)  # for what it refuses
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    found = _interval(b - a, high - low, clusters, confidence)
    if found is None:
        return None
    _, sums = grouped(b - a, clusters)
    return Difference(float(a.mean()), float(b.mean()), found, sign_flip(sums), _detectable(found, high - low))


def _interval(moved: Floats, width: float, clusters: Sequence[Hashable] | None, confidence: float) -> Estimate | None:
    whole = estimate(moved.tolist(), -width, width, clusters=clusters, confidence=confidence)
    if whole is None or whole.error is None or not math.isfinite(width):
        return whole
    up, down = np.maximum(moved, 0.0), np.maximum(-moved, 0.0)
    rose = estimate(up.tolist(), 0.0, width, clusters=clusters, confidence=confidence)
    fell = estimate(down.tolist(), 0.0, width, clusters=clusters, confidence=confidence)
    assert rose is not None
    assert fell is not None
    _, ups = grouped(up - up.mean(), clusters)
    _, downs = grouped(down - down.mean(), clusters)
    spread = math.sqrt(float((ups**2).sum() * (downs**2).sum()))
    r = float((ups * downs).sum()) / spread if spread else 0.0
    low = whole.mean - _joined(rose.mean - rose.low, fell.high - fell.mean, r)
    high = whole.mean + _joined(rose.high - rose.mean, fell.mean - fell.low, r)
    return replace(whole, low=max(-width, low), high=min(width, high))


def _detectable(found: Estimate, width: float) -> float | None:
    """The reach of the interval, as much longer as it has to be to lie beside 0 with probability `POWER`."""
    if found.error is None:
        return None
    t = t_quantile(0.5 + found.confidence / 2.0, found.clusters - 1)
    reach = max(found.mean - found.low, found.high - found.mean) * (t + normal_quantile(POWER)) / t
    return reach if reach < width else None


def _joined(one: float, other: float, r: float) -> float:
    return math.sqrt(max(0.0, one * one + other * other - 2.0 * r * one * other))


def sign_flip(differences: Sequence[float] | Floats) -> float:
    """The two-sided p of a mean difference of 0; see the module."""
    moved = np.asarray(differences, dtype=float)
    moved = moved[np.abs(moved) > 1e-12]
    if not moved.size:
        return 1.0
    sizes = np.abs(moved)
    if np.ptp(sizes) <= 1e-9 * sizes.max():
        return binomial_two_sided(int((moved > 0).sum()), int(moved.size))
    far = abs(moved.sum()) - 1e-9 * sizes.sum()  # ties with what was seen count
    if moved.size <= COUNTED:
        signs = 1 - 2 * ((np.arange(2**moved.size)[:, None] >> np.arange(moved.size)) & 1)
        return float((np.abs(signs @ moved) >= far).mean())
    rng = np.random.default_rng(_SEED)
    block = max(1, _BLOCK // moved.size)
    further = sum(
        int((np.abs(_signs(rng, min(block, FLIPS - done), moved.size) @ moved) >= far).sum())
        for done in range(0, FLIPS, block)
    )
    return (1 + further) / (1 + FLIPS)


def _signs(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    return (rng.integers(0, 2, (rows, columns), dtype=np.int8) * 2.0 - 1.0).astype(np.float64)


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for their number: that of any wrong one among them (Holm, Scand. J. Stat. 6, 1979)."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, number in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = highest
    return adjusted
