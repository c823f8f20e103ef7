"""Canary rows: a judge that drifts is told from an application that drifts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from assay.errors import InputError
from assay.stats.canaries import CanaryMonitor, attribute_change, judge_drift
from assay.stats.drop_monitor import DropState


def scorings(rng: np.random.Generator, days: int, shift: float = 0.0, rows: int = 60) -> Iterator[dict[str, float]]:
    """A judge that is wrong in 5% of rows; with a shift, that refuses a share of the good ones (90%) each time."""
    good = np.arange(rows) < 0.9 * rows
    for _ in range(days):
        said = (good != (rng.random(rows) < 0.05)) & (rng.random(rows) >= shift)
        yield {f"row-{number}": float(one) for number, one in enumerate(said)}


def test_a_judge_that_answers_alike_has_not_drifted() -> None:
    """All differences are 0. s² = (0 + 0.25) / (freedom: 20 rows · (3 + 3 scorings - 2)) = 0.25 / 80."""
    scoring = {str(number): number / 20 for number in range(20)}
    found = judge_drift([scoring] * 3, [scoring] * 3)
    assert (found.difference, found.rows, found.before, found.after) == (0.0, 20, 3, 3)
    variance = 0.25 / 80 * 20 * (1 / 3 + 1 / 3) / 20**2
    mixed = 1 + 0.01 / variance
    assert found.evidence == pytest.approx(1 / math.sqrt(mixed))
    assert found.high == pytest.approx(math.sqrt(mixed * math.log(mixed * 400)) * variance / 0.1)
    assert found.verdict == "inconclusive"  # the interval is wider than the margin
    assert judge_drift([scoring] * 30, [scoring] * 30).verdict == "stable"


def test_a_shift_is_a_drift() -> None:
    rng = np.random.default_rng(2)
    found = judge_drift(list(scorings(rng, 20)), list(scorings(rng, 3, 0.2)))
    assert found.verdict == "drift"
    assert found.low < -0.2 * 0.86 < found.high  # 0.2 of the 0.9 · 0.95 + 0.1 · 0.05 = 86% that passed


def test_two_scorings_can_be_compared() -> None:
    before = {str(number): 1.0 for number in range(40)}
    after = {row: float(int(row) >= 20) for row in before}
    assert judge_drift([before], [after]).verdict == "drift"
    assert judge_drift([before], [{**before, "0": 0.0}]).verdict != "drift"


def test_a_judge_that_stays_is_rarely_found_to_drift_however_often_one_looks() -> None:
    """30 days, looked at each day, 300 times: 5% at most. More than 27 of 300 at 5% has a probability of 0.2%."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(300):
        days = list(scorings(rng, 16, rows=30))
        wrong += any(judge_drift(days[:6], days[6:end]).verdict == "drift" for end in range(7, 17))
    assert wrong <= 27


def test_few_rows_say_nothing() -> None:
    found = judge_drift([{"a": 1.0}], [{"a": 0.0}])
    assert (found.verdict, found.difference, found.evidence, found.rows) == ("inconclusive", -1.0, 1.0, 1)
    assert judge_drift([], []).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [(([{"a": 2.0}], []), {}, "before"), (([], [{"a": math.nan}]), {}, "after"), (([], []), {"alpha": 0.0}, "alpha"),
     (([], []), {"margin": -1.0}, "margin"), (([], []), {"low": 1.0}, "low")],
)  # fmt: skip
def test_bad_input_is_named(arguments: tuple[Any, ...], options: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        judge_drift(*arguments, **options)


def watched(shift: float, seed: int = 3) -> CanaryMonitor:
    """Scored for 20 days, and for 4 days after a change of the judge at day 20."""
    rng, canaries = np.random.default_rng(seed), CanaryMonitor()
    for day, scores in enumerate([*scorings(rng, 20), *scorings(rng, 4, shift)]):
        canaries.add(float(day), scores)
    return canaries


def drop(difference: float) -> DropState:
    """The open state of a monitor: down since day 20."""
    return DropState(True, 19.5, 0.8, 0.8 - difference, difference, 1e3, 900.0, (18.5, 20.5), 0.01)


def test_a_drop_that_the_canaries_share_is_the_judges() -> None:
    """The judge refuses 15% of 86%: 13 points."""
    found = attribute_change(drop(-0.13), watched(0.15))
    assert found.verdict == "judge"
    assert found.rest == pytest.approx(0.0, abs=0.09)


def test_a_drop_that_the_canaries_do_not_share_is_the_applications() -> None:
    found = attribute_change(drop(-0.2), watched(0.0))
    assert found.verdict == "application"
    assert found.difference == -0.2


def test_a_drop_that_is_much_larger_is_of_both() -> None:
    assert attribute_change(drop(-0.5), watched(0.15)).verdict == "both"


def test_without_canaries_or_a_drop_it_is_inconclusive() -> None:
    assert attribute_change(drop(-0.1), CanaryMonitor()).verdict == "inconclusive"
    closed = DropState(False, None, 0.8, 0.8, 0.0, 0.1, 900.0)
    assert attribute_change(closed, watched(0.3)).verdict == "inconclusive"


def test_a_state_goes_through_json() -> None:
    canaries = watched(0.2)
    again = CanaryMonitor.from_state(json.loads(json.dumps(canaries.state())))
    assert again.drift(19.5) == canaries.drift(19.5)
    for wrong in ({}, None, {"low": 0, "high": 1, "kept": 5, "scorings": [1]}):
        with pytest.raises(InputError, match="state"):
            CanaryMonitor.from_state(wrong)  # type: ignore[arg-type]


def test_old_scorings_are_dropped_but_for_the_stored_verdicts() -> None:
    canaries = CanaryMonitor(kept=3)
    for day in range(6):
        canaries.add(float(day), {"a": day / 10, "b": None})
    assert [time for time, _ in canaries.state()["scorings"]] == [0.0, 4.0, 5.0]


def test_bad_scorings_are_named() -> None:
    with pytest.raises(InputError, match="time"):
        CanaryMonitor().add(math.nan, {})
    with pytest.raises(InputError, match="scores"):
        CanaryMonitor().add(0.0, {"a": 7.0})
    with pytest.raises(InputError, match="kept"):
        CanaryMonitor(kept=1)
    with pytest.raises(InputError, match="low"):
        CanaryMonitor(low=2.0)


def test_a_drift_is_located_at_the_scoring_that_differs() -> None:
    """Scorings 1 to 6 alike, 7 to 9 lower by 0.5 in half of 40 rows: the sixth place (from 0) is the first after."""
    before = {str(number): 1.0 for number in range(40)}
    after = {row: float(int(row) >= 20) for row in before}
    monitor = CanaryMonitor()
    for day in range(9):
        monitor.add(float(day), before if day < 6 else after)
        since, found = monitor.locate_drift()
        assert (since, found.verdict == "drift") == ((None, False) if day < 6 else (6.0, True))
    assert (found.before, found.after, found.difference) == (6, 3, -0.5)


def test_the_evidence_of_a_located_drift_is_the_weighted_sum() -> None:
    """Three scorings: two places, with weights 1/2 and 1/6."""
    days = list(scorings(np.random.default_rng(4), 3))
    monitor = CanaryMonitor()
    for day, one in enumerate(days):
        monitor.add(float(day), one)
    since, found = monitor.locate_drift()
    parts = [judge_drift(days[:place], days[place:]).evidence for place in (1, 2)]
    assert found.evidence == pytest.approx(parts[0] / 2 + parts[1] / 6)
    assert (since, found.before, found.after) == (None, 1, 2)


def test_a_noisy_judge_that_stays_is_stable_after_a_while() -> None:
    """100 rows, wrong in 5%: each half of 100 scorings has a standard error of sqrt(0.0475 / 5000) = 0.003."""
    monitor = CanaryMonitor()
    for day, one in enumerate(scorings(np.random.default_rng(9), 100, rows=100)):
        monitor.add(float(day), one)
    since, found = monitor.locate_drift()
    assert (since, found.verdict, found.before, found.after) == (None, "stable", 50, 50)


def test_without_two_scorings_no_drift_is_located() -> None:
    monitor = CanaryMonitor()
    assert monitor.locate_drift()[1].verdict == "inconclusive"
    monitor.add(0.0, {"a": 1.0})
    since, found = monitor.locate_drift()
    assert (since, found.verdict, found.difference) == (None, "inconclusive", None)


@pytest.mark.long
def test_a_judge_that_stays_is_rarely_located_to_drift() -> None:
    """40 days, looked at each day, 200 times: 5% at most. More than 20 of 200 at 5% has a probability of 0.1%."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(200):
        monitor = CanaryMonitor()
        for day, one in enumerate(scorings(rng, 40, rows=30)):
            monitor.add(float(day), one)
            if day % 4 == 3 and monitor.locate_drift()[1].verdict == "drift":
                wrong += 1
                break
    assert wrong <= 20
