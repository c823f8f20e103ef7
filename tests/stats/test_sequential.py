"""Gates that stop early: how often they are wrong, how soon they stop, what their interval holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.power import Assumptions, rows_needed
from assay.stats.sequential import STAKES, Sequential

VALUES = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


def fed(values: object, margin: float = 0.1, **more: float) -> Sequential:
    gate = Sequential(margin, **more)
    for value in values:  # type: ignore[attr-defined]
        gate.add(float(value))
    return gate


def moved(rng: np.random.Generator, up: float, down: float, n: int, size: float | None = None) -> np.ndarray:
    """Differences: shares of rows that rise and fall, by 1 or by an exponential with this mean."""
    which = rng.random(n)
    sign = np.where(which < up, 1.0, np.where(which < up + down, -1.0, 0.0))
    return sign if size is None else sign * np.minimum(1.0, rng.exponential(size, n))


def test_wealth_is_the_mean_over_stakes_of_the_products() -> None:
    """Falls of 1 against a mean of 0, c·(0 - -1)/(1 - 0) = c each: after k falls the wealth is mean((1 + c)^k).

    With the 24 stakes from 0.01 to 0.97 it passes 20 at the 7th.
    """
    wealth = [float(np.mean((1 + STAKES) ** k)) for k in range(12)]
    first = next(k for k, one in enumerate(wealth) if one >= 20)
    gate = Sequential(0.1)
    for k in range(1, first + 1):
        assert gate.verdict is None, k
        gate.add(-1.0)
    assert gate.verdict == "fail"


def test_a_verdict_stays() -> None:
    gate = fed([-1.0] * 20 + [1.0] * 200)
    assert (gate.verdict, gate.n) == ("fail", 220)
    assert gate.mean == pytest.approx(180 / 220)


def test_before_any_value_nothing_is_known() -> None:
    gate = Sequential(0.1)
    assert (gate.verdict, gate.mean, gate.interval, str(gate)) == (None, None, (-1.0, 1.0), "no value yet")


def test_an_absolute_rule_is_a_reference_on_the_scale_of_scores() -> None:
    assert fed([1.0] * 60, 0.0, reference=0.8, low=0.0, high=1.0).verdict == "pass"
    assert fed([0.0] * 60, 0.0, reference=0.8, low=0.0, high=1.0).verdict == "fail"
    assert fed([1.0, 1.0, 1.0, 0.0] * 2, 0.0, reference=0.8, low=0.0, high=1.0).verdict is None


@settings(max_examples=40)
@given(VALUES)
def test_the_interval_holds_the_mean_of_what_was_seen_and_says_what_the_verdict_says(values: list[float]) -> None:
    gate = fed(values)
    low, high = gate.interval
    assert -1.0 <= low <= gate.mean + 1e-9  # type: ignore[operator]
    assert gate.mean - 1e-9 <= high <= 1.0  # type: ignore[operator]
    if low > -0.1 + 1e-9 or high < -1e-9:
        assert gate.verdict is not None


@settings(max_examples=40)
@given(VALUES)
def test_turning_the_values_turns_the_interval(values: list[float]) -> None:
    low, high = fed(values).interval
    assert fed([-value for value in values]).interval == pytest.approx((-high, -low), abs=1e-6)


@settings(max_examples=40)
@given(VALUES, st.floats(0.1, 100))
def test_the_scale_does_not_matter(values: list[float], width: float) -> None:
    one, other = fed(values), fed([v * width for v in values], 0.1 * width, low=-width, high=width)
    assert one.verdict == other.verdict
    assert tuple(end * width for end in one.interval) == pytest.approx(other.interval, abs=1e-6 * width)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"margin": -0.1}, "margin: expected 0 or more and less than 1"),
        ({"margin": math.nan}, "margin"),
        ({"margin": 1.0}, "margin"),
        ({"margin": 0.1, "reference": 1.0}, "reference: expected a number between -1.0 and 1.0"),
        ({"margin": 0.1, "alpha": 0.0}, "alpha"),
        ({"margin": 0.1, "low": 1.0}, "low, high"),
        ({"margin": 0.1, "high": math.inf}, "low, high"),
    ],
)
def test_what_no_gate_can_be_is_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sequential(**arguments)


@pytest.mark.parametrize("value", [1.5, -2.0, math.nan, math.inf])
def test_a_value_outside_the_range_is_refused(value: float) -> None:
    gate = Sequential(0.1)
    with pytest.raises(InputError, match=r"value: expected a number from -1\.0 to 1\.0"):
        gate.add(value)
    assert gate.n == 0


@pytest.mark.long
@pytest.mark.parametrize("world", [(0.1, 0.1, None), (0.3, 0.3, 0.3), (0.02, 0.02, None)])
def test_alike_runs_fail_rarely_though_looked_at_after_every_sample(world: tuple[float, float, float | None]) -> None:
    """1,000 gates of 500 samples: at most 5 %, and 1.6 points more for what 1,000 err by (2.3 standard errors)."""
    rng = np.random.default_rng(20)
    up, down, size = world
    failed = sum(fed(moved(rng, up, down, 500, size), 0.05).verdict == "fail" for _ in range(1000))
    assert failed / 1000 <= 0.05 + 0.016


@pytest.mark.long
@pytest.mark.parametrize(("mean", "margin"), [(0.9, 0.05), (0.8, 0.1)])
def test_it_stops_early_where_the_drop_is_twice_the_margin(mean: float, margin: float) -> None:
    """At a median of at most 40 % of the rows that a comparison of fixed size needs to see the margin."""
    fixed = rows_needed(Assumptions(mean=mean), margin)
    assert fixed is not None
    rng, up = np.random.default_rng(23), Assumptions(mean=mean).flips(margin)[0]
    stops = []
    for _ in range(200):
        gate = Sequential(margin)
        for value in moved(rng, up, up + 2 * margin, 4 * fixed):
            gate.add(float(value))
            if gate.verdict is not None:
                break
        assert gate.verdict == "fail"
        stops.append(gate.n)
    assert np.median(stops) <= 0.4 * fixed


@pytest.mark.long
def test_a_run_worse_by_the_margin_passes_rarely() -> None:
    rng = np.random.default_rng(21)
    passed = sum(fed(moved(rng, 0.1, 0.2, 500), 0.1).verdict == "pass" for _ in range(1000))
    assert passed / 1000 <= 0.05 + 0.016


@pytest.mark.long
@pytest.mark.parametrize("runs", [80, 300])
def test_the_interval_holds_the_truth_at_every_look(runs: int) -> None:
    """Ends are wrong with 5 % each: both hold at all 20 looks in 90 % of runs, less 2.3 standard errors."""
    rng = np.random.default_rng(22)
    held = 0
    for _ in range(runs):
        gate, fine = Sequential(0.1), True
        for n, value in enumerate(moved(rng, 0.3, 0.2, 200), 1):
            gate.add(value)
            if n % 10 == 0:
                low, high = gate.interval
                fine = fine and low <= 0.1 <= high
        held += fine
    assert held / runs >= 0.90 - 2.3 * math.sqrt(0.9 * 0.1 / runs)
