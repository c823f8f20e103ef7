"""Trends: periods in a time zone, weighted means, coverage, refusals, costs, change points."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from assay import ScriptedJudge, evaluate
from assay.errors import InputError
from assay.live.trends import TrendData, TrendMetric, trend, trend_of
from tests.benchmarks.traffic import DAY, START, simulate


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def data(times: list[float], values: list[float], **more: Any) -> TrendData:
    return TrendData(np.array(times), {"faithfulness": TrendMetric(np.array(values))}, **more)


def test_days_are_those_of_the_time_zone() -> None:
    """23:30 UTC is 00:30 of the next day in Rome (UTC+1)."""
    rows = data([at("2026-01-05T22:30"), at("2026-01-05T23:30"), at("2026-01-06T08:00")], [1.0, 0.0, 1.0])
    assert [(point.period, point.mean) for point in trend_of(rows).points] == [("2026-01-05", 0.5), ("2026-01-06", 1.0)]
    found = trend_of(rows, timezone="Europe/Rome")
    assert [(point.period, point.mean) for point in found.points] == [("2026-01-05", 1.0), ("2026-01-06", 0.5)]
    assert found.points[1].start == at("2026-01-06T00:00", "Europe/Rome")
    assert "Europe/Rome" in repr(found)


def test_the_hour_that_comes_twice_is_two() -> None:
    """In Rome 2026-10-25 02:00 to 03:00 comes at 00:00 UTC and again at 01:00 UTC."""
    rows = data([at("2026-10-25T00:30"), at("2026-10-25T01:30")], [1.0, 0.0])
    found = trend_of(rows, per="hour", timezone="Europe/Rome")
    assert [point.period for point in found.points] == ["2026-10-25 02:00", "2026-10-25 02:00 (again)"]
    days = trend_of(rows, per="day", timezone="Europe/Rome")
    assert [point.rows for point in days.points] == [2]


def test_zones_of_half_an_hour() -> None:
    rows = data([at("2026-01-05T10:20"), at("2026-01-05T10:40")], [1.0, 0.0])
    found = trend_of(rows, per="hour", timezone="Asia/Kolkata")  # 15:50 and 16:10
    assert [point.period for point in found.points] == ["2026-01-05 15:00", "2026-01-05 16:00"]


def test_means_are_weighted_and_say_what_they_stand_for() -> None:
    """Weights 9 and 1: mean 0.9, effective n (9 + 1)² / (81 + 1). The third row, of weight 10, has no value."""
    rows = data([0.0, 1.0, 2.0], [1.0, 0.0, math.nan], weights=np.array([9.0, 1.0, 10.0]))
    (point,) = trend_of(rows).points
    assert point.mean == pytest.approx(0.9)
    assert (point.rows, point.scored, point.volume) == (3, 2, 20.0)
    assert point.coverage == pytest.approx(0.5)
    assert point.effective_n == pytest.approx(100 / 82)


def test_refusals_and_costs_are_unknown_where_they_are() -> None:
    known = data(
        [0.0, 1.0, 2.0], [1.0] * 3, refusals=np.array([1.0, 0.0, math.nan]), calls=np.array([1.0, 2.0, 3.0]),
        tokens=np.array([5.0, math.nan, 5.0]),
    )  # fmt: skip
    (point,) = trend_of(known).points
    assert (point.refusals, point.calls, point.tokens) == (0.5, 6.0, None)
    (point,) = trend_of(data([0.0], [1.0])).points
    assert (point.refusals, point.calls, point.tokens) == (None, None, None)


def test_versions_come_in_the_order_of_their_first_rows() -> None:
    rows = data([3.0, 1.0, 2.0], [1.0, 0.0, 1.0], versions=["1.0", "2.0", None])
    found = trend_of(rows, per="version").points
    assert [(point.period, point.mean) for point in found] == [("2.0", 0.0), ("–", 1.0), ("1.0", 1.0)]


def test_a_change_is_marked_on_its_day() -> None:
    traffic = simulate(np.random.default_rng(2), 26, 1_000, drop=0.2, at=20.4)
    rows = TrendData(
        traffic.times, {"faithfulness": TrendMetric(traffic.values)},
        clusters=[str(one) for one in traffic.conversations],
    )  # fmt: skip
    found = trend_of(rows)
    (change,) = found.changes["faithfulness"]
    assert (change.at - START) / DAY == pytest.approx(20.4, abs=0.3)
    (marked,) = [point for point in found.points if point.change is not None]
    assert marked.change == pytest.approx(-0.2, abs=0.06)
    assert marked.start <= change.at < marked.start + DAY
    assert len(found.to_pandas()) == 26
    assert not found.notes
    few = trend_of(data([0.0, DAY], [1.0, 1.0]))
    assert "14 days" in few.notes[0]


def test_metrics_without_an_end() -> None:
    rows = TrendData(
        np.array([0.0, 1.0, 2.0]), {"latency": TrendMetric(np.array([3.0, 5.0, 4.0]), -math.inf, math.inf)}
    )
    (point,) = trend_of(rows).points
    assert point.mean == 4.0
    assert point.low is not None
    assert point.low < 4.0


def test_without_rows_there_are_no_points() -> None:
    found = trend_of(data([], []))
    assert found.points == ()
    assert found.changes["faithfulness"] == []
    assert len(found.to_pandas()) == 0


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [(data([0.0], [1.0]), {"per": "week"}, "per"), (data([0.0], [1.0]), {"timezone": "Nowhere/City"}, "timezone"),
     (data([0.0], [1.0]), {"timezone": "../../etc"}, "timezone"), (data([0.0], [1.0, 1.0]), {}, "faithfulness"),
     (data([math.nan], [1.0]), {}, "times"), (data([0.0], [1.0], weights=np.array([0.0])), {}, "weights"),
     (data([0.0], [1.0], versions=[]), {}, "versions")],
)  # fmt: skip
def test_bad_input_is_named(rows: TrendData, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        trend_of(rows, **options)


def test_the_trend_of_a_stored_run(tmp_path: Path) -> None:
    """Sampled at 1 in 4 and at 1: weights 4 and 1. Two days; a refusal on the second."""
    judge = ScriptedJudge(
        claims=lambda answer: [answer],
        support=lambda claim, passage: "supported" if "1931" in claim else "not_mentioned",
    )
    rows = [
        {"question": "When did it open?", "contexts": ["It opened in 1931."], "answer": answer, "ended": ended,
         "sampling": {"rate": rate}, "version": version}
        for answer, ended, rate, version in (
            ("It opened in 1931.", at("2026-01-05T10:00"), 0.25, "1.0"),
            ("It opened in 1964.", at("2026-01-05T11:00"), 1.0, "1.0"),
            ("I don't know.", at("2026-01-06T11:00"), 1.0, "1.1"),
        )
    ]  # fmt: skip
    result = evaluate(rows, "faithfulness", judge, store=tmp_path, progress=False)
    found = trend(result.run, str(tmp_path), costs=True)
    first, second = found.points
    assert first.mean == pytest.approx(0.8)  # (4 · 1 + 1 · 0) / 5
    assert (first.period, first.volume, first.refusals) == ("2026-01-05", 5.0, 0.0)
    assert second.refusals == 1.0
    assert first.calls is not None
    assert [point.period for point in trend(result.run, str(tmp_path), per="version").points] == ["1.0", "1.1"]
    with pytest.raises(InputError, match="answer_relevancy"):
        trend(result.run, str(tmp_path), metrics=["answer_relevancy"])
    with pytest.raises(InputError, match="no run"):
        trend("nothing", str(tmp_path))
