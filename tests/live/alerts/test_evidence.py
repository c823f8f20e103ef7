"""What opens and closes an alert."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.live.alerts import drop_monitor
from assay.live.alerts.check import AlertChecker
from assay.live.alerts.estimates import window_mean
from assay.live.alerts.evidence import AlertEvidence, evaluate
from assay.store.alerts import SlotState
from assay.store.columns import MetricRange
from tests.live.alerts.fakes import HOUR, NOW, Columns, FakeMonitor, filled, rule

SCORES = st.integers(0, 100).map(lambda n: n / 100)
NOTHING, OPEN = SlotState(), SlotState(1, "alert", NOW - 60, NOW - 60)


def decided(columns: Columns, state: SlotState = NOTHING, **given: Any) -> AlertEvidence:
    return evaluate(rule(**given), columns, NOW, state)


def test_the_whole_interval_below_the_threshold_opens() -> None:
    found = decided(Columns([1.0] * 50 + [0.0] * 50))  # mean 0.5; Wilson's interval of 50 of 100 is 0.40 to 0.60
    assert found.decision == "open"
    assert (found.rows, found.scored, found.mean) == (100, 100, 0.5)
    assert found.low == pytest.approx(0.40, abs=0.01)
    assert found.high == pytest.approx(0.60, abs=0.01)
    assert "the whole interval is below 0.8" in found.reason
    assert found.effective_n == 100


def test_a_mean_below_with_an_interval_that_includes_the_threshold_does_not_open() -> None:
    found = decided(Columns([1.0] * 30 + [0.0] * 10))  # mean 0.75, interval 0.59 to 0.87
    assert (found.decision, found.mean) == ("stay", 0.75)
    assert "the interval includes 0.8" in found.reason


def test_an_open_alert_closes_when_the_mean_is_back_and_not_before() -> None:
    still = decided(Columns([1.0] * 79 + [0.0] * 21), OPEN)  # 0.79: within the interval, below the threshold
    assert still.decision == "stay"
    assert "still below 0.8" in still.reason
    back = decided(Columns([1.0] * 81 + [0.0] * 19), OPEN)
    assert back.decision == "close"
    assert "the mean is back at 0.8" in back.reason


def test_above_is_the_other_side() -> None:
    high = Columns([1.0] * 50 + [0.0] * 50)
    assert decided(high, kind="above", limit=0.2).decision == "open"
    low = Columns([1.0] * 10 + [0.0] * 90)
    assert decided(low, OPEN, kind="above", limit=0.2).decision == "close"


@pytest.mark.parametrize("state", [NOTHING, OPEN])
@pytest.mark.parametrize("values", [[], [math.nan] * 50, [0.0] * 29])
def test_too_few_scored_rows_change_nothing(values: list[float], state: SlotState) -> None:
    found = decided(Columns(values), state)
    assert found.decision == "stay"
    assert ("no scored rows" in found.reason) or ("the rule needs 30" in found.reason)


def test_rows_without_a_value_count_as_rows_and_not_as_scores() -> None:
    found = decided(Columns([0.0] * 40 + [math.nan] * 60))
    assert (found.decision, found.rows, found.scored, found.mean) == ("open", 100, 40, 0.0)


def test_rows_before_the_window_do_not_count_and_rows_ahead_of_the_clock_do() -> None:
    times = [NOW - 25 * HOUR] * 100 + [NOW + HOUR] * 100
    found = decided(Columns([0.0] * 100 + [1.0] * 100, times=times))
    assert (found.decision, found.rows, found.mean) == ("stay", 100, 1.0)


def test_the_mean_is_weighted_by_the_inverse_of_the_sampling_rate() -> None:
    # all failed answers, and one in ten of the others: (50·0·1 + 50·1·10) / (50·1 + 50·10) = 0.909
    columns = Columns([0.0] * 50 + [1.0] * 50, weights=[1.0] * 50 + [10.0] * 50)
    found = decided(columns)
    assert found.mean == pytest.approx(500 / 550)
    assert found.decision == "stay"
    assert found.effective_n is not None
    assert found.effective_n < 100


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_rows_with_an_unusable_weight_are_left_out(weight: float) -> None:
    found = decided(Columns([0.0] * 40 + [1.0] * 40, weights=[1.0] * 40 + [weight] * 40))
    assert (found.mean, found.scored) == (0.0, 40)


def test_rows_of_one_conversation_count_as_one_cluster() -> None:
    values = [0.0] * 20 + [1.0] * 20
    names = [str(n // 20) for n in range(40)]
    alone, together = Columns(values), Columns(values, columns={"conversation": names})
    assert decided(alone, limit=0.9).decision == "open"
    assert decided(together, limit=0.9, cluster="conversation").decision == "stay"  # two clusters prove nothing


def test_the_worst_rows_are_named_the_worst_first() -> None:
    found = decided(Columns([0.9, 0.1, 0.5, 0.0, 0.3, 0.2, 0.8]), min_rows=1)
    assert found.worst == ((4, 0.0), (2, 0.1), (6, 0.2), (5, 0.3), (3, 0.5))


def test_a_metric_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match="run 'shop' has no metric 'faithfulness'; it has correctness"):
        decided(Columns([0.5] * 50, metric="correctness"))


def test_the_range_is_that_of_the_metric_in_the_run() -> None:
    rated = Columns([1.0, 5.0] * 30, scale=MetricRange(1.0, 5.0, "higher"))
    assert decided(rated, limit=4.5).decision == "open"
    counted = Columns([3.0, 5.0] * 30, scale=MetricRange(0.0, math.inf, "lower"))
    found = decided(counted, kind="above", limit=2.0)
    assert (found.decision, found.mean, found.worst[0]) == ("open", 4.0, (60, 5.0))
    with pytest.raises(InputError, match="drop: low, high: expected numbers"):
        decided(counted, kind="drop", limit=1.0)


@given(st.lists(st.tuples(SCORES, st.floats(0.1, 100)), min_size=1, max_size=60))
def test_the_weighted_interval_holds_its_mean_and_stays_in_range(rows: list[tuple[float, float]]) -> None:
    values, weights = (np.array(one) for one in zip(*rows, strict=True))
    found = window_mean(values, weights, MetricRange(0.0, 1.0, "higher"))
    assert found is not None
    assert -1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1.0 + 1e-9
    assert 1 - 1e-6 <= found.effective_n <= len(rows) + 1e-6
    assert found.mean == pytest.approx(float((values * weights).sum() / weights.sum()))


@given(st.lists(st.tuples(SCORES, st.floats(0.1, 100)), max_size=60), st.booleans(), st.floats(0, 1))
def test_no_rows_both_open_and_close(rows: list[tuple[float, float]], below: bool, limit: float) -> None:
    columns = Columns([value for value, _ in rows], weights=[weight for _, weight in rows])
    given = {"kind": "below" if below else "above", "limit": limit, "min_rows": 1}
    assert not (decided(columns, **given).decision == "open" and decided(columns, OPEN, **given).decision == "close")


# ---- drop rules


@pytest.fixture
def _fake_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drop_monitor, "monitor_class", lambda: FakeMonitor)


@pytest.mark.usefixtures("_fake_monitor")
def test_a_drop_opens_and_closes_as_the_monitor_says_and_each_row_is_fed_once(tmp_path: Any) -> None:
    values: list[float] = [0.9] * 20
    store = filled(tmp_path, values)
    drop = rule(kind="drop", limit=0.2, min_rows=5)
    checker = AlertChecker(store, [drop], lambda *_: Columns(values))
    assert checker.check(NOW).slots[0].event is None
    assert checker.check(NOW + 600).slots[0].event is None  # nothing new: nothing is fed twice
    values += [0.5] * 10
    assert checker.check(NOW + 900).slots[0].evidence.at == NOW + 600  # each ten minutes
    opened = checker.check(NOW + 1200).slots[0]
    # the last 10 have a mean of 0.5, the first 10 of 0.9
    assert (opened.event, opened.evidence.reference, opened.evidence.difference) == ("opened", 0.9, pytest.approx(-0.4))
    (monitor,) = checker.alerts.monitors("shop", "low")
    assert len(monitor["monitor"]["seen"]) == 30
    values += [0.9] * 10
    assert checker.check(NOW + 1800).slots[0].event == "closed"
    assert checker.check(NOW + 2400).slots[0].event is None
    (monitor,) = checker.alerts.monitors("shop", "low")
    assert monitor["monitor"]["seen"] == values
    store.close()


@pytest.mark.usefixtures("_fake_monitor")
def test_a_changed_rule_starts_a_monitor_of_its_own(tmp_path: Any) -> None:
    with filled(tmp_path, [0.9] * 30) as store:
        for limit in (0.2, 0.3):
            changed = rule(kind="drop", limit=limit, min_rows=5)
            AlertChecker(store, [changed], lambda *_: Columns([0.9] * 30)).check(NOW)
        (monitor,) = AlertChecker(store, [], None).alerts.monitors("shop", "low")
        assert (monitor["monitor"]["drop"], len(monitor["monitor"]["seen"])) == (0.3, 30)


def test_the_real_monitor_opens_on_a_drop_and_goes_on_after_a_restart(tmp_path: Any) -> None:
    """Three weeks at 0.9, 40 rows an hour, then a day at 0.6: each day another process checks."""
    chance, rows = np.random.default_rng(3), 40 * 24
    start = NOW - 22 * 86_400
    times = start + np.sort(chance.random(22 * rows)) * 22 * 86_400
    values = (chance.random(22 * rows) < np.where(times < NOW - 86_400, 0.9, 0.6)).astype(float)
    store = filled(tmp_path, [])
    drop, events = rule(kind="drop", limit=0.05, min_rows=100), []
    for day in range(1, 23):
        now = start + day * 86_400
        seen = Columns(values[times < now].tolist(), times=times[times < now].tolist())
        (slot,) = AlertChecker(store, [drop], lambda *_, seen=seen: seen).check(now).slots  # type: ignore[misc]
        events.append(slot.event)
    assert events == [None] * 21 + ["opened"]
    evidence = slot.evidence
    assert evidence.reference == pytest.approx(0.9, abs=0.03)
    assert evidence.difference == pytest.approx(-0.3, abs=0.05)
    assert evidence.dropped_at == pytest.approx(NOW - 86_400, abs=2 * HOUR)
    assert "faithfulness differs by -0." in evidence.reason
    store.close()
