"""A difference of two runs by different judges, less what the judges differ by.

The judges' offset is the mean difference of their scores of the same answers (anchors; mean equating: Kolen and
Brennan, Test Equating, Scaling, and Linking, 3rd ed. 2014, ch. 2). The interval of what is left is put together from
both (Zou and Donner, Stat. Med. 27, 2008):

    low   d - o - sqrt((d - its low)² + (o's high - o)²),   high likewise

p is that of d - o over its standard error, in Student's t (degrees of freedom by Welch, Biometrika 34, 1947). Where
anchors are among the rows compared, the interval is too wide rather than too narrow.
"""

from __future__ import annotations

import math
from dataclasses import replace

from assay.stats.distributions import t_tail
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
    parts = [(one.error or 0.0, one.clusters) for one in (by, offset)]
    variance = sum(error**2 for error, _ in parts)
    if not variance:
        return 1.0 if abs(mean) < 1e-12 else 0.0
    freedom = variance**2 / sum(error**4 / (clusters - 1) for error, clusters in parts)
    return t_tail(mean / math.sqrt(variance), freedom)
