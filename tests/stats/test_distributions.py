"""Quantiles and tails against recorded values of scipy 1.17.1, and the laws they obey."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.distributions import beta_cdf, binomial_two_sided, normal_quantile, t_quantile, t_tail

STUDENT = [
    (0.975, 0.5, 164.55767348048818),
    (0.975, 1.0, 12.706204736174694),
    (0.975, 4.0, 2.7764451051977934),
    (0.95, 9.7, 1.8181659123979341),
    (0.995, 21.0, 2.83135955802305),
    (0.975, 400.0, 1.9659123432294627),
    (0.975, 39.0, 2.022690920036761),
    (0.975, 41.0, 2.019540970441376),
    (0.9995, 10000.0, 3.2914999659416355),
    (0.975, 10000.0, 1.960201239890626),
    (0.6, 2500.5, 0.2533740602649884),
    (0.999999, 3.0, 103.29946777942898),
]
BETA = [
    (0.3, 2.0, 5.0, 0.5798250000000003),
    (0.01, 0.5, 0.5, 0.06376856085851985),
    (0.9, 30.0, 2.0, 0.1695646331008649),
    (0.5, 200.0, 199.0, 0.48001538748682004),
]
COINS = [
    (0, 1, 1.0),
    (0, 6, 0.03125),
    (3, 20, 0.0025768280029296875),
    (10, 20, 1.0),
    (40, 100, 0.05688793364098089),
    (180, 400, 0.05104022312914814),
]


@pytest.mark.parametrize(("p", "df", "expected"), STUDENT)
def test_quantiles_of_student(p: float, df: float, expected: float) -> None:
    assert t_quantile(p, df) == pytest.approx(expected, rel=1e-12)


@given(st.floats(0.51, 1 - 1e-9))
def test_quantiles_of_1_2_and_4_degrees_of_freedom_have_closed_forms(p: float) -> None:
    """With a = 4 p (1 - p): tan(pi (p - 1/2)), (2 p - 1) sqrt(2 / a), 2 sqrt(cos(acos(sqrt(a)) / 3) / sqrt(a) - 1)."""
    a = 4.0 * p * (1.0 - p)
    assert t_quantile(p, 1.0) == pytest.approx(1.0 / math.tan(math.pi * (1.0 - p)), rel=1e-11)
    assert t_quantile(p, 2.0) == pytest.approx((2.0 * p - 1.0) * math.sqrt(2.0 / a), rel=1e-11)
    fourth = 2.0 * math.sqrt(math.cos(math.acos(math.sqrt(a)) / 3.0) / math.sqrt(a) - 1.0)
    assert t_quantile(p, 4.0) == pytest.approx(fourth, rel=1e-9)  # its own digits are lost near 1/2


@pytest.mark.parametrize(("x", "a", "b", "expected"), BETA)
def test_the_beta_distribution(x: float, a: float, b: float, expected: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("k", "n", "expected"), COINS)
def test_uneven_splits_of_coins(k: int, n: int, expected: float) -> None:
    assert binomial_two_sided(k, n) == pytest.approx(expected, rel=1e-11)
    assert binomial_two_sided(n - k, n) == pytest.approx(expected, rel=1e-11)


def test_no_coin_surprises_nobody() -> None:
    assert binomial_two_sided(0, 0) == 1.0


@given(st.floats(0.5, 500), st.floats(0.51, 0.9999))
def test_a_quantile_has_the_tail_it_was_asked_for(df: float, p: float) -> None:
    assert t_tail(t_quantile(p, df), df) == pytest.approx(2 * (1 - p), rel=1e-9)


@given(st.floats(0.51, 0.9999), st.floats(2, 100))
def test_student_lies_outside_of_the_normal(p: float, df: float) -> None:
    assert t_quantile(p, df) > normal_quantile(p)


@given(st.floats(0.001, 0.999), st.floats(0.1, 300), st.floats(0.1, 300))
def test_both_sides_of_the_beta_distribution_are_one(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) + beta_cdf(1 - x, b, a) == pytest.approx(1.0, abs=1e-9)
