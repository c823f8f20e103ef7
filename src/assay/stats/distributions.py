"""Quantiles and tails that the intervals and tests need, without scipy.

Tails are in [0, 1]. Accurate to about 1e-12 relative; held to scipy's by recorded values.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_STEPS = 300
_TINY = 1e-300
_SERIES = 20.0  # from which on the series of gamma functions is exact to 1e-15
_HEAVY = 2.0  # degrees of freedom, below which Hill's form does not hold
_NEWTON = 60


def normal_quantile(p: float) -> float:
    """The value below which a standard normal lies with probability p, in (0, 1)."""
    return NormalDist().inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz)."""
    return _beta_cdf(x, 1.0 - x, a, b)


def _beta_cdf(x: float, rest: float, a: float, b: float) -> float:
    """The same with `rest` = 1 - x, of which the smaller one may be known to more digits."""
    if x <= 0.0:
        return 0.0
    if rest <= 0.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):  # where the fraction of the other side converges quickly
        return 1.0 - _beta_cdf(rest, x, b, a)
    logs = (math.log(x), math.log1p(-x)) if x < rest else (math.log1p(-rest), math.log(rest))
    return math.exp(a * logs[0] + b * logs[1] - _log_beta(a, b)) * _fraction(x, a, b) / a


def _log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function. Gamma functions of large arguments would lose digits to each other."""
    small, large = min(a, b), max(a, b)
    if small != 0.5 or large < _SERIES:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return 0.5 * math.log(math.pi) - _log_gamma_ratio(large)


def _log_gamma_ratio(a: float) -> float:
    """log(gamma(a + 1/2) / gamma(a)) for a of 20 or more, by its asymptotic series (DLMF 5.11)."""
    square = 1.0 / (a * a)
    series = 1 / 8 - square * (1 / 192 - square * (1 / 640 - square * (17 / 14336 - square * (31 / 18432))))
    return 0.5 * math.log(a) - series / a


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1.0 / (_nonzero(1.0 - (a + b) * x / (a + 1.0)))
    value = d
    for m in range(1, _STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _nonzero(1.0 + numerator * d)
            c = _nonzero(1.0 + numerator / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_tail(t: float, df: float) -> float:
    """P(|T| >= |t|) of Student's t with `df` degrees of freedom, which need not be whole."""
    square = t * t
    return _beta_cdf(df / (df + square), square / (df + square), df / 2.0, 0.5)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The value below which Student's t lies with probability p, in (0.5, 1); `df` > 0 need not be whole.

    Newton steps on the logarithms of tail and value, from the closed form of Hill (CACM 13, 1970, algorithm 396), or
    below 2 degrees of freedom from that of a heavy tail.
    """
    tail = 2.0 * (1.0 - p)
    t = _hill(tail, df) if df >= _HEAVY else _heavy(tail, df)
    for _ in range(_NEWTON):
        now = t_tail(t, df)
        # the slope of log(tail) over log(t), which is nearly straight
        slope = -2.0 * math.exp(math.log(t) + _log_density(t, df) - math.log(now))
        step = math.log(tail / now) / slope
        t *= math.exp(min(max(step, -1.0), 1.0))
        if abs(step) < 1e-15:
            break
    return t


def _log_density(t: float, df: float) -> float:
    return -_log_beta(df / 2.0, 0.5) - 0.5 * math.log(df) - (df + 1.0) / 2.0 * math.log1p(t * t / df)


def _heavy(tail: float, df: float) -> float:
    """Where the power law of the far tail of few degrees of freedom has this probability."""
    density = math.exp(-_log_beta(df / 2.0, 0.5) + 0.5 * df * math.log(df))
    return float((2.0 * density / (df * tail)) ** (1.0 / df))


def _hill(tail: float, df: float) -> float:
    """The two-sided quantile to some digits, of 2 degrees of freedom or more."""
    if df == 2.0:
        return math.sqrt(2.0 / (tail * (2.0 - tail)) - 2.0)
    a = 1.0 / (df - 0.5)
    b = 48.0 / (a * a)
    c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * math.sqrt(a * math.pi / 2.0) * df
    y = (d * tail) ** (2.0 / df)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(tail / 2.0)
        y = x * x
        if df < 5:
            c += 0.3 * (df - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x
        y = math.expm1(a * y * y)
    else:
        y = ((1.0 / (((df + 6.0) / (df * y) - 0.089 * d - 0.822) * (df + 2.0) * 3.0) + 0.5 / (df + 4.0)) * y - 1.0) * (
            df + 1.0
        ) / (df + 2.0) + 1.0 / y
    return math.sqrt(df * y)


def binomial_two_sided(k: int, n: int) -> float:
    """P of a split of n fair coins at least as uneven as k against n - k. 1.0 for n = 0."""
    few = min(k, n - k)
    tail = math.fsum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - n * math.log(2.0))
                     for i in range(few + 1))  # fmt: skip
    return min(1.0, 2.0 * tail)
