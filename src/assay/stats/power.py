"""How many rows it takes to see a drop, and what drop so many rows show, by the tests of `assay.stats.paired`.

Of yes-or-no scores on the same rows the probability is that of McNemar's exact test (Miettinen, Biometrics 24, 1968):
of n rows m differ, of these k rise; it is summed over m and k. Else the difference of the means is normal, with the
quantiles of Student's t for the rows (or clusters) that there are:

    power = P(T > t - drop / e),   e = sqrt(D v / n),  D the design effect, v the variance of a row's difference

Both runs alike, v = 2 s² (1 - r), with s² the variance of a score and r the correlation of the two scores of a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from assay.errors import InputError
from assay.stats.distributions import binomial_two_sided, normal_quantile, t_quantile, t_tail

CONFIDENCE, POWER = 0.95, 0.9
#: How much the scores of a row in two runs correlate, where nothing is known of it.
CORRELATION = 0.5
#: Rows that nobody has: what needs more is not to be seen.
MOST_ROWS = 10_000_000
_EXACT = 1000  # rows that differ, up to which their numbers are summed


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What scores are like, on the scale from 0 to 1.

    Attributes:
        mean: Of the first run.
        sd: Of the scores of different rows; None: scores are 0 or 1, and it follows from the mean.
        correlation: Of the two scores of a row, from -1 to 1, before any judge's noise.
        paired: Whether both runs are on the same rows; else each has n of its own.
        noise: The judge's: of scores that are 0 or 1 the share of readings that come out wrong, of graded ones the
            standard deviation of readings of one row; independent from run to run.
        design: The design effect of clusters: 1 for independent rows.
        size: Of a cluster that a row is in, on average.
    """

    mean: float = 0.8
    sd: float | None = None
    correlation: float = CORRELATION
    paired: bool = True
    noise: float = 0.0
    design: float = 1.0
    size: float = 1.0

    def __post_init__(self) -> None:
        most = 0.5 if self.sd is None else 1.0
        _check("mean", self.mean, 0.0, 1.0)
        _check("correlation", self.correlation, -1.0, 1.0)
        _check("noise", self.noise, 0.0, most)
        if self.noise == 0.5 and self.sd is None:
            raise InputError("noise: a judge that is wrong half of the time sees nothing")
        if self.sd is not None and not 0.0 < self.sd <= 0.5:
            raise InputError(f"sd: expected a number above 0 and up to 0.5 of scores from 0 to 1, got {self.sd}")
        if not (1.0 <= self.design < math.inf and 1.0 <= self.size < math.inf):
            raise InputError("clusters: expected a size and a design effect of 1 or more")

    @property
    def binary(self) -> bool:
        return self.sd is None

    def flips(self, drop: float) -> tuple[float, float]:
        """The shares of rows that are seen to rise and to fall; of scores that are 0 or 1, on the same rows."""
        alone = max(0.0, min(self.mean * (1.0 - self.mean) * (1.0 - self.correlation), self.mean - drop))
        up, down, wrong = alone, alone + drop, self.noise
        still = max(0.0, 1.0 - up - down) * wrong * (1.0 - wrong)
        right, both = (1.0 - wrong) ** 2, wrong**2
        return still + up * right + down * both, still + down * right + up * both

    def variance(self, drop: float) -> float:
        """Of the difference of a row (of one row of each run, where they are not the same)."""
        if self.binary and self.paired:
            up, down = self.flips(drop)
            return up + down - (down - up) ** 2
        r = self.correlation if self.paired else 0.0
        if self.sd is not None:
            return 2.0 * self.sd**2 * (1.0 - r) + 2.0 * self.noise**2
        seen = [self.noise + (1.0 - 2.0 * self.noise) * share for share in (self.mean, self.mean - drop)]
        return sum(share * (1.0 - share) for share in seen)

    def observed_drop(self, drop: float) -> float:
        """What is left of a drop where the judge is wrong now and then."""
        return drop * (1.0 - 2.0 * self.noise) if self.binary else drop

    def power(self, n: int, drop: float, alpha: float) -> float:
        """The probability that n rows show this drop, at the two-sided level alpha."""
        if n < 2:
            return 0.0
        if self.binary and self.paired and self.design == 1.0:
            up, down = self.flips(drop)
            if n * (up + down) <= _EXACT:
                return _mcnemar(n, up, down, alpha)
        return self._by_t(n, drop, alpha)

    def _by_t(self, n: int, drop: float, alpha: float) -> float:
        clusters = n / self.size if self.paired else 2.0 * n / self.size - 1.0
        if clusters < 2.0:
            return 0.0
        error = math.sqrt(self.design * self.variance(drop) / n)
        if not error:
            return 1.0
        far = self.observed_drop(drop) / error - t_quantile(1.0 - alpha / 2.0, clusters - 1.0)
        tail = t_tail(far, clusters - 1.0) / 2.0
        return 1.0 - tail if far > 0 else tail

    @property
    def most(self) -> float:
        """The largest drop that there can be."""
        return self.mean


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:  # nor is NaN
        raise InputError(f"{name}: expected a number from {low:g} to {high:g}, got {value}")


def rows_needed(
    world: Assumptions, drop: float, *, power: float = POWER, alpha: float = 1.0 - CONFIDENCE
) -> int | None:
    """The fewest rows that show this drop with this probability; None where no number does (`MOST_ROWS`).

    Raises InputError for a drop outside of (0, mean], a power or an alpha outside of (0, 1).
    """
    _check_arguments(world, drop, power, alpha)
    high = 2
    while world.power(high, drop, alpha) < power:
        high *= 2
        if high > MOST_ROWS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if world.power(middle, drop, alpha) >= power else (middle, high)
    return high


def detectable_drop(
    world: Assumptions, n: int, *, power: float = POWER, alpha: float = 1.0 - CONFIDENCE
) -> float | None:
    """The smallest drop that n rows show with this probability, to 0.0001; None where none is."""
    _check_arguments(world, world.most, power, alpha)
    if n < 1:
        raise InputError(f"rows: expected at least 1, got {n}")
    low, high = 0.0, world.most
    if world.power(n, high, alpha) < power:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if world.power(n, middle, alpha) >= power else (middle, high)
    return high


def _check_arguments(world: Assumptions, drop: float, power: float, alpha: float) -> None:
    if not 0.0 < drop <= world.most:
        raise InputError(f"drop: expected a number above 0 and up to the mean, {world.most:.3g}; got {drop}")
    for name, value in (("power", power), ("confidence", 1.0 - alpha)):
        if not 0.0 < value < 1.0:
            raise InputError(f"{name}: expected a number between 0 and 1, got {value}")


# ---- McNemar's exact test --------------------------------------------------------------------------------------------


def _mcnemar(n: int, up: float, down: float, alpha: float) -> float:
    """The probability that it finds more falls than rises."""
    share = up + down
    if share <= 0.0:
        return 0.0
    middle, reach = n * share, 7.0 * math.sqrt(n * share * (1.0 - share)) + 7.0
    found = 0.0
    for m in range(max(0, math.floor(middle - reach)), min(n, math.ceil(middle + reach)) + 1):
        few = _few(m, alpha)
        if few >= 0:
            found += _binomial(n, m, share) * _up_to(m, few, up / share)
    return min(1.0, found)


def _up_to(n: int, most: int, p: float) -> float:
    """The probability of `most` or fewer of n; those so far from what is likely that they add nothing are left out."""
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return float(most >= n)
    start = max(0, math.floor(n * p - 8.0 * math.sqrt(n * p * (1.0 - p)) - 8.0))
    one = _binomial(n, start, p)
    total, odds = 0.0, p / (1.0 - p)
    for k in range(start, most + 1):
        total += one
        one *= (n - k) / (k + 1) * odds
    return total


@lru_cache(maxsize=20_000)
def _few(m: int, alpha: float) -> int:
    """The most of m rows that may rise for the others to be surprisingly many; -1 where m are too few."""
    k = max(0, math.ceil(m / 2.0 + normal_quantile(alpha / 2.0) * math.sqrt(m) / 2.0) + 1)
    while k >= 0 and (2 * k >= m or binomial_two_sided(k, m) >= alpha):
        k -= 1
    return k


def _binomial(n: int, k: int, p: float) -> float:
    if p <= 0.0 or p >= 1.0:
        return float(k == (n if p >= 1.0 else 0))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))
