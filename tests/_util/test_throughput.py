"""Rate and estimate: finished rows over the time since the run began, true from the first row."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util.throughput import Pace, in_words, rate_in_words
from assay.evaluation import progress
from assay.evaluation.progress import Lines, fitting
from assay.records import Usage


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_before_the_first_row_there_is_no_rate_and_no_estimate(clock: Clock) -> None:
    pace = Pace(40, clock)
    clock.now += 20
    assert (pace.rate, pace.left, pace.warning()) == (None, None, None)
    assert pace.parts() == ["0/40", "20 s, nothing finished yet"]


def test_a_burst_of_rows_after_a_long_batch_is_no_rate_of_thousands(clock: Clock) -> None:
    """3 rows after 20 s are 9 a minute, and 37 more take 20 / 3 * 37 = 247 s: not `1661.6 rows/s, one second left`."""
    pace = Pace(40, clock)
    clock.now += 20
    pace.rows = 3
    assert pace.rate == pytest.approx(0.15)
    assert pace.left == pytest.approx(37 / 0.15)
    assert pace.parts() == ["3/40", "9.0 rows/min", "4.1 min left"]


def test_without_a_total_there_is_no_estimate(clock: Clock) -> None:
    pace = Pace(None, clock)
    clock.now += 2
    pace.rows = 1234
    assert pace.parts() == ["1,234 rows", "617 rows/s"]


def test_a_long_run_is_announced_once_rows_are_measured(clock: Clock) -> None:
    """1,000 rows at 3 rows in 4.5 s: 1,500 s in all, 75 s for 50 of them."""
    pace = Pace(1000, clock)
    clock.now += 4.5
    pace.rows = 2
    assert pace.warning() is None  # not measured yet
    pace.rows = 3
    assert pace.warning() == "1,000 rows, about 25 min; with a limit of 50 rows about 75 s"
    assert Pace(80, clock).warning() is None


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0.01, 1e6))
def test_rows_done_and_rows_left_take_the_same_time_each(total: int, rows: int, seconds: float) -> None:
    clock = Clock()
    pace = Pace(total, clock)
    clock.now += seconds
    pace.rows = min(rows, total)
    assert pace.left is not None
    assert pace.left / seconds == pytest.approx((total - pace.rows) / pace.rows, rel=1e-3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (99, "99 s"), (99.6, "1.7 min"), (594, "9.9 min"), (598, "10 min"), (1500, "25 min"), (6000, "1.7 h")],
)
def test_times_in_words(seconds: float, text: str) -> None:
    assert in_words(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(250.0, "250 rows/s"), (1.0, "1.0 rows/s"), (0.5, "30.0 rows/min"), (0.01, "36.0 rows/h"), (1e-5, "0.0 rows/h")],
)
def test_rates_in_words(rate: float, text: str) -> None:
    assert rate_in_words(rate) == text


def result(rows: int) -> Any:
    return SimpleNamespace(rows=rows, metrics={}, usage=Usage())


def test_where_there_is_no_terminal_lines_come_after_ten_seconds_and_then_one_a_minute(clock: Clock) -> None:
    said: list[str] = []
    with Lines(Pace(1000, clock), said.append) as lines:
        for second in range(1, 200):  # a row a second
            clock.now += 1
            lines.update(result(second))
    assert said == [
        "assay: 10/1,000 · 1.0 rows/s · 16 min left (1,000 rows, about 17 min; with a limit of 50 rows about 50 s)",
        "assay: 70/1,000 · 1.0 rows/s · 16 min left",
        "assay: 130/1,000 · 1.0 rows/s · 14 min left",
        "assay: 190/1,000 · 1.0 rows/s · 14 min left",
    ]


def test_short_runs_say_nothing_in_a_log(clock: Clock) -> None:
    said: list[str] = []
    with Lines(Pace(9, clock), said.append) as lines:
        for second in range(1, 10):
            clock.now += 1
            lines.update(result(second))
    assert said == []


def test_what_does_not_fit_beside_the_bar_is_left_out() -> None:
    assert fitting(["1/2", "3 rows/s", "9 s left"], 15) == "1/2 · 3 rows/s"
    assert fitting(["1/2", "3 rows/s"], 1) == "1/2"


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.sys, "stderr", None)
    for wanted in (True, None, False):
        assert isinstance(progress.progress_for(wanted, lambda: 1), progress.Silent)
