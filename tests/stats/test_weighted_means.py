"""Intervals of weighted means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.errors import InputError
from assay.stats.intervals import estimate
from assay.stats.weighted_means import weighted_estimate


def test_equal_weights_are_none() -> None:
    values = [1.0, 0.0, 1.0, 1.0]
    assert weighted_estimate(values, [3.0] * 4) == weighted_estimate(values) == estimate(values)
    assert weighted_estimate([]) is None


def test_the_mean_is_weighted() -> None:
    """(1·10 + 0·1 + 1·10 + 0·1) / 22."""
    found = weighted_estimate([1.0, 0.0, 1.0, 0.0], [10.0, 1.0, 10.0, 1.0])
    assert found is not None
    assert found.mean == pytest.approx(20 / 22)
    assert found.low < 20 / 22 < found.high


def test_one_cluster_says_nothing_of_how_much_clusters_differ() -> None:
    found = weighted_estimate([1.0, 0.0], [1.0, 2.0], clusters=["a", "a"])
    assert found is not None
    assert (found.low, found.high, found.error) == (0.0, 1.0, None)


@pytest.mark.parametrize("value", [0.0, 1e-239, 1e-6, 1e-4])
def test_means_near_an_end_have_the_interval_of_as_many_scores_at_the_end(value: float) -> None:
    """100 rows of weight 1 and 100 of weight 2: Kish 300² / 500 = 180 rows; Wilson's upper end of 0 of 180 is
    1.973² / (180 + 1.973²) = 0.021."""
    found = weighted_estimate(np.full(200, value), np.repeat([1.0, 2.0], 100))
    assert found is not None
    assert found.low <= value <= found.high
    assert found.high == pytest.approx(0.021, abs=0.002)


def test_a_range_without_an_end_has_students_interval() -> None:
    found = weighted_estimate([1.0, 2.0, 4.0], [1.0, 2.0, 1.0], -np.inf, np.inf)
    assert found is not None
    assert found.mean == pytest.approx(9 / 4)
    assert found.low < found.mean < found.high


@pytest.mark.parametrize("clustered", [False, True])
def test_coverage(clustered: bool) -> None:
    """Good answers (80%) are sampled at 0.2, bad ones at 1. Of 400 intervals at 95%, less than 362 is 0.02% likely."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(400):
        good = rng.random(300) < 0.8
        names = np.arange(300)
        if clustered:
            good, names = np.repeat(good[:100], 3), np.repeat(np.arange(100), 3)
        kept = rng.random(300) < np.where(good, 0.2, 1.0)
        if clustered:
            kept = np.repeat(kept[::3], 3)
        weights = np.where(good, 5.0, 1.0)[kept]
        found = weighted_estimate(good[kept].astype(float), weights, clusters=names[kept].tolist())
        assert found is not None
        held += found.low <= 0.8 <= found.high
    assert held >= 362


@pytest.mark.parametrize(
    ("rows", "said"), [(([0.5], [0.0]), "weights"), (([0.5], [1.0, 2.0]), "weights"), (([5.0], [1.0]), "values")]
)
def test_rows_that_are_wrong_are_named(rows: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        weighted_estimate(*rows)
