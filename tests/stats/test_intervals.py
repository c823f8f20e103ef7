"""Intervals around means: Wilson's where it applies, inside the range always, wider where rows hang together."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats import estimate
from assay.stats.distributions import t_quantile

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


def test_a_proportion_has_wilsons_interval() -> None:
    """12 of 16: m = 0.75; variance of the mean m(1 - m)/15 = 0.0125, so n* = 0.1875/0.0125 = 15; t(15) = 2.1314.

    t²/n* = 0.30287; centre (0.75 + 0.15143)/1.30287 = 0.69188;
    half sqrt(0.1875·0.30287 + 0.30287²/4)/1.30287 = 0.21671.
    """
    found = estimate([1.0] * 12 + [0.0] * 4)
    assert found is not None
    assert (found.mean, found.n, found.clusters) == (0.75, 16, 16)
    assert found.error == pytest.approx(math.sqrt(0.0125))
    assert t_quantile(0.975, 15) == pytest.approx(2.13145, abs=1e-5)
    assert (found.low, found.high) == pytest.approx((0.69188 - 0.21671, 0.69188 + 0.21671), abs=1e-4)


def test_graded_scores_count_the_farthest_once_more() -> None:
    """0.5, 0.5, 0.5, 0.9: m = 0.6, squares 0.01·3 + 0.09, and 0.09 again: 0.21/3/4 = 0.0175; n* = 0.24/0.0175."""
    found = estimate([0.5, 0.5, 0.5, 0.9])
    assert found is not None
    assert found.error == pytest.approx(math.sqrt(0.0175))
    k = t_quantile(0.975, 3) ** 2 / (0.24 / 0.0175)
    centre, half = (0.6 + k / 2) / (1 + k), math.sqrt(0.24 * k + k * k / 4) / (1 + k)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))


def test_equal_scores_leave_the_doubt_of_their_number() -> None:
    """20 of 20: n* = 20, t(19)² = 4.3807: low = 1/(1 + 4.3807/20) = 0.82031."""
    found = estimate([1.0] * 20)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.82031, 1.0), abs=1e-4)
    many = estimate([1.0] * 2000)
    assert many is not None
    assert many.low > 0.998


def test_rows_of_one_cluster_are_no_independent_witnesses() -> None:
    """4 documents of 5 equal answers: sums of deviations ±2.5 (four times), between (25 + 0.6·6.25)·4/3 = 38.33333.

    Rows alone: 20·0.25·20/19 = 5.26316; cluster size 5, prior 0.02·5 = 0.1; effect 38.83333/5.36316 = 7.24075;
    variance 7.24075·5.26316/400 = 0.0952730; n* = 0.25/0.0952730 = 2.62404; all of it between clusters: t has 4 - 1
    degrees of freedom.
    """
    found = estimate([1.0] * 10 + [0.0] * 10, clusters=[number // 5 for number in range(20)])
    assert found is not None
    assert (found.clusters, found.error) == (4, pytest.approx(math.sqrt(0.0952730), rel=1e-5))
    k = t_quantile(0.975, 3) ** 2 / 2.62404
    assert found.high - found.low == pytest.approx(2 * math.sqrt(0.25 * k + k * k / 4) / (1 + k), rel=1e-4)


def test_of_clusters_that_are_hardly_alike_rows_count_as_rows() -> None:
    """Clusters (1, 1), (1, 0), (0, 0), (1, 0): deviations of the sums 1, 0, -1, 0; between (2 + 0.6)·4/3 = 3.46667.

    Rows alone: 8·0.25·8/7 = 2.28571; prior 0.02·2 = 0.04; effect (3.46667 + 0.08)/(2.28571 + 0.04) = 1.52498; of it
    0.52498·2/1.52498 = 0.68851 between clusters; freedom 1/(0.68851²/3 + 0.31149²/7) = 5.81902, of clusters alone 3.
    """
    found = estimate([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], clusters=[0, 0, 1, 1, 2, 2, 3, 3])
    assert found is not None
    assert found.error == pytest.approx(math.sqrt(1.52498 * 2.28571) / 8, rel=1e-5)
    k = t_quantile(0.975, 5.81902) ** 2 / (16.0 / (1.52498 * 2.28571))
    assert found.high - found.low == pytest.approx(2 * math.sqrt(0.25 * k + k * k / 4) / (1 + k), rel=1e-4)


def test_a_scale_of_its_own() -> None:
    one, other = estimate([0.0, 0.25, 1.0]), estimate([1.0, 2.0, 5.0], 1.0, 5.0)
    assert one is not None
    assert other is not None
    assert (other.mean, other.low, other.high) == pytest.approx([1 + 4 * x for x in (one.mean, one.low, one.high)])


def test_a_range_without_an_end_has_students_interval() -> None:
    """1, 2, 3: mean 2, variance 1/3 of the mean, t(2) = 4.30265: 2 ± 2.48414."""
    found = estimate([1.0, 2.0, 3.0], 0.0, math.inf)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-4)


def test_one_score_and_one_cluster_say_nothing_of_the_spread_and_none_is_no_estimate() -> None:
    for found in (estimate([0.7]), estimate([0.5, 0.9], clusters=["a", "a"])):
        assert found is not None
        assert (found.mean, found.low, found.high, found.error) == (pytest.approx(0.7), 0.0, 1.0, None)
    assert estimate([]) is None


@pytest.mark.parametrize(
    ("values", "more", "said"),
    [
        ([0.5, 1.5], {}, r"values: expected numbers from 0.0 to 1.0; value 2 is 1.5"),
        ([math.nan], {}, "value 1 is nan"),
        ([0.5], {"clusters": ["a", "b"]}, "clusters: expected one for each of 1 values, got 2"),
        ([0.5], {"confidence": 95}, "confidence: expected a number between 0 and 1, got 95"),
        ([0.5], {"low": 1.0}, "expected low below high"),
    ],
)
def test_bad_input_is_named(values: list[float], more: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        estimate(values, **more)  # type: ignore[arg-type]


@given(SHARES)
def test_it_lies_in_the_range_around_the_mean(values: list[float]) -> None:
    found = estimate(values)
    assert found is not None
    assert 0.0 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1.0


@given(SHARES)
def test_it_is_its_own_mirror_and_knows_no_order(values: list[float]) -> None:
    found, back, mirror = estimate(values), estimate(values[::-1]), estimate([1.0 - x for x in values])
    assert found is not None
    assert back is not None
    assert mirror is not None
    assert (back.low, back.high) == pytest.approx((found.low, found.high), abs=1e-9)
    assert (1 - mirror.high, 1 - mirror.low) == pytest.approx((found.low, found.high), abs=1e-6)


@given(SHARES, st.integers(2, 5))
def test_clusters_never_make_it_surer(values: list[float], size: int) -> None:
    alone = estimate(values)
    together = estimate(values, clusters=[number // size for number in range(len(values))])
    assert alone is not None
    assert together is not None
    if together.error is None or alone.error is None:
        return
    # independent graded rows count the farthest once more, clusters do not; without that clusters are never surer
    n = len(values)
    bare = math.sqrt(sum((x - alone.mean) ** 2 for x in values) / (n - 1) / n)
    assert together.error >= bare - 1e-9


@given(SHARES)
def test_more_confidence_is_wider(values: list[float]) -> None:
    narrow, wide = estimate(values, confidence=0.8), estimate(values, confidence=0.99)
    assert narrow is not None
    assert wide is not None
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12
