"""What scores show of a limit: the numbers behind a ruling, on scales where more is better.

Missing values count as bad as can be where a rule is to pass, and as good as can be where it is to fail, so neither
verdict hangs on what is not known.

Of a change two things must show that it is below a limit: the sign-flip test of `assay.stats.paired`, exact where both
runs are alike, and the interval, which knows how little few rows say of what is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from assay.judges.thresholds import Threshold
from assay.stats import difference, estimate, non_inferior

#: Of a mean that equals its limit in exact arithmetic, floating point may lose so much, relative to the range.
ROUNDING = 1e-9
_STEPS = 24  # halvings of the exponent of p
_LEAST, _MOST = 1e-9, 0.999

Clusters = Sequence[Hashable] | None


@dataclass(frozen=True, slots=True)
class LimitEvidence:
    """What values show of a limit.

    Attributes:
        value: The mean of those that are known.
        interval: Where it lies: of a level with probability 1 - alpha; of a change each of its ends is wrong with
            probability `alpha` at most. None where too few tell.
        bounds: The mean, were the missing ones as bad and as good as can be.
        holds: Whether it is shown that the limit is kept, whatever the missing ones are.
        p: How surprising the values are where the limit is kept, were the missing ones as good as can be; None where
            nothing is left to chance.
        broken: Whether they can show that it is not, `p` apart.
        threshold: Of a share of good rows: by what they are told apart; `good`: how many are on its good side.
    """

    value: float
    interval: tuple[float, float] | None
    bounds: tuple[float, float]
    holds: bool
    p: float | None
    broken: bool
    threshold: Threshold | None = None
    good: int | None = None


def of_mean(
    known: Sequence[float], missing: int, low: float, high: float, limit: float, tolerance: float = 0.0
) -> LimitEvidence:
    """Whether the mean of these very values, at least one, reaches the limit, or misses it by more than `tolerance`."""
    rows, total = len(known) + missing, math.fsum(known)
    worst, best = _filled(total, missing, low, rows), _filled(total, missing, high, rows)
    slack = ROUNDING * _width(low, high)
    return LimitEvidence(
        fmean(known), None, (worst, best), worst >= limit - slack, None, best < limit - tolerance - slack
    )


def of_level(
    known: Sequence[float],
    missing: int,
    low: float,
    high: float,
    limit: float,
    *,
    clusters: Clusters,
    alone: Clusters,
    alpha: float,
) -> LimitEvidence:
    """Whether the mean of many such values reaches the limit.

    `clusters` are those of the known values, `alone` those of the missing ones; both None where all are independent.
    The interval is two-sided, as the one that is shown with means: of few yes-or-no answers near the end of the range
    a one-sided one would be wrong more often than it says.
    """
    plain = of_mean(known, missing, low, high, limit)
    found = estimate(known, low, high, clusters=clusters, confidence=1.0 - alpha)
    assert found is not None  # there is a value
    together = None if clusters is None or alone is None else [*clusters, *alone]

    def ends(fill: float, level: float) -> tuple[float, float]:
        if missing and not math.isfinite(fill):
            return -math.inf, math.inf
        whole = estimate([*known, *[fill] * missing], low, high, clusters=together, confidence=1.0 - level)
        assert whole is not None
        return (low, high) if whole.error is None else (whole.low, whole.high)

    p = smallest(lambda level: ends(high, level)[1] < limit) if plain.bounds[1] < limit else 1.0
    interval = None if found.error is None else (found.low, found.high)
    return LimitEvidence(plain.value, interval, plain.bounds, ends(low, alpha)[0] >= limit, p, p < alpha)


def of_change(
    first: Sequence[float | None],
    second: Sequence[float | None],
    low: float,
    high: float,
    drop: float,
    margin: float | None,
    *,
    clusters: Clusters,
    alpha: float,
) -> LimitEvidence:
    """Whether the second values are worse than the first by `drop` at most, row by row, or shown to be so by `margin`.

    At least one pair is known. With a margin the limit holds where the interval lies above it; without one where the
    mean itself does. It is broken where values are shown to have dropped by more than `drop`.
    """
    pairs = list(zip(first, second, strict=True))
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    names = None if clusters is None else [name for name, (a, b) in zip(clusters, pairs, strict=True)
                                           if a is not None and b is not None]  # fmt: skip
    known = difference(*_columns(both), low, high, clusters=names, confidence=1.0 - 2.0 * alpha)
    assert known is not None  # there is a pair
    worst = [(high if a is None else a, low if b is None else b) for a, b in pairs]
    best = [(low if a is None else a, high if b is None else b) for a, b in pairs]
    bounds = _mean_change(worst), _mean_change(best)
    change = known.estimate
    interval = None if change.error is None else (change.low, change.high)
    holds = bounds[0] >= -drop - ROUNDING * _width(low, high)
    if margin is not None:
        shown = (
            non_inferior(*_columns(worst), margin, low, high, clusters=clusters, alpha=alpha) if _ends(worst) else None
        )
        holds = shown is not None and shown.verdict == "pass"
    # the interval of the change itself: shifted, rows that did not move would look like rows that rose a little
    most = _change(best, low, high, clusters, alpha)
    test = _change([(a, b + drop) for a, b in best], low, high + drop, clusters, alpha)
    p = 1.0 if test is None else test[2]
    return LimitEvidence(change.mean, interval, bounds, holds, p, most is not None and most[1] < -drop)


def _change(
    pairs: Sequence[tuple[float, float]], low: float, high: float, clusters: Clusters, alpha: float
) -> tuple[float, float, float] | None:
    """The ends of the interval, and p of a change that is 0 or above; None where nothing can be shown."""
    if not _ends(pairs):
        return None
    found = difference(*_columns(pairs), low, high, clusters=clusters, confidence=1.0 - 2.0 * alpha)
    if found is None or found.estimate.error is None:
        return None
    change = found.estimate
    return change.low, change.high, found.p / 2.0 if change.mean < 0.0 else 1.0


def _ends(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether all values are finite: missing ones of a range without an end are not."""
    return all(math.isfinite(value) for pair in pairs for value in pair)


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def _mean_change(pairs: Sequence[tuple[float, float]]) -> float:
    return math.fsum(b for _, b in pairs) / len(pairs) - math.fsum(a for a, _ in pairs) / len(pairs)


def _filled(total: float, missing: int, value: float, rows: int) -> float:
    return (total + missing * value) / rows if missing else total / rows


def _width(low: float, high: float) -> float:
    return high - low if math.isfinite(high - low) else 1.0


def smallest(shows: Callable[[float], bool]) -> float:
    """The smallest level at which `shows(level)` is true, from `_LEAST`; 1 where it is at none."""
    if not shows(_MOST):
        return 1.0
    low, high = math.log(_LEAST), math.log(_MOST)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if shows(math.exp(middle)) else (middle, high)
    return math.exp(high)
