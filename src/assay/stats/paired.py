"""Two runs on the same rows: the mean difference with its interval, and how surprising it would be by chance.

The interval is put together from those of what rose and of what fell, each a mean of scores from 0 to the whole range
(the method of variance estimates recovery: Newcombe, Stat. Med. 17, 1998; Zou and Donner, Stat. Med. 27, 2008):

    low   d - sqrt((up - its low)² + (its high - down)² - 2r (up - its low)(its high - down)),  d = up - down
    high  likewise with the other ends; r is the correlation of the two means

so that runs of which few rows differ, or none, get an interval that says how many rows were looked at. Differences of
one size are answers to a yes-or-no question, so a mean of theirs goes from 0 to that size; where fewer than `GRADED`
rows differ they may not have shown how large differences can be, and the scale is nearer to the whole range. Where
`GRADED` rows or more differ, by several sizes, the interval of their mean is taken as it is (`assay.stats.intervals`):
put together from two skewed parts it was up to twice as wide, and held the truth less often (tests/stats/widths.py).

Of scores that are all nearly at the ends of the range (see `assay.stats.intervals`) the interval reaches at least as
far as that of the same rows rounded to the ends.

p is that of a sign-flip test: were both runs alike, the difference of each row (of each cluster together) could as well
have the other sign. All flips are counted where they are few, or where all differences are of one size (then it is
McNemar's exact test); else it is `FLIPS` of them drawn with a fixed seed, p = (1 + at least as far) / (1 + FLIPS)
(Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010). Above `MANY` the sum of flips counts as normal.

The interval holds 0 exactly where the test does not reject it: it is cut, or extended, at 0. So both are one confidence
set, of the values that are not rejected, 0 by the test and others by the interval (the construction of Hsu and Berger,
J. Am. Stat. Assoc. 94, 1999). It holds a difference of 0 as often as the test, and others as often as the interval.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.arrays import Floats, grouped
from assay.stats.classic import Method, classic
from assay.stats.distributions import binomial_two_sided, normal_quantile, t_quantile
from assay.stats.intervals import Estimate, estimate, piled
from assay.stats.moments import ROUNDING

FLIPS = 9_999
#: Rows (or clusters) with differences of several sizes, from which on these say enough of how much rows differ.
GRADED = 5
#: By what share of the largest difference others may fall short of it and still are of one size.
ONE_SIZE = 0.01
#: Rows (or clusters) with a difference, up to which all flips are counted.
COUNTED = 14
#: Rows (or clusters) with a difference, from which on the sum of flips counts as normal. It is a sum of independent
#: terms that are symmetric about 0, so its distance from the normal distribution falls with their number (Berry and
#: Esseen); at so many it is below what `FLIPS` draws vary by.
MANY = 20_000
_SEED = 20_261_123
_BESIDE = 1e-12  # the end of an interval that does not hold 0
_BLOCK = 2_000_000  # signs drawn at once
POWER = 0.9


@dataclass(frozen=True, slots=True)
class Difference(Tabular):
    """How much higher the second run is than the first on the same rows.

    Attributes:
        estimate: The mean difference with its interval.
        p: See the module; 1.0 where no row differs.
        detectable: The difference that so many rows show with probability `POWER`, about; None where they show none.
    """

    _columns = (
        "first second difference=estimate.mean low=estimate.low high=estimate.high p "
        "minimum_detectable_effect=detectable"
    )

    first: float
    second: float
    estimate: Estimate
    p: float
    detectable: float | None

    def agreeing(self, p: float) -> Difference:
        """Return it with an interval that agrees with a p-value, which may be corrected for other tests.

        Args:
            p: The p-value.

        Returns:
            The difference. Its interval holds 0 if and only if `p` is 1 - confidence or more.
        """
        by = self.estimate
        if p >= 1.0 - by.confidence:
            return replace(self, estimate=replace(by, low=min(by.low, 0.0), high=max(by.high, 0.0)))
        side = math.copysign(_BESIDE, by.mean)
        if by.mean > 0.0:
            return replace(self, estimate=replace(by, low=max(by.low, min(side, by.mean))))
        return replace(self, estimate=replace(by, high=min(by.high, max(side, by.mean))))


def difference(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    low: float = 0.0,
    high: float = 1.0,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    method: Method = "sign-flip",
    corrects: bool = False,
) -> Difference | None:
    """The second run's scores minus the first's, row by row; None where there are no rows. Raises as `estimate`.

    `method` is the test that p is of; others than the default, and what they raise, stand in `assay.stats.classic`.
    `corrects`: the caller corrects p for other tests, and lets the interval agree with that (`Difference.agreeing`).
    """
    a, b = checked_pairs(first, second, low, high, clusters)
    found = _interval(a, b, low, high, clusters, confidence)
    if found is None:
        return None
    p = sign_flip(grouped(b - a, clusters)[1]) if method == "sign-flip" else classic(a, b, low, high, method, clusters)
    whole = Difference(float(a.mean()), float(b.mean()), found, p, detectable(found, high - low))
    return whole if corrects or method != "sign-flip" else whole.agreeing(p)


@dataclass(frozen=True, slots=True)
class NonInferior(Tabular):
    """Whether the second run is at most `margin` worse than the first.

    Attributes:
        estimate: How much better the second run is: the mean difference, with the sign that makes higher better. Each
            of its ends is wrong with probability `alpha` at most, so its confidence is 1 - 2 alpha.
        verdict: "pass" where all of the interval lies above -margin, "fail" where all of it lies below 0 and does not
            pass, None where neither is shown.
    """

    _columns = "verdict margin difference=estimate.mean low=estimate.low high=estimate.high"

    estimate: Estimate
    margin: float
    verdict: Literal["pass", "fail"] | None


def non_inferior(
    first: Sequence[float],
    second: Sequence[float],
    margin: float,
    low: float = 0.0,
    high: float = 1.0,
    *,
    direction: Literal["higher", "lower"] = "higher",
    clusters: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
) -> NonInferior | None:
    """Whether the second run is worse by less than `margin`, by the ends of one interval; None where there are no rows.

    Passing is a one-sided test at `alpha` (the lower half of Schuirmann's two, J. Pharmacokinet. Biopharm. 15, 1987).
    `direction` says which scores are good. Raises InputError for a margin that is not above 0 (it is on the scale of
    the scores), an alpha outside of (0, 0.5), and as `difference`.
    """
    if not (margin > 0.0 and math.isfinite(margin)):
        raise InputError(f"margin: expected a number above 0, got {margin}")
    if not 0.0 < alpha < 0.5:
        raise InputError(f"alpha: expected a number between 0 and 0.5, got {alpha}")
    worse, better = (first, second) if direction == "higher" else (second, first)
    compared = difference(worse, better, low, high, clusters=clusters, confidence=1.0 - 2.0 * alpha)
    if compared is None:
        return None
    found = compared.estimate
    verdict: Literal["pass", "fail"] | None = "fail" if found.high < 0.0 else None
    return NonInferior(found, margin, "pass" if found.low > -margin else verdict)


def checked_pairs(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    low: float,
    high: float,
    clusters: Sequence[Hashable] | None,
) -> tuple[Floats, Floats]:
    """Both runs' scores; InputError where they are not as many, or outside of the range."""
    if len(first) != len(second):
        raise InputError(f"second: expected {len(first)} scores, as many as the first run has, got {len(second)}")
    for scores in (first, second):
        estimate(scores, low, high, clusters=clusters)  # for what it refuses
    return np.asarray(first, dtype=float), np.asarray(second, dtype=float)


def _interval(
    first: Floats, second: Floats, low: float, high: float, clusters: Sequence[Hashable] | None, confidence: float
) -> Estimate | None:
    moved, width = second - first, high - low
    whole = estimate(moved, -width, width, clusters=clusters, confidence=confidence)
    if whole is None or whole.error is None or not math.isfinite(width):
        return whole
    sizes = np.abs(moved[np.abs(moved) > 1e-12])
    _, sums = grouped(moved, clusters)
    differ = int((np.abs(sums) > 1e-12).sum())
    if differ >= GRADED and np.ptp(sizes) > ONE_SIZE * sizes.max():
        found = whole
    else:
        step = float(sizes.max()) if sizes.size else width
        found = _of_parts(whole, moved, step + (width - step) * max(0.0, 1.0 - differ / GRADED) ** 2, clusters)
    return _rounded_too(found, first, second, low, high, clusters)


def _of_parts(whole: Estimate, moved: Floats, scale: float, clusters: Sequence[Hashable] | None) -> Estimate:
    """The mean with an interval put together from those of what rose and of what fell, from 0 to `scale` each."""
    up, down = np.maximum(moved, 0.0), np.maximum(-moved, 0.0)
    rose = estimate(up, 0.0, scale, clusters=clusters, confidence=whole.confidence)
    fell = estimate(down, 0.0, scale, clusters=clusters, confidence=whole.confidence)
    assert rose is not None
    assert fell is not None
    _, ups = grouped(up - up.mean(), clusters)
    _, downs = grouped(down - down.mean(), clusters)
    spread = math.sqrt(float((ups**2).sum() * (downs**2).sum()))
    r = float((ups * downs).sum()) / spread if spread else 0.0
    low = whole.mean - _joined(rose.mean - rose.low, fell.high - fell.mean, r)
    high = whole.mean + _joined(rose.high - rose.mean, fell.mean - fell.low, r)
    return replace(whole, low=max(-scale, low), high=min(scale, high))


def _rounded_too(
    found: Estimate, first: Floats, second: Floats, low: float, high: float, clusters: Sequence[Hashable] | None
) -> Estimate:
    """At least as long as that of the rows rounded to the ends of the range, as far as all are nearly there."""
    both, width = np.concatenate([first, second]), high - low
    off = np.minimum(both - low, high - both) / width
    near = piled(max(0.0, float(off.min())), float(off.max()))
    if near <= 0.0 or off.max() <= ROUNDING:
        return found
    ends = np.where(2.0 * both > low + high, width, 0.0)
    moved = ends[first.size :] - ends[: first.size]
    mean = float(moved.mean())
    rounded = _of_parts(replace(found, mean=mean), moved, width, clusters)
    return replace(
        found,
        low=max(-width, min(found.low, found.mean - near * (mean - rounded.low))),
        high=min(width, max(found.high, found.mean + near * (rounded.high - mean))),
    )


def detectable(found: Estimate, width: float, tests: int = 1) -> float | None:
    """The reach of the interval, as much longer as it has to be to lie beside 0 with probability `POWER`.

    With several tests, at the level that the first of them has to pass (Holm: 1 - confidence over their number).
    """
    if found.error is None:
        return None
    beside, degrees = (1.0 - found.confidence) / 2.0, found.clusters - 1
    t = t_quantile(1.0 - beside, degrees)
    needed = t_quantile(1.0 - beside / tests, degrees) + normal_quantile(POWER)
    reach = max(found.mean - found.low, found.high - found.mean) * needed / t
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
    if moved.size > MANY:
        return math.erfc(abs(float(moved.sum())) / math.sqrt(2.0 * float((moved**2).sum())))
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
