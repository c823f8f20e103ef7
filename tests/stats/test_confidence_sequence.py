"""Confidence sequences: valid at every time, with weights and clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.confidence_sequence import ConfidenceSequence
from assay.stats.sequential import STAKES, Sequential


def test_without_rows_it_is_the_range() -> None:
    sequence = ConfidenceSequence(1.0, 5.0)
    assert (sequence.interval, sequence.mean, sequence.effective_n) == ((1.0, 5.0), None, 0.0)


def test_single_rows_of_one_weight_are_the_interval_of_a_sequential_test() -> None:
    """Each of its ends is wrong with probability alpha, so its alpha is half of 1 - confidence."""
    values = (np.random.default_rng(1).random(80) < 0.7).astype(float)
    gate = Sequential(0.0, reference=0.5, low=0.0, high=1.0, alpha=0.025)
    sequence = ConfidenceSequence(confidence=0.95)
    for value in values.tolist():
        gate.add(value)
    sequence.add(values)
    assert sequence.interval == pytest.approx(gate.interval, abs=1e-7)


def test_the_lower_end_is_where_the_wealth_is_two_by_alpha() -> None:
    """Ten rows of 1: mean over c of (1 + c (1 - m) / m)^10 = 40 at the lower end m."""
    sequence = ConfidenceSequence()
    sequence.add([1.0] * 10)
    low, high = sequence.interval
    assert np.mean((1.0 + STAKES * (1.0 - low) / low) ** 10) == pytest.approx(40.0, rel=1e-6)
    assert high == 1.0


def test_a_weight_of_two_is_two_rows_of_a_cluster() -> None:
    one, two = ConfidenceSequence(largest=2.0), ConfidenceSequence(largest=2.0)
    one.add([0.9, 0.1], [2.0, 1.0])
    two.add([0.9, 0.9, 0.1], clusters=["a", "a", "b"])
    assert one.interval == pytest.approx(two.interval)
    assert one.mean == pytest.approx((0.9 * 2 + 0.1) / 3)
    assert one.effective_n == pytest.approx(9 / 5)  # (2 + 1)² / (4 + 1)


def escapes(rng: np.random.Generator, clustered: bool) -> bool:
    """Whether the interval ever excludes the mean, looked at three times in 30 batches.

    Bad answers (30% of the population) are sampled at 1, good ones at 0.25: the weighted mean is 0.7. In clusters, the
    rows of one are all good or all bad.
    """
    sequence = ConfidenceSequence(confidence=0.9, largest=16.0 if clustered else 4.0)
    for number in range(30):
        good = rng.random(40) < 0.7
        names = np.arange(40)
        if clustered:
            good, names = np.repeat(good[:10], 4), np.repeat(np.arange(10), 4)
        kept = rng.random(40) < np.where(good, 0.25, 1.0)
        if clustered:  # a cluster is sampled whole
            kept = np.repeat(kept[::4], 4)
        sequence.add(good[kept].astype(float), np.where(good, 4.0, 1.0)[kept], names[kept].tolist())
        if number % 10 == 9 and not sequence.interval[0] <= 0.7 <= sequence.interval[1]:
            return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("clustered", [False, True])
def test_it_holds_the_mean_at_all_times(clustered: bool) -> None:
    """Of 60 sequences 6 may fail at 0.9. More than 13 of 60 at a rate of 0.1 has a probability of 0.2%."""
    rng = np.random.default_rng(11)
    assert sum(escapes(rng, clustered) for _ in range(60)) <= 13


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1.0), st.integers(0, 50)), min_size=1, max_size=40))
def test_it_holds_the_mean_of_what_was_seen(rows: list[tuple[float, float, int]]) -> None:
    values, weights, names = map(list, zip(*rows, strict=True))
    sequence = ConfidenceSequence(largest=40.0)
    sequence.add(values, weights, names)
    low, high = sequence.interval
    assert 0.0 <= low <= sequence.mean + 1e-9  # type: ignore[operator]
    assert sequence.mean - 1e-9 <= high <= 1.0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"low": 1.0, "high": 0.0}, "low"), ({"confidence": 1.0}, "confidence"), ({"largest": 0.0}, "largest"),
     ({"high": math.inf}, "high")],
)  # fmt: skip
def test_options_out_of_range_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ConfidenceSequence(**options)


@pytest.mark.parametrize(
    ("rows", "said"),
    [(([2.0],), "values"), (([0.5], [-1.0]), "weights"), (([0.5], [1.0, 1.0]), "weights"), (([0.5], [3.0]), "weigh"),
     (([0.5], None, ["a", "b"]), "clusters")],
)  # fmt: skip
def test_rows_that_are_wrong_are_named(rows: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ConfidenceSequence().add(*rows)
