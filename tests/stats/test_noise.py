"""The judge's part of the spread, by hand and by simulation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.arrays import Floats
from assay.stats.noise import Noise, Readings


def noise(rows: list[tuple[str, list[float | None]]], high: float = 1.0) -> Noise:
    kept = Readings("m", 0.0, high)
    for item, values in rows:
        kept.add(item, values)
    found = kept.noise()
    assert found is not None
    return found


def test_one_answer_each_by_hand() -> None:
    """Variances of the readings 0, 0.02 (0.2 apart: 0.2²/2), 0: mean 0.02/3. Means 1, 0.5, 0: variance 0.25, less half
    of the judge's: 0.25 - 0.01/3.
    """
    found = noise([("a", [1.0, 1.0]), ("b", [0.4, 0.6]), ("c", [0.0, 0.0])])
    assert found.judge == pytest.approx(0.02 / 3)
    assert found.item == pytest.approx(0.25 - 0.01 / 3)
    assert (found.generation, found.correlation, found.wrong, found.differ) == (None, None, None, 1)
    assert found.means == (pytest.approx(1.4 / 3), pytest.approx(1.6 / 3))
    # one row more that wavers as the one that did: 0, 0.02, 0, 0.02 have the mean 0.01 and a variance of 0.0004/3:
    # 2·0.01²·4/(0.0004/3) = 6 degrees of freedom, of which three rows give 3 at most: t = 3.18245; v = 0.04/3
    assert found.unseen == pytest.approx(0.02)
    assert found.freedom == pytest.approx(3.0)
    assert found.tolerance() == pytest.approx(3.18245 * math.sqrt(2 * 0.04 / 3 / 3), rel=1e-4)
    assert found.tolerance(anew="answers") is None
    assert found.tolerance(rows=12) == pytest.approx((found.tolerance() or 0) / 2)


def test_several_answers_tell_generation_from_items_by_hand() -> None:
    """The judge says the same twice. Answers of a: 1, 0, of b: 1, 1: within 0.5 and 0, pooled 0.25; means 0.5 and 1:
    across 2·(0.25² + 0.25²)/1 = 0.25, between (0.25 - 0.25)/2 = 0.
    """
    found = noise([("a", [1.0, 1.0]), ("a", [0.0, 0.0]), ("b", [1.0, 1.0]), ("b", [1.0, 1.0])])
    assert (found.judge, found.generation, found.item, found.items) == (0.0, pytest.approx(0.25), 0.0, 2)
    assert found.correlation == 0.0
    assert found.tolerance(anew="answers") == 1.0  # 4.30265 * sqrt(2 * 0.25 / 4), of 2 degrees, is more than the range
    assert found.tolerance(40, "answers") == pytest.approx(4.30265 * math.sqrt(2 * 0.25 / 40), rel=1e-4)


def test_wrong_readings_of_yes_or_no() -> None:
    """18 of 100 rows read two ways: variance 0.18·0.5 = 0.09 = 0.1·0.9: one reading of ten is wrong."""
    found = noise([(str(n), [1.0, 0.0] if n < 18 else [1.0, 1.0]) for n in range(100)])
    assert found.wrong == pytest.approx(0.1)
    assert "readings differ on 18 of 100 rows: as if 10 % of readings were wrong by chance" in str(found)
    assert found.judge < found.judge_high < 0.16


def test_a_judge_that_always_says_the_same_may_still_waver_a_little() -> None:
    """None of 50 rows differs: one more might, by 1, its variance 0.5. Of 0 (50 times) and 0.5 Satterthwaite's degrees
    are 2·51/51² · 51 = 2, t = 4.30265; t·sqrt(2·0.5/50/50) = t/50.
    """
    found = noise([(str(n), [0.7, 0.7]) for n in range(50)])
    assert (found.judge, found.differ, found.unseen) == (0.0, 0, 0.5)
    assert found.tolerance() == pytest.approx(4.30265 / 50, rel=1e-4)
    assert 0.0 < found.judge_high < 0.05


Read = Callable[[np.random.Generator, Floats], Floats]
READS: dict[str, Read] = {
    "all waver": lambda rng, level: np.clip(level + 0.05 * rng.normal(size=level.shape), 0, 1),
    "one row in 20": lambda rng, level: np.where(
        np.arange(level.shape[-1]) % 20 == 0, (rng.random(level.shape) < 0.5) * 1.0, 1.0
    ),
    "5 % flip": lambda rng, level: np.where(rng.random(level.shape) < 0.05, level < 0.5, level >= 0.5) * 1.0,
    "1 % flip": lambda rng, level: np.where(rng.random(level.shape) < 0.01, 0.0, 1.0),
    "3 in 1000 flip": lambda rng, level: np.where(rng.random(level.shape) < 0.003, 0.0, 1.0),
    "3 % a step": lambda rng, level: np.where(rng.random(level.shape) < 0.03, 0.75, 1.0),
    "near certain": lambda rng, level: np.where(
        rng.random(level.shape) < 0.02, rng.beta(1, 50, level.shape), rng.beta(500, 1, level.shape)
    ),
    "10 % a little, 1 % far": lambda rng, level: rng.choice([0.0, 0.9, 1.0], level.shape, p=[0.01, 0.1, 0.89]),
}


def within(read: Read, n: int, draws: int) -> float:
    """How often two more readings of n rows differ by no more than the tolerance that two readings gave."""
    rng = np.random.default_rng(9)
    level = rng.beta(4, 1, (draws, n))
    first, second, third, fourth = (read(rng, level) for _ in range(4))
    apart = abs(third.mean(axis=1) - fourth.mean(axis=1))
    allowed = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        kept = Readings("m")
        for row, both in enumerate(zip(a, b, strict=True)):
            kept.add(row, both)
        found = kept.noise()
        assert found is not None
        allowed.append(found.tolerance() or 0.0)
    return float((apart <= np.array(allowed) + 1e-12).mean())


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
def test_two_more_readings_differ_by_no_more_than_the_tolerance(read: Read) -> None:
    assert within(read, 20, 300) >= 0.935 - 2.5 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 50, 100])
@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
def test_two_more_readings_differ_by_no_more_than_the_tolerance_in_4000_draws(read: Read, n: int) -> None:
    assert within(read, n, 4000) >= 0.935


@pytest.mark.long
@given(st.lists(st.tuples(st.just("a"), st.lists(st.floats(0, 1), min_size=2, max_size=2)), min_size=1, max_size=20))
def test_a_tolerance_is_never_0(rows: list[tuple[str, list[float | None]]]) -> None:
    """Not even where readings agree: some row of many may still be read another way."""
    assert (noise(rows).tolerance() or 0.0) > 0.0


def test_rows_without_a_value_in_some_reading_are_left_out() -> None:
    found = noise([("a", [1.0, None]), ("b", [0.0, 0.0])])
    assert (found.rows, found.left_out) == (1, 1)
    kept = Readings("m")
    kept.add("a", [None, None])
    assert kept.noise() is None
    kept.add("a", [1.0])
    with pytest.raises(InputError, match="two or more of each row"):
        kept.noise()


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.lists(st.floats(0, 1), min_size=3, max_size=3)), min_size=1, max_size=20
    )
)
@settings(max_examples=40)
def test_it_is_the_same_when_it_is_read_back(rows: list[tuple[str, list[float]]]) -> None:
    found = noise(rows)  # type: ignore[arg-type]
    assert Noise.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert 0.0 <= found.judge <= found.judge_high + 1e-12
    assert (found.tolerance() or 0.0) >= 0.0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"judge": "much"}, "judge: expected a number"),
        ({"judge": -1.0}, "judge: -1.0 is too small"),
        ({"rows": 0}, "rows: 0 is too small"),
        ({"readings": 1}, "readings: 1 is too small"),
        ({"generation": math.nan}, "generation: expected a number"),
        ({"means": None}, "means, a list"),
        ({"metric": 3}, "metric, a name"),
    ],
)
def test_what_is_none_is_named(changed: dict[str, object], said: str) -> None:
    data = {**noise([("a", [1.0, 0.5])]).to_dict(), **changed}
    with pytest.raises(InputError, match=said):
        Noise.from_dict(data)


@pytest.mark.parametrize(("arguments", "said"), [({"rows": 0}, "rows"), ({"confidence": 1.0}, "confidence")])
def test_tolerances_that_cannot_be_are_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        noise([("a", [1.0, 0.5])]).tolerance(**arguments)  # type: ignore[arg-type]


def test_the_parts_are_found_where_they_are_known() -> None:
    """Items 0.15, answers 0.1, readings 0.05: squares of each within a tenth of what was put in, of 20,000 scores."""
    rng = np.random.default_rng(6)
    rows = []
    for item in range(2500):
        mean = 0.5 + rng.uniform(-1, 1) * 0.15 * math.sqrt(3)
        for _ in range(4):
            answer = mean + rng.choice([-0.1, 0.1])
            rows.append((str(item), [float(answer + rng.choice([-0.05, 0.05])) for _ in range(2)]))
    found = noise(rows)
    assert found.judge == pytest.approx(0.05**2, rel=0.1)
    assert found.generation == pytest.approx(0.1**2, rel=0.1)
    assert found.item == pytest.approx(0.15**2, rel=0.1)
    assert found.correlation == pytest.approx(0.0225 / 0.035, rel=0.1)


@pytest.mark.long
def test_runs_alike_differ_by_more_than_the_tolerance_in_five_of_a_hundred() -> None:
    """The noise of 100 rows is measured, then two new runs are held against it: 4 to 6 % of 4,000 differ by more."""
    rng = np.random.default_rng(7)
    beyond = 0
    for _ in range(4000):
        rows = np.where(rng.random((100, 4)) < 0.1, 1.0, 0.0)
        found = noise([(str(n), [float(a), float(b)]) for n, (a, b) in enumerate(rows[:, :2])])
        beyond += abs(rows[:, 2].mean() - rows[:, 3].mean()) > (found.tolerance() or 0.0)
    assert 0.04 <= beyond / 4000 <= 0.06
