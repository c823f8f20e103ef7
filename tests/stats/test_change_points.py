"""Change points: found where they are, and not where nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import InputError
from assay.stats.change_points import change_points
from tests.benchmarks.traffic import DAY, START, Traffic, simulate


def found_in(traffic: Traffic) -> list[tuple[float, float, float, float]]:
    """Day of each change, the ends of its region, and the difference."""
    changes = change_points(traffic.times, traffic.values, clusters=traffic.conversations.tolist())
    days = [[(time - START) / DAY for time in (one.at, one.earliest, one.latest)] for one in changes]
    return [(*day, one.after - one.before) for day, one in zip(days, changes, strict=True)]  # type: ignore[misc]


@pytest.mark.parametrize("size", [0.15, -0.08])
def test_a_change_is_found_in_either_direction(size: float) -> None:
    mean = 0.9 if size > 0 else 0.8
    traffic = simulate(np.random.default_rng(2), 28, 1_000, mean=mean, drop=size, at=20.4)
    ((at, earliest, latest, difference),) = found_in(traffic)
    assert earliest <= 20.4 <= latest + 1 / 24
    assert at == pytest.approx(20.4, abs=1.0)
    assert difference == pytest.approx(-size, abs=0.05)


def test_two_changes_are_two() -> None:
    one = simulate(np.random.default_rng(2), 36, 1_000, drop=0.2, at=18.0)
    two = simulate(np.random.default_rng(3), 36, 1_000)
    before, after = one.times < START + 26 * DAY, two.times >= START + 26 * DAY
    times, values = (np.r_[getattr(one, name)[before], getattr(two, name)[after]] for name in ("times", "values"))
    changes = change_points(times, values)
    assert [round((change.at - START) / DAY) for change in changes] == [18, 26]
    assert [change.after > change.before for change in changes] == [False, True]


def test_where_nothing_changes_nothing_is_found() -> None:
    assert found_in(simulate(np.random.default_rng(12), 30, 500)) == []


def test_without_rows_or_with_few_days_there_are_none() -> None:
    assert change_points([], []) == []
    assert found_in(simulate(np.random.default_rng(2), 10, 1_000, drop=0.5, at=5.0)) == []


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="times"):
        change_points([0.0], [])
    with pytest.raises(InputError, match="times"):
        change_points([np.inf], [1.0])
    with pytest.raises(InputError, match="values"):
        change_points([0.0], [3.0])
    with pytest.raises(InputError, match="weights"):
        change_points([0.0, 1.0], [1.0, 1.0], [1.0])
