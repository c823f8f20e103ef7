"""Two runs on the same rows: intervals, exact and drawn p-values, corrections."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats import difference, estimate, holm, non_inferior
from assay.stats.paired import COUNTED, FLIPS, sign_flip

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30)


def test_binary_flips_are_mcnemars_exact_test() -> None:
    """6 of 40 rows flipped, all for the better: 2·0.5⁶ = 0.03125. 5 to 1: 2·(1 + 6)/64 = 0.21875."""
    assert sign_flip([1.0] * 6 + [0.0] * 34) == pytest.approx(2 * 0.5**6)
    assert sign_flip([1.0] * 5 + [-1.0]) == pytest.approx(14 / 64)


def test_few_differences_are_counted_out() -> None:
    """3 rows, +1 +2 +4: of 8 flips only the two with one sign throughout go as far as 7: 2/8."""
    assert sign_flip([1.0, 2.0, 4.0]) == pytest.approx(2 / 8)
    # -1 +2 +4 = 5: as far as 5 go ±5 and ±7: 4 of 8
    assert sign_flip([-1.0, 2.0, 4.0]) == pytest.approx(4 / 8)


def test_where_nothing_moved_there_is_no_surprise() -> None:
    assert sign_flip([]) == 1.0
    assert sign_flip([0.0] * 9) == 1.0


@given(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=9))
def test_counted_is_what_counting_by_hand_gives(moved: list[float]) -> None:
    flips = [abs(sum(s * x for s, x in zip(signs, moved, strict=True)))
             for signs in itertools.product((1, -1), repeat=len(moved))]  # fmt: skip
    expected = sum(one >= abs(sum(moved)) - 1e-6 for one in flips) / len(flips)
    assert sign_flip(moved) == pytest.approx(expected)


def test_many_differences_are_drawn_and_drawn_alike() -> None:
    moved = [0.01 * n + 0.1 for n in range(COUNTED + 6)]
    assert sign_flip(moved) == sign_flip(moved) == 1 / (1 + FLIPS)  # all of one sign: no drawn flip goes as far


def test_rows_of_one_cluster_flip_together() -> None:
    """Ten rows rose, five each of two documents: alone 2·0.5¹⁰ = 0.00195, as two documents 2·0.5² = 0.5."""
    alone = difference([0.0] * 10, [1.0] * 10)
    together = difference([0.0] * 10, [1.0] * 10, clusters=["a"] * 5 + ["b"] * 5)
    assert alone is not None
    assert together is not None
    assert (alone.p, together.p) == (pytest.approx(2 * 0.5**10), pytest.approx(0.5))


def test_the_interval_is_put_together_from_what_rose_and_what_fell() -> None:
    """Of 20 rows 6 rose by 1 and 2 fell by 1. d = 0.3 - 0.1; both shares have their own interval; r of the two means:
    deviations up 6·0.7² + 14·0.3² = 4.2, down 2·0.9² + 18·0.1² = 1.8, product sum 6·0.7·(-0.1) + 2·(-0.3)·0.9
    + 12·(-0.3)·(-0.1) = -0.6; r = -0.6/sqrt(4.2·1.8) = -0.21822.
    """
    found = difference([0.0] * 6 + [1.0] * 2 + [1.0] * 12, [1.0] * 6 + [0.0] * 2 + [1.0] * 12)
    up, down = estimate([1.0] * 6 + [0.0] * 14), estimate([1.0] * 2 + [0.0] * 18)
    assert found is not None
    assert up is not None
    assert down is not None
    a, b, r = up.mean - up.low, down.high - down.mean, -0.6 / math.sqrt(4.2 * 1.8)
    assert found.estimate.mean == pytest.approx(0.2)
    assert found.estimate.low == pytest.approx(0.2 - math.sqrt(a * a + b * b - 2 * r * a * b))


def test_equal_runs_are_sure_only_as_far_as_rows_were_looked_at() -> None:
    few, many = difference([1.0] * 20, [1.0] * 20), difference([1.0] * 2000, [1.0] * 2000)
    assert few is not None
    assert many is not None
    assert (few.p, few.estimate.mean) == (1.0, 0.0)
    assert few.estimate.high == pytest.approx(1 - 1 / (1 + 4.3807 / 20), abs=1e-4)  # no row of 20 rose: Wilson
    assert many.estimate.high < 0.002
    assert few.detectable is not None
    assert many.detectable is not None
    assert many.detectable < 0.004 < few.detectable


@given(PAIRS)
def test_swapping_the_runs_swaps_the_sign(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = difference(first, second), difference(second, first)
    assert there is not None
    assert back is not None
    assert there.p == pytest.approx(back.p)
    assert (-back.estimate.high, -back.estimate.low) == pytest.approx(
        (there.estimate.low, there.estimate.high), abs=1e-6
    )
    assert there.estimate.low <= there.estimate.mean + 1e-9
    assert there.estimate.mean <= there.estimate.high + 1e-9


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="second: expected 2 scores, as many as the first run has, got 1"):
        difference([0.0, 1.0], [1.0])
    with pytest.raises(InputError, match=r"value 2 is 3\.0"):
        difference([0.0, 1.0], [1.0, 3.0])
    assert difference([], []) is None


def test_holm() -> None:
    """0.01·3 = 0.03; 0.03·2 = 0.06; 0.04·1 is not below what came before it: 0.06."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_a_correction_never_helps_and_keeps_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= q <= 1.0 for p, q in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [adjusted[n] for n in order] == sorted(adjusted)


def test_alike_within_a_margin_is_shown_by_rows_enough() -> None:
    """No row of 20 differs: Wilson's 90 % end is t²/(n + t²), t = 1.729 (19 degrees): 2.990/22.990 = 0.130."""
    few = non_inferior([1.0] * 20, [1.0] * 20, 0.1)
    assert few is not None
    assert (few.verdict, few.estimate.low) == (None, pytest.approx(-0.1300, abs=1e-4))
    assert non_inferior([1.0] * 20, [1.0] * 20, 0.14).verdict == "pass"  # type: ignore[union-attr]
    assert non_inferior([1.0] * 200, [1.0] * 200, 0.1).verdict == "pass"  # type: ignore[union-attr]


def test_worse_beyond_doubt_fails_and_a_little_worse_within_the_margin_passes() -> None:
    worse = [0.0] * 10 + [1.0] * 10
    assert non_inferior([1.0] * 20, worse, 0.1).verdict == "fail"  # type: ignore[union-attr]
    assert non_inferior([1.0] * 20, worse, 0.9).verdict == "pass"  # type: ignore[union-attr]
    assert non_inferior([1.0] * 20, worse, 0.1, direction="lower").verdict == "pass"  # type: ignore[union-attr]
    assert non_inferior([], [], 0.1) is None


@pytest.mark.parametrize(("margin", "alpha"), [(0.0, 0.05), (-0.1, 0.05), (math.nan, 0.05), (0.1, 0.5), (0.1, 0.0)])
def test_margins_and_levels_that_say_nothing_are_refused(margin: float, alpha: float) -> None:
    with pytest.raises(InputError, match=r"margin|alpha"):
        non_inferior([1.0], [1.0], margin, alpha=alpha)


def test_graded_differences_have_the_interval_of_their_mean_from_five_rows_on() -> None:
    """Of 20 rows four moved, by several sizes: put together from rises and falls; five: as the mean of -1 to 1."""
    four, five = [0.1, -0.2, 0.3, 0.05] + [0.0] * 16, [0.1, -0.2, 0.3, 0.05, -0.1] + [0.0] * 15
    for moved, alike in ((four, False), (five, True)):
        found = difference([max(0.0, -x) for x in moved], [max(0.0, x) for x in moved])
        whole = estimate(moved, -1.0, 1.0)
        assert found is not None
        assert whole is not None
        assert (found.estimate.low == pytest.approx(whole.low)) == alike
