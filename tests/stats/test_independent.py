"""The difference of the means of two samples that share no rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.independent import independent_difference
from assay.stats.intervals import estimate

values = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(first=values, second=values)
def test_the_other_way_round_it_is_the_negative(first: list[float], second: list[float]) -> None:
    one, other = independent_difference(first, second), independent_difference(second, first)
    assert one is not None
    assert other is not None
    assert one.estimate.mean == pytest.approx(-other.estimate.mean)
    assert (one.estimate.low, one.estimate.high) == pytest.approx((-other.estimate.high, -other.estimate.low))
    assert one.p == pytest.approx(other.p)
    assert one.estimate.low <= one.estimate.mean <= one.estimate.high
    # p below 0.05 exactly where 0 lies outside of the interval
    assert (one.p < 0.05) == (not one.estimate.low <= 0.0 <= one.estimate.high) or one.p == pytest.approx(0.05)


def test_the_interval_is_put_together_from_those_of_both_means() -> None:
    """80 of 100 and 60 of 100: d = -0.2; its ends are sqrt((0.6 - low of b)² + (high of a - 0.8)²) away, and so on."""
    first, second = np.repeat([1.0, 0.0], [80, 20]), np.repeat([1.0, 0.0], [60, 40])
    a, b = estimate(first.tolist()), estimate(second.tolist())
    found = independent_difference(first, second)
    assert a is not None
    assert b is not None
    assert found is not None
    assert found.estimate.mean == pytest.approx(-0.2)
    assert found.estimate.low == pytest.approx(-0.2 - math.hypot(b.mean - b.low, a.high - a.mean))
    assert found.estimate.high == pytest.approx(-0.2 + math.hypot(b.high - b.mean, a.mean - a.low))
    assert 0.001 < found.p < 0.01  # z of two shares: 0.2 / sqrt(0.8·0.2/100 + 0.6·0.4/100) = 3.16, p = 0.0016


def test_one_row_says_nothing_and_none_has_no_difference() -> None:
    found = independent_difference([0.0], [1.0, 1.0, 1.0])
    assert found is not None
    assert found.p == 1.0
    assert found.estimate.low <= 0.0
    assert independent_difference([], [1.0]) is None
    with pytest.raises(InputError, match="expected numbers from 0"):
        independent_difference([2.0], [1.0, 0.0])


@pytest.mark.parametrize("clustered", [False, True])
def test_equal_systems_rarely_differ(clustered: bool) -> None:
    """400 pairs of samples of one population: p < 0.05 in at most 5%, within what chance gives (binomial, 99.9%)."""
    rng, wrong, times = np.random.default_rng(7), 0, 400
    for _ in range(times):
        names, samples = [], []
        for rows in (120, 90):
            clusters = np.arange(rows) // 3
            level = np.clip(0.7 + (rng.normal(0, 0.25, clusters.max() + 1)[clusters] if clustered else 0.0), 0, 1)
            samples.append((rng.random(rows) < level).astype(float))
            names.append(clusters.tolist() if clustered else None)
        found = independent_difference(*samples, clusters=(names[0], names[1]))
        assert found is not None
        wrong += found.p < 0.05
    assert wrong <= 0.05 * times + 3.1 * math.sqrt(times * 0.05 * 0.95)  # 20 + 13.5


def test_weights_count() -> None:
    """Rows of weight 9 stand for nine: (9·1 + 1·0) / 10 = 0.9 against (1·1 + 9·0) / 10 = 0.1."""
    found = independent_difference(
        [1.0, 0.0] * 50, [1.0, 0.0] * 50, weights=(np.array([9.0, 1.0] * 50), np.array([1.0, 9.0] * 50))
    )
    assert found is not None
    assert (found.first, found.second) == pytest.approx((0.9, 0.1))
