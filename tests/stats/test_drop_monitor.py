"""The drop monitor: when it opens and closes, that it may be looked at at any rate, and that a rhythm is no alarm."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drop_monitor import DropMonitor, DropState
from assay.stats.step_evidence import SIZES, SPLIT
from tests.benchmarks.bench_monitoring import bounds, hourly, opening
from tests.benchmarks.many_monitors import openings
from tests.benchmarks.traffic import DAY, HOUR, START, Traffic, level, simulate, volume


def watched(traffic: Traffic, days: int, **options: Any) -> tuple[DropMonitor, list[tuple[float, DropState]]]:
    """A monitor looked at each hour, with the states at which `open` changed."""
    monitor, found, was = DropMonitor(**options), [], False
    for day, rows in hourly(traffic, days):
        state = monitor.update(traffic.times[rows], traffic.values[rows], clusters=traffic.conversations[rows].tolist())
        if state.open != was:
            found.append((day, state))
            was = state.open
    return monitor, found


def joined(first: Traffic, second: Traffic, at: float) -> Traffic:
    """The first until a day, the second from then on."""
    before, after = first.times < START + at * DAY, second.times >= START + at * DAY
    return Traffic(*(
        np.concatenate([getattr(first, name)[before], getattr(second, name)[after]])
        for name in ("times", "expected", "values", "conversations")
    ))  # fmt: skip


def test_a_drop_opens_once_and_closes_when_the_mean_is_back() -> None:
    """From day 20 to 23 the mean is 0.66 in place of 0.86; at 1,000 rows a day an hour has about 40 rows."""
    bad = simulate(np.random.default_rng(3), 28, 1_000, drop=0.2, at=20.0)
    good = simulate(np.random.default_rng(3), 28, 1_000)
    _, found = watched(joined(bad, good, 23.0), 28)
    (opened, first), (closed, last) = found
    assert first.open
    assert 20.0 <= opened <= 20.5
    assert first.since is not None
    assert abs((first.since - START) / DAY - 20.0) <= 0.25
    assert first.reference == pytest.approx(0.86, abs=0.04)  # of these hours; the rhythm is 4 points
    assert first.difference == pytest.approx(-0.2, abs=0.1)
    assert first.mean == pytest.approx(first.reference + first.difference)  # type: ignore[operator]
    assert first.evidence >= 20.0  # 1 / 0.05
    assert 23.0 <= closed <= 24.0
    assert not last.open
    assert last.since is None


def test_the_region_holds_the_time_of_the_drop_and_is_not_wide() -> None:
    traffic = simulate(np.random.default_rng(5), 24, 1_000, drop=0.15, at=20.0)
    monitor, found = watched(traffic, 24)
    opened, first = found[0]
    region, later = first.region, monitor.current().region
    assert region is not None
    assert later is not None
    assert region[0] <= START + 20.0 * DAY <= region[1] + HOUR
    assert later[0] <= START + 20.0 * DAY <= later[1] + HOUR
    assert later[1] - later[0] < 3.0 * DAY
    assert opened < 21.0


def test_a_weekly_rhythm_is_no_alarm_and_no_change() -> None:
    """Weekends 20 points lower, nights 10 points: without noise of the judge or conversations."""
    hours = np.arange(10 * 168)
    rng = np.random.default_rng(1)
    times = START + HOUR * np.repeat(hours, 20) + HOUR * rng.random(20 * hours.size)
    hour = ((times - START) // HOUR).astype(int)
    weekend, night = (hour // 24 + 3) % 7 >= 5, hour % 24 < 6
    values = (rng.random(times.size) < 0.9 - 0.2 * weekend - 0.1 * night).astype(float)
    monitor = DropMonitor()
    for week in range(10):
        rows = hour // 168 == week
        assert not monitor.update(times[rows], values[rows]).open
    # the same rows without their rhythm in the reference: Mondays only before, then a weekend
    state = monitor.current()
    assert state.evidence < 20.0


def test_a_rise_moves_the_reference() -> None:
    """0.76 until day 20, 0.86 until day 40, then 0.78: lower than what was last, not than what was first."""
    low = simulate(np.random.default_rng(1), 46, 1_000, mean=0.79)
    high = simulate(np.random.default_rng(2), 46, 1_000, drop=0.08, at=40.0)
    _, found = watched(joined(low, high, 20.0), 46)
    assert [state.open for _, state in found] == [True]
    assert 40.0 <= found[0][0] <= 42.5
    assert found[0][1].reference == pytest.approx(0.86, abs=0.04)


def test_looking_more_often_changes_nothing() -> None:
    """All rows at once, a day at a time and each hour: the same state, but for rounding."""
    traffic = simulate(np.random.default_rng(8), 24, 500, drop=0.1, at=20.0)
    names = traffic.conversations.tolist()
    at_once = DropMonitor().update(traffic.times, traffic.values, clusters=names)
    hours = watched(traffic, 24)[0].current()
    assert at_once.open
    assert at_once.since == hours.since
    for name in ("mean", "reference", "difference", "evidence", "effective_n"):
        assert getattr(at_once, name) == pytest.approx(getattr(hours, name), rel=1e-9), name


def test_a_state_that_went_through_json_goes_on_alike() -> None:
    traffic = simulate(np.random.default_rng(4), 25, 300, drop=0.15, at=22.0)
    plain, saved = DropMonitor(drop=0.01), DropMonitor(drop=0.01)
    for number, (_, rows) in enumerate(hourly(traffic, 25)):
        given_rows = traffic.times[rows], traffic.values[rows], None, traffic.conversations[rows].tolist()
        one = plain.update(*given_rows)
        if number % 40 == 0 or one.open:
            saved = DropMonitor.from_state(json.loads(json.dumps(saved.state())))
        two = saved.update(*given_rows)
        assert one.open == two.open
        assert one.evidence == pytest.approx(two.evidence, rel=1e-6)
    assert plain.current().open
    assert len(json.dumps(plain.state())) < 150_000


def test_no_name_of_a_conversation_is_in_the_state() -> None:
    monitor = DropMonitor()
    monitor.update([START, START + 1.0], [1.0, 0.0], clusters=["ann@example.org", "ann@example.org"])
    assert "ann" not in json.dumps(monitor.state())


def test_direction_and_scale_are_the_users() -> None:
    """Scores from 1 to 5 where low is good: the mirror of the scores in [0, 1]."""
    traffic = simulate(np.random.default_rng(3), 22, 500, drop=0.2, at=20.0)
    names = traffic.conversations.tolist()
    one = DropMonitor().update(traffic.times, traffic.values, clusters=names)
    mirrored = DropMonitor(low=1.0, high=5.0, direction="lower")
    two = mirrored.update(traffic.times, 5.0 - 4.0 * traffic.values, clusters=names)
    assert one.open
    assert two.open
    assert two.since == one.since
    assert two.evidence == pytest.approx(one.evidence, rel=1e-6)
    assert two.difference == pytest.approx(-4.0 * one.difference, rel=1e-6)  # type: ignore[operator]
    assert two.mean == pytest.approx(5.0 - 4.0 * one.mean, rel=1e-6)  # type: ignore[operator]


def test_a_smaller_drop_than_the_stated_one_is_ignored() -> None:
    traffic = simulate(np.random.default_rng(3), 30, 2_000, drop=0.05, at=20.0)
    assert opening(traffic, 30, DropMonitor()) is not None
    assert opening(traffic, 30, DropMonitor(drop=0.1)) is None


def test_accept_makes_the_new_level_the_reference() -> None:
    traffic = simulate(np.random.default_rng(3), 30, 1_000, drop=0.1, at=20.0)
    monitor, _ = watched(Traffic(*(one[traffic.times < START + 23 * DAY] for one in (
        traffic.times, traffic.expected, traffic.values, traffic.conversations))), 23)  # fmt: skip
    assert monitor.current().open
    monitor.accept()
    assert not monitor.current().open
    rest = traffic.times >= START + 23 * DAY
    state = monitor.update(traffic.times[rest], traffic.values[rest], clusters=traffic.conversations[rest].tolist())
    assert not state.open
    assert state.reference == pytest.approx(0.76, abs=0.04)


def test_weights_stand_for_rows_that_were_not_sampled() -> None:
    """Bad answers are all kept, good ones 1 in 10: unweighted the mean is 0.38, weighted it is 0.86."""
    traffic = simulate(np.random.default_rng(6), 24, 5_000, drop=0.1, at=20.0)
    chance = np.random.default_rng(7).random(traffic.times.size)
    rate = np.where(traffic.values > 0.5, 0.1, 1.0)
    kept = chance < rate
    monitor = DropMonitor()
    before = kept & (traffic.times < START + 20.0 * DAY)
    state = monitor.update(traffic.times[before], traffic.values[before], 1.0 / rate[before])
    assert not state.open
    assert state.mean == pytest.approx(0.86, abs=0.05)
    after = kept & ~before
    state = monitor.update(traffic.times[after], traffic.values[after], 1.0 / rate[after])
    assert state.open
    assert state.difference == pytest.approx(-0.1, abs=0.03)


def test_rows_of_conversations_count_for_less() -> None:
    """Ten equal rows of a conversation say as much as one: effective n is a tenth of the rows, or so."""
    rng = np.random.default_rng(2)
    begin = START + np.sort(rng.random(3_000)) * 15 * DAY
    times = np.repeat(begin, 10) + np.tile(np.arange(10.0), 3_000)
    values = np.repeat((rng.random(3_000) < 0.8).astype(float), 10)
    names = np.repeat(np.arange(3_000), 10).tolist()
    state = DropMonitor().update(times, values, clusters=names)
    alone = DropMonitor().update(times, values)
    assert alone.effective_n / state.effective_n == pytest.approx(10.0, rel=0.1)


def test_rows_of_any_order_and_late_ones_are_taken_in() -> None:
    traffic = simulate(np.random.default_rng(9), 23, 500, drop=0.2, at=20.0)
    order = np.random.default_rng(1).permutation(traffic.times.size)
    shuffled = DropMonitor().update(traffic.times[order], traffic.values[order])
    sorted_ = DropMonitor().update(traffic.times, traffic.values)
    assert shuffled.evidence == pytest.approx(sorted_.evidence, rel=1e-6)
    late = DropMonitor()
    delayed = np.random.default_rng(2).random(traffic.times.size) < 0.1
    for day in range(24):
        came = np.where(delayed, traffic.times + 5 * HOUR, traffic.times)
        rows = (came >= START + day * DAY) & (came < START + (day + 1) * DAY)
        state = late.update(traffic.times[rows], traffic.values[rows])
    assert state.open


def test_before_two_weeks_nothing_opens() -> None:
    traffic = simulate(np.random.default_rng(3), 14, 1_000, drop=0.5, at=8.0)
    assert opening(traffic, 14) is None


def test_an_empty_monitor() -> None:
    state = DropMonitor().update([], [])
    assert state == DropState(False, None, None, None, None, 0.0, 0.0)
    assert DropMonitor().update([START], [math.nan]) == state


def test_the_money_of_a_period_is_one() -> None:
    """24 hours times 84 days of 1/(24·84): the bound of Doob is 1 / (1 / 0.05) = 0.05."""
    assert DropMonitor()._evidence.hourly * 24 * 84 == pytest.approx(1.0)
    assert SPLIT.sum() == pytest.approx(1.0)
    assert SIZES.size == SPLIT.size


@pytest.mark.parametrize(
    "options",
    [{"drop": -0.1}, {"drop": 1.0}, {"false_alarms": 0.0}, {"false_alarms": 1.0}, {"period_days": 0.0},
     {"low": 1.0, "high": 0.0}, {"high": math.inf}, {"direction": "up"}],
)  # fmt: skip
def test_options_out_of_range_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        DropMonitor(**options)


@pytest.mark.parametrize(
    ("rows", "said"),
    [(([0.0], [0.5, 0.5]), "times"), (([0.0], [1.5]), "values"), (([math.inf], [0.5]), "times"),
     (([0.0], [0.5], [0.0]), "weights"), (([0.0], [0.5], None, ["a", "b"]), "clusters")],
)  # fmt: skip
def test_rows_that_are_wrong_are_named(rows: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        DropMonitor().update(*rows)


@pytest.mark.parametrize("state", [{}, {"version": 2}, {"version": 1, "options": {}}, None])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(InputError, match="state"):
        DropMonitor.from_state(state)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 20 * DAY), st.floats(0, 1), st.floats(1e-3, 1e3), st.none() | st.integers(0, 5)),
        max_size=60,
    ),
    st.integers(1, 10),
)
def test_any_rows_are_taken_in_and_the_state_holds(rows: list[tuple[Any, ...]], parts: int) -> None:
    monitor = DropMonitor()
    for part in range(parts):
        some = rows[part::parts]
        times, values, weights, clusters = ([row[n] for row in some] for n in range(4))
        state = monitor.update(times, values, weights, clusters)
        assert math.isfinite(state.evidence)
        assert state.mean is None or -1e-9 <= state.mean <= 1.0 + 1e-9
    again = DropMonitor.from_state(json.loads(json.dumps(monitor.state())))
    assert again.current().evidence == pytest.approx(monitor.current().evidence)


def test_many_monitors_at_once_open_at_the_same_hours() -> None:
    """The benchmark's arithmetic for many streams is that of the class; variances differ a little."""
    streams = [simulate(np.random.default_rng(seed), 20, 1_000, drop=0.15, at=16.0) for seed in range(4)]
    opened, _ = openings(streams, 20 * 24)
    for traffic, hour in zip(streams, opened.tolist(), strict=True):
        found = opening(traffic, 20)
        assert found is not None
        assert abs(found[0] * 24 - hour) <= 3.0


def test_the_simulated_week() -> None:
    """Shares of rows sum to 1, and the rhythm does not move the mean."""
    assert volume().sum() == pytest.approx(1.0)
    assert (level() * volume()).sum() == pytest.approx(0.0, abs=1e-12)
    assert simulate(np.random.default_rng(1), 28, 1_000).values.mean() == pytest.approx(0.86, abs=0.01)


def test_stable_weeks_do_not_open_and_a_drop_is_seen_by_all() -> None:
    """Ten streams of six weeks with rhythm, conversations and a judge that errs; then a drop of 15 points, two days."""
    stable = [simulate(np.random.default_rng(300 + n), 42, 400) for n in range(10)]
    assert openings(stable, 42 * 24)[0].tolist() == [0] * 10
    drops = [simulate(np.random.default_rng(400 + n), 24, 1_000, drop=0.15, at=21.5) for n in range(10)]
    opened, _ = openings(drops, 24 * 24)
    assert bool(((opened > 21.5 * 24) & (opened <= 23.5 * 24)).all())


@pytest.mark.long
def test_false_alarms_are_rare_and_drops_are_seen() -> None:
    """A small case of `tests.benchmarks.bench_monitoring`.

    Where 5% of 60 stable periods open, 9 or more do in 0.3% of all cases. Where 95% of 40 drops of 10 points are seen
    within a day, less than 32 are in 0.1%.
    """
    stable = [simulate(np.random.default_rng(900 + n), 84, 500) for n in range(60)]
    opened, _ = openings(stable, 84 * 24)
    assert int((opened > 0).sum()) <= 8
    drops = [simulate(np.random.default_rng(700 + n), 31, 1_000, drop=0.1, at=29.3) for n in range(40)]
    opened, _ = openings(drops, 31 * 24)
    assert int(((opened > 29.3 * 24) & (opened <= 30.3 * 24)).sum()) >= 32


def test_exact_bounds_of_a_share() -> None:
    """Of 0 of 10 the upper end is 1 - 0.025^(1/10) = 0.3085."""
    assert bounds(0, 10) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert bounds(10, 10) == pytest.approx((1 - 0.3085, 1.0), abs=1e-4)
