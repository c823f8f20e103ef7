"""A difference of two runs by different judges, less what the judges differ by.

The judges' offset is the mean difference of their scores of the same answers (anchors; mean equating: Kolen and
Brennan, Test Equating, Scaling, and Linking, 3rd ed. 2014, ch. 2). The interval of what is left is put together from
both (Zou and Donner, Stat. Med. 27, 2008):

    low   d - o - sqrt((d - its low)² + (o's high - o)²),   high likewise

p is that of d - o over its standard error, in Student's t (degrees of freedom by Welch, Biometrika 34, 1947). The error
of each is the distance from its mean to the end of its interval on the side of 0, over Student's quantile: anchors of
which none differs have a standard error of 0, but an interval that says how many there are. So p is below the level
exactly where the interval does not hold 0. Where anchors are among the rows compared, the interval is too wide rather
than too narrow.
"""

from __future__ import annotations

import math
from dataclasses import replace

from assay.stats.distributions import t_quantile, t_tail
from assay.stats.intervals import Estimate
from assay.stats.paired import Difference, detectable


def without_offset(found: Difference, offset: Estimate, width: float) -> Difference:
    """The difference less the offset; `width` is the range of the scores. `first` and `second` stay as measured."""
    by = found.estimate
    mean = by.mean - offset.mean
    low = mean - math.hypot(by.mean - by.low, offset.high - offset.mean)
    high = mean + math.hypot(by.high - by.mean, offset.mean - offset.low)
    if by.error is None or offset.error is None:  # of one row nothing is known
        left = replace(by, mean=mean, low=-width, high=width, error=None)
        return replace(found, estimate=left, p=1.0, detectable=None)
    error = math.hypot(by.error, offset.error)
    left = replace(by, mean=mean, low=max(-width, low), high=min(width, high), error=error)
    return replace(found, estimate=left, p=_p(mean, by, offset), detectable=detectable(left, width))


def _p(mean: float, by: Estimate, offset: Estimate) -> float:
    if abs(mean) < 1e-12:
        return 1.0
    down, up = (by.mean - by.low, offset.high - offset.mean), (by.high - by.mean, offset.mean - offset.low)
    degrees = by.clusters - 1.0, offset.clusters - 1.0
    tail = 0.5 + by.confidence / 2.0
    reaches = down if mean > 0.0 else up
    errors = [reach / t_quantile(tail, df) for reach, df in zip(reaches, degrees, strict=True)]
    variance = sum(error**2 for error in errors)
    if not variance:
        return 0.0
    freedom = variance**2 / sum(error**4 / df for error, df in zip(errors, degrees, strict=True))
    return t_tail(mean * t_quantile(tail, freedom) / math.hypot(*reaches), freedom)
