"""The verdict on two runs, its interval and its gate: they tell the same, and hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.gates.evidence import of_change
from assay.stats import Difference, difference, non_inferior, paired
from assay.stats.intervals import Estimate
from assay.stats.linking import without_offset
from tests.stats.worlds import TWO_RUNS, TwoRuns, flipped

HOLDS = 0.935


def fallen(n: int, k: int, size: float, first: float = 0.9, apart: float = 0.0) -> tuple[list[float], list[float]]:
    """k of n rows fall by one size, or by sizes up to `apart` more."""
    return [first] * n, [first - size - apart * row / k if row < k else first for row in range(n)]


FALLS = [
    (20, 8, 0.25, 0.75), (50, 15, 0.1, 0.9), (20, 20, 0.02, 0.9), (100, 30, 0.05, 0.9), (100, 60, 0.05, 0.9),
    (200, 60, 0.1, 0.9), (100, 15, 0.5, 0.5), (30, 7, 0.2, 0.6), (20, 8, 0.02, 1.0), (12, 12, 1.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("n", "k", "size", "first"), FALLS)
def test_falls_of_one_size_are_worse_by_verdict_interval_and_gate(n: int, k: int, size: float, first: float) -> None:
    """p = 2·0.5^k, below 0.05 from six falls on."""
    before, after = fallen(n, k, size, first)
    found = difference(before, after)
    assert found is not None
    assert found.p == pytest.approx(2 * 0.5**k)
    assert found.estimate.high < 0.0
    shown = of_change(before, after, 0.0, 1.0, 0.0, None, clusters=None, alpha=0.05)
    assert shown.broken
    assert shown.p is not None
    assert shown.p < 0.05
    assert shown.interval is not None
    assert shown.interval[1] < 0.0
    other = non_inferior(before, after, 0.001)
    assert other is not None
    assert other.verdict == "fail"


@pytest.mark.parametrize(("n", "k", "size", "first"), FALLS)
def test_sizes_a_little_apart_change_little(n: int, k: int, size: float, first: float) -> None:
    if first == size:
        return  # they would leave the range
    ends = []
    for apart in (0.0, 1e-12, 1e-6, size * 0.05):
        found = difference(*fallen(n, k, size, first, apart))
        assert found is not None
        ends.append((found.estimate.low / size, found.estimate.high / size))
    for other in ends[1:]:
        assert other == pytest.approx(ends[0], abs=0.3)


SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.98, 0.999, 1.0]) | st.floats(0, 1)
ROWS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=24)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(ROWS, st.booleans(), st.sampled_from([0.9, 0.95]))
def test_the_interval_holds_0_exactly_where_the_test_does_not_reject_it(
    rows: list[tuple[float, float]], alike: bool, confidence: float
) -> None:
    first, second = [a for a, _ in rows], [b for _, b in rows]
    clusters = [number // 3 for number in range(len(rows))] if alike else None
    found = difference(first, second, clusters=clusters, confidence=confidence)
    assert found is not None
    by = found.estimate
    assert (by.low <= 0.0 <= by.high) == (found.p >= 1.0 - confidence)
    assert by.low <= by.mean + 1e-9
    assert by.mean - 1e-9 <= by.high


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from([0.01, 0.1, 0.3]))
def test_a_gate_on_a_change_agrees_with_its_interval(rows: list[tuple[float, float]], margin: float) -> None:
    first, second = [a for a, _ in rows], [b for _, b in rows]
    plain = of_change(first, second, 0.0, 1.0, 0.0, None, clusters=None, alpha=0.05)
    within = of_change(first, second, 0.0, 1.0, 0.0, margin, clusters=None, alpha=0.05)
    if plain.interval is None or within.interval is None:
        return
    assert (plain.broken and (plain.p or 0.0) < 0.05) == (plain.interval[1] < 0.0)
    assert within.holds == (within.interval[0] > -margin)


def agreed(found: Difference | None) -> Estimate:
    assert found is not None
    return found.agreeing(found.p).estimate


def holds(world: TwoRuns, n: int, draws: int) -> float:
    rng, held = np.random.default_rng(4), 0
    for _ in range(draws):
        first, second = world.draw(rng, n)
        found = agreed(difference(first.tolist(), second.tolist(), corrects=True))
        held += found.low - 1e-11 <= world.truth <= found.high + 1e-11
    return held / draws


@pytest.mark.parametrize("world", TWO_RUNS[::3], ids=lambda world: world.name)
def test_the_interval_of_a_difference_holds_the_truth(world: TwoRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "FLIPS", 499)
    assert holds(world, 20, 200) >= HOLDS - 2.5 * math.sqrt(HOLDS * (1 - HOLDS) / 200)


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("world", TWO_RUNS, ids=lambda world: world.name)
def test_the_interval_of_a_difference_holds_the_truth_in_4000_draws(
    world: TwoRuns, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paired, "FLIPS", 499)
    assert holds(world, n, 4000) >= HOLDS - 2.5 * math.sqrt(HOLDS * (1 - HOLDS) / 4000)


@pytest.mark.parametrize("anchors", [10, 30])
def test_linked_judges_with_anchors_that_hardly_differ_do_not_make_a_verdict(anchors: int) -> None:
    """The second judge turns 4 % of good rows bad and nothing else happened: "worse" is wrong, and said in 5 %."""
    rng, wrong = np.random.default_rng(8), 0
    judges = flipped(0.0, 0.04)
    for _ in range(200):
        offset, seen = (
            difference(a.tolist(), b.tolist(), corrects=True) for a, b in (judges.draw(rng, n) for n in (anchors, 100))
        )
        assert offset is not None
        assert seen is not None
        left = without_offset(seen, offset.estimate, 1.0)
        assert (left.p < 0.05) == (not left.estimate.low <= 0.0 <= left.estimate.high)
        wrong += left.p < 0.05
    assert wrong / 200 <= 0.05


def test_the_detectable_difference_counts_the_other_tests() -> None:
    """n = 50, ten tests: (t(0.9975) + z(0.9)) / (t(0.975) + z(0.9)) = 4.222 / 3.292 times as large."""
    found = difference([0.5] * 50, [0.5 + 0.01 * (row % 7 - 3) for row in range(50)])
    assert found is not None
    one, ten = (paired.detectable(found.estimate, 1.0, tests) for tests in (1, 10))
    assert one is not None
    assert ten is not None
    assert ten / one == pytest.approx((2.940 + 1.282) / (2.010 + 1.282), abs=2e-3)
