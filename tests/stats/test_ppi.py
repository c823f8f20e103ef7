"""A judge's mean corrected by a few labels: ppi-python's figures, no bias, and intervals that hold and are short."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.ppi import CorrectedMean, corrected_mean

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
