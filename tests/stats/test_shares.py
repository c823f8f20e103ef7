"""The true share behind what is said: the arithmetic, and that the interval is what its definition says."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.distributions import t_quantile
from assay.stats.shares import ConfusionCounts, true_share

#: 46 of 58 found are (46 + 1) / (58 + 2) = 0.7833 with one more of each; 22 of 28 left are 23 / 30 = 0.7667.
SOME = ConfusionCounts(58, 28, 46 / 58, 22 / 28)

tolds = st.builds(
    ConfusionCounts, st.floats(1, 300), st.floats(1, 300), st.floats(0.3, 1), st.floats(0.3, 1)
).filter(lambda told: told.tells > 0.02)  # fmt: skip


def spoken_against(share: float, said: float, n: float, told: ConfusionCounts, confidence: float) -> float:
    """How far what is said is from what a share lets expect, in units of what is allowed."""
    found = (told.found * told.true + 1) / (told.true + 2)
    left = (told.left * told.false + 1) / (told.false + 2)
    expected = share * found + (1 - share) * (1 - left)
    variance = expected * (1 - expected) / n
    variance += share**2 * found * (1 - found) / (told.true + 3) + (1 - share) ** 2 * left * (1 - left) / (
        told.false + 3
    )
    t = t_quantile(0.5 + confidence / 2, max(min(told.true, told.false) - 1, 0.5))
    return abs(said - expected) / (t * math.sqrt(variance))


def test_what_is_said_is_corrected_by_how_often_both_kinds_are_told():
    """(0.5 - (1 - 0.7667)) / (0.7833 + 0.7667 - 1) = 0.2667 / 0.55 = 0.4848."""
    share, low, high = true_share(0.5, 100, SOME)
    assert share == pytest.approx(0.26666667 / 0.55)
    assert 0 < low < share < high < 1
    # where the interval ends, what is said is just as far away as is allowed
    assert spoken_against(low, 0.5, 100, SOME, 0.95) == pytest.approx(1.0)
    assert spoken_against(high, 0.5, 100, SOME, 0.95) == pytest.approx(1.0)


def test_more_rows_do_not_help_where_labels_are_few():
    widths = []
    for labels in (1, 10, 1000):
        told = ConfusionCounts(58 * labels, 28 * labels, 46 / 58, 22 / 28)
        _, low, high = true_share(0.5, 1e9, told)
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 0
    _, low, high = true_share(0.5, 1e9, SOME)
    assert high - low > 0.3  # 86 labels, whatever the rows


def test_what_nothing_tells_leaves_everything_open():
    """8 of 15 found and 8 of 15 left: 9 / 17 each, 0.06 above chance."""
    assert true_share(0.5, 1000, ConfusionCounts(15, 15, 8 / 15, 8 / 15))[1:] == (0.0, 1.0)


@given(st.floats(0, 1), st.floats(1, 1e6), tolds, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_interval_has_all_shares_that_are_not_spoken_against(said, n, told, confidence):
    share, low, high = true_share(said, n, told, confidence)
    assert 0.0 <= low <= share <= high <= 1.0
    for place in range(101):
        far = spoken_against(place / 100, said, n, told, confidence)
        if far < 1.0 - 1e-6:
            assert low - 1e-9 <= place / 100 <= high + 1e-9


@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 1e5), tolds)
def test_the_more_is_said_the_larger_the_share(one, other, n, told):
    less, more = sorted((one, other))
    assert true_share(less, n, told)[0] <= true_share(more, n, told)[0]


@given(st.floats(0, 1), st.floats(1, 1e5), tolds)
def test_the_other_kind_has_the_rest(said, n, told):
    share, low, high = true_share(said, n, told)
    rest, least, most = true_share(1 - said, n, told.turned)
    assert (1 - share, 1 - high, 1 - low) == pytest.approx((rest, least, most), abs=1e-6)


@pytest.mark.parametrize(
    ("said", "n", "told", "confidence", "why"),
    [
        (1.1, 10, SOME, 0.95, "said: expected a share"),
        (math.nan, 10, SOME, 0.95, "said: expected a share"),
        (0.5, 0, SOME, 0.95, "n: expected a number above 0"),
        (0.5, 10, SOME, 1.0, "confidence"),
        (0.5, 10, ConfusionCounts(20, 20, 0.4, 0.5), 0.95, "told: expected both kinds"),
        (0.5, 10, ConfusionCounts(0, 20, 1.0, 1.0), 0.95, "told: expected both kinds"),
    ],
)
def test_what_cannot_be_is_refused(said, n, told, confidence, why):
    with pytest.raises(InputError, match=why):
        true_share(said, n, told, confidence)
