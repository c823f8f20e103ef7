"""A judge's mean corrected by a few labels: ppi-python's figures, no bias, and intervals that hold and are short."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.judges.alignment.active_sampling import sizes_of
from assay.errors import InputError
from assay.stats.ppi import CorrectedMean, corrected_mean, rows_each

RECORDED = json.loads(Path(__file__).with_name("ppi_python.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_mean_and_interval_equal_those_of_ppi_python(case):
    """Recorded from `ppi_mean_pointestimate` and `ppi_mean_ci` of the version that the file names."""
    found = corrected_mean(case["truth"], case["judged"], case["rest"], interval="normal")
    assert found is not None
    assert [found.mean, found.low, found.high] == pytest.approx([case["mean"], case["low"], case["high"]], abs=1e-9)


def test_a_judge_that_is_always_right_gives_the_mean_of_all_rows():
    truth = [1.0, 0.0, 1.0, 1.0] * 10  # 0.75
    rest = [1.0, 0.0] * 200  # 0.5
    found = corrected_mean(truth, truth, rest, interval="normal")
    assert found is not None
    # w = cov / ((1 + 40/400) var): near 0.75 * 0.25 / (1.1 * 0.2501) = 0.68 of the way from 0.75 to 0.5
    assert found.weight == pytest.approx(0.75 * 0.25 / (1.1 * np.var(truth + rest, ddof=1)))
    assert found.mean == pytest.approx(0.75 + found.weight * (0.5 - 0.75))


def test_without_other_rows_it_is_the_mean_of_the_labels():
    found = corrected_mean([1, 0, 1, 1], [0, 0, 1, 1], [])
    assert found is not None
    assert (found.mean, found.weight, found.alone) == (0.75, 0.0, 0.75)
    assert (found.low, found.high) == (found.alone_low, found.alone_high)


def test_labels_that_all_agree_are_no_certainty():
    found = corrected_mean([1.0] * 20, [1.0] * 20, [1.0] * 200)
    assert found is not None
    assert found.mean == found.high == 1.0
    assert 0.7 < found.low < 0.9  # Wilson's of 20 of 20, with Student's quantile: 20 / (20 + 2.09²) = 0.82


def test_one_label_or_one_cluster_says_nothing():
    assert corrected_mean([1.0], [1.0], [0.0, 1.0]) is None
    assert corrected_mean([1.0, 0.0], [1.0, 0.0], [1.0], clusters=["a", "a"]) is None
    assert corrected_mean([], [], [1.0]) is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"judged": [1.0]}, "judged"),
        ({"truth": [1.0, math.nan]}, "truth"),
        ({"rest": [2.0]}, "rest"),
        ({"weights": [1.0, 0.0]}, "weights"),
        ({"weights": [1.0]}, "weights"),
        ({"clusters": ["a"]}, "clusters"),
        ({"rest_clusters": []}, "rest_clusters"),
        ({"low": 1.0}, "low, high"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_what_does_not_fit_is_named(wrong, named):
    given = {"truth": [1.0, 0.0], "judged": [1.0, 0.0], "rest": [1.0], **wrong}
    with pytest.raises(InputError, match=f"^{named}"):
        corrected_mean(**given)


def drawn(rng: np.random.Generator, wrong: tuple[float, float], by: str, n: int = 60, rows: int = 400) -> CorrectedMean:
    """One sample with labels of `n` rows; in 70 % people say yes. The judge errs on yes and on no with `wrong`."""
    cluster = np.arange(rows) // (4 if by == "clusters" else 1)
    told = rng.normal(size=rows) + (rng.normal(size=rows)[cluster] if by == "clusters" else 0.0)
    truth = told > np.quantile(told, 0.3)
    judged = np.where(truth, rng.random(rows) > wrong[0], rng.random(rows) < wrong[1])
    chance = np.where(rng.random(rows) < 0.4, 1.5, 0.5) if by == "weights" else np.ones(rows)
    order = np.argsort(rng.random(rows)[cluster] / chance, kind="stable")
    chosen = np.zeros(rows, bool)
    chosen[order[:n]] = True
    found = corrected_mean(
        truth[chosen].astype(float), judged[chosen].astype(float), judged[~chosen].astype(float),
        weights=1.0 / chance[chosen], clusters=cluster[chosen].tolist(), rest_clusters=cluster[~chosen].tolist(),
    )  # fmt: skip
    assert found is not None
    return found


@pytest.mark.long
@pytest.mark.parametrize("by", ["rows", "weights", "clusters"])
@pytest.mark.parametrize("wrong", [(0.05, 0.1), (0.3, 0.05), (0.0, 0.5), (0.2, 0.3), (0.4, 0.6)])
def test_it_is_unbiased_its_interval_holds_and_is_short_where_the_judge_is_good(by, wrong):
    """The judge's own mean is off by up to 0.2 here: 0.7 (1 - wrong[0]) + 0.3 wrong[1]."""
    rng = np.random.default_rng(7)
    many = [drawn(rng, wrong, by) for _ in range(250)]
    means = np.array([one.mean for one in many])
    assert abs(means.mean() - 0.7) <= 3.5 * means.std() / math.sqrt(len(many))
    # 95 % hold; of 250 samples at least 92 %
    assert np.mean([one.low <= 0.7 <= one.high for one in many]) >= 0.92
    width = np.mean([one.high - one.low for one in many]) / np.mean([one.alone_high - one.alone_low for one in many])
    correlation = np.mean([one.correlation or 0.0 for one in many])
    assert width < 1.0 if correlation >= 0.5 else width <= 1.05


numbers = st.floats(0.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(numbers, numbers, st.floats(0.01, 100.0), st.integers(0, 5)), min_size=2, max_size=30),
    st.lists(numbers, max_size=30),
)
def test_it_stays_within_the_range_and_its_interval_holds_its_mean(labels, rest):
    truth, judged, weights, clusters = zip(*labels, strict=True)
    found = corrected_mean(truth, judged, rest, weights=weights, clusters=clusters)
    if len(set(clusters)) < 2:
        assert found is None
        return
    assert found is not None
    assert 0.0 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1.0
    assert 0.0 <= found.weight <= 1.0


# ---- labels drawn by how unsure the judge is -------------------------------------------------------------------------


def by_uncertainty(rng: np.random.Generator, rows: int, n: int) -> tuple[CorrectedMean, float]:
    """70 % of rows are sure (0.95 by the judge, 97 % yes), the others not (0.2 to 0.8, 35 % yes): 0.784 in all.

    The labelled ones are drawn as `assay data label` does. Returns the mean, and the share of yes of all rows.
    """
    sure = rng.random(rows) < 0.7
    judged = np.where(sure, rng.beta(20, 1, rows), rng.uniform(0.2, 0.8, rows))
    truth = (rng.random(rows) < np.where(sure, 0.97, 0.35)).astype(float)
    sizes = np.array(sizes_of(np.sqrt(judged * (1.0 - judged)).tolist()))
    order = np.argsort(rng.random(rows) / sizes)
    chosen, rest = order[:n], order[n:]
    found = corrected_mean(
        truth[chosen].tolist(), judged[chosen].tolist(), judged[rest].tolist(), weights=(1.0 / sizes[chosen]).tolist()
    )
    assert found is not None
    return found, float(truth.mean())


def check_by_uncertainty(rows: int, n: int, draws: int) -> None:
    rng = np.random.default_rng(3)
    many = [by_uncertainty(rng, rows, n) for _ in range(draws)]
    off = np.array([found.mean - whole for found, whole in many])
    assert abs(off.mean()) <= 0.002 + 3.0 * off.std() / math.sqrt(draws)
    holds = np.mean([found.low <= 0.784 <= found.high for found, _ in many])
    assert holds >= 0.935 - 2.5 * math.sqrt(0.935 * 0.065 / draws)
    # 60 rows, 50 of them labelled: the judge adds nothing, and its weight, which is estimated, 3 % to the width
    assert np.mean([found.high - found.low for found, _ in many]) <= 1.05 * np.mean(
        [found.alone_high - found.alone_low for found, _ in many]
    )


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(("rows", "n"), [(60, 50), (200, 100), (400, 200)])
def test_labels_drawn_by_uncertainty_give_no_biased_mean(rows: int, n: int) -> None:
    """Of the rest alone the judge's mean is too good: the unsure rows, which are worse, are missing from it."""
    check_by_uncertainty(rows, n, 200)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "n"), [(60, 30), (60, 50), (100, 50), (200, 50), (200, 100), (400, 100), (400, 200), (1000, 200)]
)
def test_labels_drawn_by_uncertainty_give_no_biased_mean_in_4000_draws(rows: int, n: int) -> None:
    check_by_uncertainty(rows, n, 4000)


def test_where_all_rows_are_labelled_it_is_the_mean_of_the_labels_whatever_their_weights():
    found = corrected_mean([1, 0, 1, 1], [0.9, 0.4, 0.8, 0.7], [], weights=[1.0, 0.5, 2.0, 1.0])
    assert found is not None
    assert found.mean == found.alone == 0.75


def test_a_label_stands_for_one_row_at_least_and_all_for_the_run():
    """Weights 4, 4, 1, 1 of 10 rows: 10/10 · (4, 4, 1, 1). Of 7 rows they would be 2.8, 2.8, 0.7, 0.7: the last two
    were certain to be chosen, and the others stand for the 5 that are left, 2.5 each."""
    assert rows_each(np.array([4.0, 4.0, 1.0, 1.0]), 10).tolist() == pytest.approx([4.0, 4.0, 1.0, 1.0])
    assert rows_each(np.array([4.0, 4.0, 1.0, 1.0]), 7).tolist() == pytest.approx([2.5, 2.5, 1.0, 1.0])
    assert rows_each(np.array([4.0, 4.0, 1.0, 1.0]), 4).tolist() == [1.0] * 4


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=20), st.integers(0, 30))
def test_labels_stand_for_all_rows_together(weights: list[float], others: int):
    each = rows_each(np.array(weights), len(weights) + others)
    assert each.min() >= 1.0 - 1e-9
    assert each.sum() == pytest.approx(len(weights) + others)


def test_the_mean_is_the_judges_of_all_rows_and_the_weighted_difference_by_hand():
    """A judge that is off by 0.1 on sure rows and by 0.4 on unsure ones, which are labelled four times as often.

    Sure: 8 rows of 0.9, people say 0.8; unsure: 4 rows of 0.5, people say 0.1. All four unsure rows and two sure ones
    are labelled, so a label of a sure row stands for four: judge 9.2 / 12, difference (8·0.1 + 4·0.4) / 12; 6.8 / 12.
    """
    truth, judged = [0.8] * 2 + [0.1] * 4, [0.9] * 2 + [0.5] * 4
    found = corrected_mean(truth, judged, [0.9] * 6, weights=[4.0] * 2 + [1.0] * 4, interval="normal")
    assert found is not None
    assert found.judged == pytest.approx(9.2 / 12)
    assert found.mean == pytest.approx(6.8 / 12)


# ---- few labels, few bad rows ----------------------------------------------------------------------------------------


def shown_and_wrong(n: int, good: float, found: float, alarm: float, draws: int) -> float:
    """How often a mean of 300 rows from n labels, both kinds among them, does not hold the truth.

    The judge says yes of `found` of the good rows and of `alarm` of the bad ones.
    """
    rng, wrong = np.random.default_rng(9), 0
    for _ in range(draws):
        truth = (rng.random(300) < good).astype(float)
        judged = np.where(truth == 1.0, rng.random(300) < found, rng.random(300) < alarm).astype(float)
        if np.ptp(truth[:n]) == 0.0:
            continue
        one = corrected_mean(truth[:n].tolist(), judged[:n].tolist(), judged[n:].tolist())
        assert one is not None
        wrong += not one.low <= good <= one.high
    return wrong / draws


FEW = [(0.8, 0.95, 0.1), (0.97, 0.95, 0.1), (0.95, 0.95, 0.1), (0.8, 0.6, 0.5), (0.9, 1.0, 0.0), (0.97, 1.0, 0.0)]


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(("good", "found", "alarm"), FEW)
def test_thirty_labels_with_few_bad_rows_are_seldom_wrong(good: float, found: float, alarm: float) -> None:
    assert shown_and_wrong(30, good, found, alarm, 200) <= 0.065 + 2.5 * math.sqrt(0.065 * 0.935 / 200)


@pytest.mark.long
@pytest.mark.parametrize("n", [30, 40, 60])
@pytest.mark.parametrize(("good", "found", "alarm"), FEW)
def test_labels_with_few_bad_rows_are_seldom_wrong_in_4000_draws(
    n: int, good: float, found: float, alarm: float
) -> None:
    """Wrong in 7.5 % with 30 labels and 5 % bad rows: in a fifth of the draws there is none, which are not counted."""
    assert shown_and_wrong(n, good, found, alarm, 4000) <= (0.08 if n == 30 else 0.065)
