"""How many rows show a drop: by hand, by simulation of the comparison itself, and the table in docs/plan.md."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.power import plan
from assay.errors import InputError
from assay.stats import difference
from assay.stats.arrays import Floats
from assay.stats.power import Assumptions, detectable_drop, rows_needed

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"
ALPHA = 0.05


# ---- by hand ---------------------------------------------------------------------------------------------------------


def test_where_every_row_falls_six_rows_are_enough() -> None:
    """McNemar: six falls and no rise, 2·0.5⁶ = 0.031; five are not, 0.0625. Correlated at 1, none rises by chance."""
    world = Assumptions(mean=1.0, correlation=1.0)
    assert rows_needed(world, 1.0) == 6
    assert (world.power(5, 1.0, ALPHA), world.power(6, 1.0, ALPHA)) == (0.0, pytest.approx(1.0))


def test_mcnemar_summed_by_hand_for_seven_rows() -> None:
    """Half of the rows fall, none rises: 6 or 7 falls of 7 are seen: (7 + 1)/2⁷ = 0.0625."""
    assert Assumptions(mean=1.0, correlation=1.0).power(7, 0.5, ALPHA) == pytest.approx(8 / 128)


def test_graded_scores_by_the_quantiles() -> None:
    """v = 2·0.3²·(1 - 0.5) = 0.09; many rows: n = (1.960 + 1.282)²·0.09/0.01² = 9457, and a few for Student's t."""
    assert rows_needed(Assumptions(sd=0.3), 0.01) == pytest.approx((1.95996 + 1.28155) ** 2 * 0.09 / 0.01**2, abs=4)


def test_a_judge_that_errs_hides_a_part_of_the_drop() -> None:
    """Wrong at 0.1, none rises, 0.2 fall, 0.8 stay: falls seen 0.2·0.81 + 0.8·0.09 = 0.234, rises 0.2·0.01 + 0.072."""
    world = Assumptions(mean=0.9, correlation=1.0, noise=0.1)
    assert world.flips(0.2) == (pytest.approx(0.074), pytest.approx(0.234))
    assert world.observed_drop(0.2) == pytest.approx(0.234 - 0.074)


def test_clusters_cost_their_design_effect() -> None:
    plain, clustered = (
        rows_needed(Assumptions(sd=0.3), 0.02),
        rows_needed(Assumptions(sd=0.3, design=2.0, size=5.0), 0.02),
    )
    assert plain is not None
    assert clustered is not None
    assert clustered == pytest.approx(2 * plain, rel=0.01)


@pytest.mark.long
def test_noise_never_helps_and_other_rows_need_more() -> None:
    for sd in (None, 0.3):
        needed = [rows_needed(Assumptions(sd=sd, noise=noise), 0.1) for noise in (0.0, 0.05, 0.1, 0.2)]
        assert needed == sorted(needed, key=lambda n: n or math.inf)
        assert (rows_needed(Assumptions(sd=sd, paired=False), 0.1) or 0) > (needed[0] or 0)


@given(st.floats(0.3, 1.0), st.sampled_from([None, 0.2, 0.4]), st.floats(0.0, 0.2), st.floats(0.1, 0.3))
@settings(max_examples=12, deadline=None)
def test_back_and_forth(mean: float, sd: float | None, noise: float, drop: float) -> None:
    """The rows that a drop needs show it, one row fewer do not; the drop that they show is no larger."""
    world = Assumptions(mean=mean, sd=sd, noise=noise)
    rows = rows_needed(world, drop)
    assert rows is not None
    assert world.power(rows, drop, ALPHA) >= 0.9
    shown = detectable_drop(world, rows)
    assert shown is not None
    assert shown <= drop + 2e-4


def test_what_nothing_shows_is_said() -> None:
    assert detectable_drop(Assumptions(), 5) is None
    assert "5 rows show no drop in 90 % of comparisons, however large" in str(plan(Assumptions(), rows=5))
    assert rows_needed(Assumptions(sd=0.3, design=1e6, size=2e6), 0.01) is None
    assert "no number of rows" in str(plan(Assumptions(sd=0.3, design=1e6, size=2e6), drop=0.01))


def test_tests_share_the_confidence_and_a_width_is_a_scale() -> None:
    alone, of_five = plan(Assumptions(), drop=0.1), plan(Assumptions(), drop=0.1, tests=5)
    assert alone.rows is not None
    assert of_five.rows == rows_needed(Assumptions(), 0.1, alpha=0.01)
    assert plan(Assumptions(sd=0.2), drop=0.4, width=4.0).rows == plan(Assumptions(sd=0.2), drop=0.1).rows
    both = plan(Assumptions(), drop=0.1, rows=alone.rows)
    assert both.power == pytest.approx(Assumptions().power(alone.rows, 0.1, 0.05))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"mean": 1.1}, "mean: expected a number from 0 to 1"),
        ({"mean": math.nan}, "mean"),
        ({"sd": 0.0}, "sd: expected a number above 0"),
        ({"sd": 0.7}, "sd"),
        ({"correlation": 2.0}, "correlation"),
        ({"noise": 0.5}, "wrong half of the time"),
        ({"noise": -0.1}, "noise"),
        ({"design": 0.5}, "clusters"),
        ({"size": math.inf}, "clusters"),
    ],
)
def test_scores_that_cannot_be_are_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Assumptions(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "say which drop"),
        ({"drop": 0.0}, "drop: expected"),
        ({"drop": 0.81}, "up to 0.8"),
        ({"rows": 0}, "rows: expected"),
        ({"rows": 0, "drop": 0.1}, "rows: expected"),
        ({"rows": 9, "power": 1.0}, "power: expected"),
        ({"rows": 9, "confidence": 0.0}, "confidence: expected"),
        ({"rows": 9, "tests": 0}, "tests: expected"),
    ],
)
def test_plans_that_cannot_be_are_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(Assumptions(), **arguments)  # type: ignore[arg-type]


# ---- by simulation ---------------------------------------------------------------------------------------------------


def runs_of(world: Assumptions, n: int, drop: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two runs on the same n rows, the second worse by `drop`, both read by the world's judge."""
    if world.sd is not None:
        common, own = math.sqrt(world.correlation), math.sqrt(1.0 - world.correlation)
        row = common * rng.uniform(-1.0, 1.0, n)
        spread = world.sd * math.sqrt(3.0)  # a uniform from -1 to 1 has variance 1/3
        first = world.mean + spread * (row + own * rng.uniform(-1.0, 1.0, n))
        second = world.mean - drop + spread * (row + own * rng.uniform(-1.0, 1.0, n))
        return first + rng.normal(0.0, world.noise, n), second + rng.normal(0.0, world.noise, n)
    alone = min(world.mean * (1.0 - world.mean) * (1.0 - world.correlation), world.mean - drop)
    edges = np.cumsum([alone + drop, alone, world.mean - drop - alone])  # falls, rises, right in both; else in none
    kind = np.searchsorted(edges, rng.random(n), side="right")
    first, second = (kind == 0) | (kind == 2), (kind == 1) | (kind == 2)
    wrong = [rng.random(n) < world.noise for _ in range(2)]
    return (first ^ wrong[0]).astype(np.float64), (second ^ wrong[1]).astype(np.float64)


def caught(world: Assumptions, drop: float, runs: int = 1500) -> float:
    """The share of simulated drops that `difference` calls a drop, on as many rows as were said to show 90 %."""
    n = rows_needed(world, drop)
    assert n is not None
    rng = np.random.default_rng(int(1000 * (world.mean + drop + world.noise)))
    found = 0
    for _ in range(runs):
        first, second = runs_of(world, n, drop, rng)
        one = difference(first.tolist(), second.tolist(), -math.inf if world.sd else 0.0, math.inf if world.sd else 1.0)
        assert one is not None
        found += one.p < ALPHA and one.estimate.mean < 0
    return found / runs


WORLDS = [
    *((Assumptions(mean=0.9, noise=noise), 0.1) for noise in (0.0, 0.1)),
    *((Assumptions(mean=0.7, noise=noise), 0.15) for noise in (0.0, 0.1)),
    *((Assumptions(mean=0.6, sd=0.2, noise=noise), 0.08) for noise in (0.0, 0.1)),
    *((Assumptions(mean=0.6, sd=0.1, noise=noise), 0.1) for noise in (0.0, 0.1)),
]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("world", "drop"), WORLDS)
def test_nine_of_ten_drops_are_seen_on_the_rows_that_the_plan_gives(world: Assumptions, drop: float) -> None:
    """87 to 93 %; 1,500 runs err by 0.8 points."""
    assert 0.87 <= caught(world, drop) <= 0.93


@pytest.mark.long
@pytest.mark.timeout(600)
def test_so_it_is_for_clusters() -> None:
    """Rows by fives, half of the variance of their differences in common: design effect 1 + 4·0.5 = 3."""
    world, drop = Assumptions(sd=0.2, design=3.0, size=5.0), 0.1
    n = rows_needed(world, drop)
    assert n is not None
    count, rng, found = math.ceil(n / 5), np.random.default_rng(4), 0
    for _ in range(800):
        parts = 0.2 * math.sqrt(0.5)  # v = 0.2² (r = 0.5), halved between clusters and rows
        moved = -drop + np.repeat(rng.normal(0, parts, count), 5) + rng.normal(0, parts, 5 * count)
        one = difference(
            [0.0] * moved.size, moved.tolist(), -math.inf, math.inf, clusters=np.repeat(range(count), 5).tolist()
        )
        assert one is not None
        found += one.p < ALPHA and one.estimate.mean < 0
    assert 0.87 <= found / 800 <= 0.93


# ---- the page --------------------------------------------------------------------------------------------------------

DROPS = (0.02, 0.05, 0.1, 0.15, 0.2)
ROWS = (
    ("0 or 1, mean 0.9", Assumptions(mean=0.9)),
    ("0 or 1, mean 0.9, one repeat of ten wrong", Assumptions(mean=0.9, noise=0.1)),
    ("0 or 1, mean 0.7", Assumptions(mean=0.7)),
    ("0 or 1, mean 0.7, one repeat of ten wrong", Assumptions(mean=0.7, noise=0.1)),
    ("graded, standard deviation 0.3", Assumptions(sd=0.3)),
    ("graded, 0.3, repeats of one row differ by 0.1", Assumptions(sd=0.3, noise=0.1)),
    ("graded, standard deviation 0.15", Assumptions(sd=0.15)),
    ("graded, 0.15, repeats of one row differ by 0.1", Assumptions(sd=0.15, noise=0.1)),
)


def table() -> str:
    head = [f"| scores | {' | '.join(f'drop {drop:g}' for drop in DROPS)} |", "|---" * (len(DROPS) + 1) + "|"]
    lines = [
        f"| {name} | {' | '.join(f'{100 * world.power(100, drop, ALPHA):.0f} %' for drop in DROPS)} |"
        for name, world in ROWS
    ]
    return "\n".join([*head, *lines])


def test_the_table_of_the_page_is_what_is_computed() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    print(table())
