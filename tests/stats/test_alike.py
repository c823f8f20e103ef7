"""Agrees, differs or cannot tell: by hand, and by simulation with a fixed seed."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.stats.alike import alike
from tests.stats.alike_simulated import shares

YES, NO = "supported", "not_mentioned"


def test_shares_are_counted_by_hand() -> None:
    """Two usual readings disagree on 1 of 4; the other way on 1 and 2 of 4 with each, on 1.5 of 4 then."""
    found = alike([YES, YES, NO, NO], [YES, NO, NO, NO], [YES, YES, YES, NO], YES, rows=[1, 2, 3, 4])
    assert found is not None
    assert (found.own, found.other) == (0.25, 0.375)
    assert found.excess.mean == pytest.approx(0.125)
    # affirmed: 2 and 1 of 4 as usual, 3 of 4 in the other way
    assert found.shift.mean == pytest.approx(0.75 - 0.375)
    assert (found.n, found.rows, found.verdict) == (4, 4, "inconclusive")


def test_a_shift_is_seen_where_the_judge_wavers() -> None:
    """Usual readings are coins, so that one which always affirms disagrees with them no more often than they do."""
    first, again = [YES, NO] * 500, [YES, YES, NO, NO] * 250
    found = alike(first, again, [YES] * 1000, YES, rows=range(1000))
    assert found is not None
    assert found.own == found.other == 0.5
    assert found.verdict == "differs"


def test_flips_that_cancel_out_are_seen() -> None:
    """The other way turns one of ten each way round: the share that it affirms is the same."""
    usual = [YES, NO] * 500
    other = [YES if n % 20 == 1 else NO if n % 20 == 0 else label for n, label in enumerate(usual)]
    found = alike(usual, usual, other, YES, rows=range(1000))
    assert found is not None
    assert found.shift.mean == 0.0
    assert found.other == pytest.approx(0.1)
    assert found.verdict == "differs"


def test_verdicts_of_one_row_are_one_witness() -> None:
    same = [YES, NO] * 500
    apart = alike(same, same, same, YES, rows=range(1000))
    few = alike(same, same, same, YES, rows=[n // 100 for n in range(1000)])
    assert apart is not None
    assert few is not None
    assert (apart.verdict, few.verdict) == ("agrees", "inconclusive")


def test_nothing_says_nothing() -> None:
    assert alike([], [], [], YES, rows=[]) is None
    with pytest.raises(InputError, match="margin"):
        alike([YES], [YES], [YES], YES, rows=[1], margin=0.0)
    with pytest.raises(ValueError, match="longer"):
        alike([YES], [YES, NO], [YES], YES, rows=[1])


@pytest.mark.long
@pytest.mark.parametrize("rows", [60, 250])
@pytest.mark.parametrize("bias", [[0.05], [0.0] * 5 + [0.05]])
def test_a_bias_of_5_points_is_hardly_ever_said_to_agree(rows: int, bias: list[float]) -> None:
    """The judge's own flips 3 %, margin 2 points, alone and as one of six parts."""
    assert shares(300 if len(bias) == 1 else 100, rows, 4, bias)["agrees"] <= 0.05


@pytest.mark.long
@pytest.mark.parametrize("rows", [60, 250])
@pytest.mark.parametrize("parts", [1, 6])
def test_where_there_is_no_bias_it_is_hardly_ever_said_to_differ(rows: int, parts: int) -> None:
    assert shares(300 if parts == 1 else 100, rows, 4, [0.0] * parts)["differs"] <= 0.05


@pytest.mark.long
@pytest.mark.parametrize("rows", [500])
def test_a_bias_as_large_as_the_margin_agrees_in_at_most_1_of_20(rows: int) -> None:
    assert shares(500, rows, 4, [0.02])["agrees"] <= 0.07  # 0.05, and two standard errors of 500 simulations
