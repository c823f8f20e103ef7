"""The guarantee of a calibration, by simulation: a band that is certified and does not hold is 5 % of runs at most.

The worlds are known, and so is the true agreement of every band. `alike` is the intra-class correlation of agreement
on one row: 0 none, 1 a row is all right or all wrong. `python -m tests.judges.test_cascade_guarantee [RUNS]` prints the
table of docs/evidence/cascade.md.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import pytest

from assay.judges.cascade.agreement import Point, choose_band, clusters
from assay.judges.cascade.items import Band

TARGET = CONFIDENCE = 0.95
#: Share of verdicts on which the first judge disagrees with the second, where nothing else is said. A band that does
#: not escalate a sixth of the verdicts is below the target.
WRONG = 0.06

#: Rows x claims a row.
SIZES = ((20, 10), (30, 10), (30, 5), (50, 5), (50, 10), (100, 5), (100, 1), (200, 1))
ALIKE = (0.0, 0.25, 0.5, 1.0)
#: Share of runs in which a band has to be certified and to hold, at 100 rows x 5 claims.
REACHED = {0.0: 0.95, 0.25: 0.95, 0.5: 0.75, 1.0: 0.65}

RUNS = 450


@dataclass(frozen=True)
class World:
    """Draws the verdicts of a calibration, and knows the true agreement of a band on verdicts to come."""

    draw: Callable[[random.Random, int, int, float], list[Point]]
    truth: Callable[[Band], float]


def rate(rng: random.Random, alike: float, wrong: float = WRONG) -> float:
    """The share of wrong verdicts on one row: beta-distributed around `wrong`, with this intra-class correlation."""
    if alike in (0.0, 1.0):
        return wrong if alike == 0.0 else float(rng.random() < wrong)
    size = 1.0 / alike - 1.0
    return rng.betavariate(wrong * size, (1.0 - wrong) * size)


def one_prompt(rng: random.Random, rows: int, claims: int, alike: float) -> list[Point]:
    """One prompt a row; whether it is wrong does not depend on the probability."""
    points = []
    for row in range(rows):
        share = rate(rng, alike)
        points += [Point(f"r{row}", rng.random(), rng.random() >= share) for _ in range(claims)]
    return points


def usual_metrics(rng: random.Random, rows: int, claims: int, alike: float) -> list[Point]:
    """Three prompts a row, on different texts, as the usual metrics ask for support; every tenth row asks one of
    them in the very words of its neighbour, which is then answered once."""
    asked: dict[str, set[str]] = {}
    said: list[tuple[str, float, bool]] = []
    share = 0.0
    for row in range(rows):
        twin = row % 10 == 1
        share = share if twin else rate(rng, alike)
        for text in range(3):
            prompt = f"{row - 1}/0" if twin and text == 0 else f"{row}/{text}"
            if prompt not in asked:
                said += [(prompt, rng.random(), rng.random() >= share) for _ in range(claims)]
            asked.setdefault(prompt, set()).add(f"r{row}")
    cluster = clusters(asked.values())
    return [Point(cluster[min(asked[prompt])], probability, agrees) for prompt, probability, agrees in said]


def uneven_rows(rng: random.Random, rows: int, claims: int, alike: float) -> list[Point]:
    """1 to 2 * claims - 1 verdicts a row, and the longer a row, the more of them are wrong."""
    sizes = range(1, 2 * claims)
    usual = sum(n * n for n in sizes) / sum(sizes)
    points = []
    for row in range(rows):
        count = rng.choice(sizes)
        share = rate(rng, alike, min(1.0, WRONG * count / usual))
        points += [Point(f"r{row}", rng.random(), rng.random() >= share) for _ in range(count)]
    return points


def sure_and_wrong(rng: random.Random, rows: int, claims: int, alike: float) -> list[Point]:
    """In the middle 30 % are wrong, each by itself; where the first judge is sure, rows are wrong as a whole."""
    points = []
    for row in range(rows):
        share = rate(rng, alike)
        for _ in range(claims):
            probability = rng.random()
            points.append(Point(f"r{row}", probability, rng.random() >= (0.3 if 0.3 < probability < 0.7 else share)))
    return points


def flat(band: Band) -> float:
    """The true agreement where a verdict is wrong as often at every probability."""
    return 1.0 - WRONG * (1.0 - (band[1] - band[0]))


def humped(band: Band) -> float:
    """The true agreement in the world of `sure_and_wrong`."""
    low, high = band
    middle = 0.4 - max(0.0, min(high, 0.7) - max(low, 0.3))
    return 1.0 - 0.3 * middle - WRONG * (1.0 - (high - low) - middle)


PLAIN, USUAL = World(one_prompt, flat), World(usual_metrics, flat)
UNEVEN, SURE = World(uneven_rows, flat), World(sure_and_wrong, humped)


def simulated(world: World, rows: int, claims: int, alike: float, runs: int) -> tuple[int, int]:
    """In how many runs a band was certified that does not hold, and in how many one that does."""
    false = true = 0
    for run in range(runs):
        rng = random.Random(f"{rows}/{claims}/{alike}/{run}")
        found = choose_band(world.draw(rng, rows, claims, alike), TARGET, CONFIDENCE, seed=run)
        holds = world.truth(found.band) >= found.at_least
        false += found.reached and not holds
        true += found.reached and holds
    return false, true


def chance_of_at_most(count: int, runs: int, share: float) -> float:
    return math.fsum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(count + 1))


def bound(runs: int, share: float = 1.0 - CONFIDENCE, doubt: float = 0.001) -> int:
    """So many of `runs` that more come up with a chance of `doubt` at most, where the true share is `share`."""
    return next(k for k in range(runs) if 1.0 - chance_of_at_most(k, runs, share) <= doubt)


def check(world: World, rows: int, claims: int, runs: int, alike: Sequence[float] = ALIKE) -> dict[float, float]:
    """Share of runs that certified what holds, by correlation; none may certify what does not in too many."""
    found = {correlation: simulated(world, rows, claims, correlation, runs) for correlation in alike}
    assert {c: false for c, (false, _) in found.items() if false > bound(runs)} == {}
    return {correlation: true / runs for correlation, (_, true) in found.items()}


def test_the_bound_lets_five_percent_pass_and_not_twelve():
    """5 % is what is promised, 12 % the least of what clusters counted as many witnesses gave with 20 to 30 rows."""
    assert chance_of_at_most(bound(RUNS), RUNS, 0.05) >= 0.999
    assert chance_of_at_most(bound(RUNS), RUNS, 0.12) <= 0.02


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "claims"),
    # the smallest, where it used to fail most, and the one at which bands must be reached; the others take longer
    [pytest.param(*size, marks=() if size in ((20, 10), (100, 5)) else pytest.mark.long) for size in SIZES],
)
def test_false_certificates_are_five_percent_at_most(rows: int, claims: int):
    reached = check(PLAIN, rows, claims, RUNS)
    if (rows, claims) == (100, 5):  # and it is of use
        assert {c: share for c, share in reached.items() if share < REACHED[c]} == {}


@pytest.mark.long
@pytest.mark.parametrize("rows", [30, 50, 100])
def test_several_prompts_on_a_row_are_no_more_witnesses(rows: int):
    check(USUAL, rows, 3, RUNS, alike=(0.5, 1.0))


@pytest.mark.parametrize(("rows", "claims"), [(50, 10), (100, 5)])
def test_rows_that_are_wrong_as_a_whole_where_the_first_judge_is_sure(rows: int, claims: int):
    """Most disagreements are in the middle, each by itself. They do not hide how alike those outside the band are."""
    check(SURE, rows, claims, RUNS, alike=(1.0,))


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "rows", "claims"),
    [
        *((PLAIN, *size) for size in SIZES),
        *((USUAL, rows, 5) for rows in (20, 30, 50, 100)),
        *((UNEVEN, *size) for size in ((30, 10), (50, 10), (100, 5), (200, 5))),
        *((SURE, *size) for size in ((30, 10), (50, 10), (100, 5), (200, 5))),
    ],
)
def test_the_guarantee_in_more_worlds_and_runs(world: World, rows: int, claims: int):
    check(world, rows, claims, 900)


def _cell(arguments: tuple[World, int, int, float, int]) -> tuple[int, int]:
    return simulated(*arguments)


def table(world: World, sizes: Sequence[tuple[int, int]], runs: int) -> str:
    """False certificates / certificates that hold, in per cent of runs, as Markdown."""
    lines = ["| rows x claims | " + " | ".join(f"{alike:g}" for alike in ALIKE) + " |", "|---" * 5 + "|"]
    cells = [(world, rows, claims, alike, runs) for rows, claims in sizes for alike in ALIKE]
    with ProcessPoolExecutor() as pool:
        found = iter(list(pool.map(_cell, cells)))
    for rows, claims in sizes:
        shares = [f"{100 * false / runs:.1f} / {100 * true / runs:.0f}" for false, true in (next(found) for _ in ALIKE)]
        lines.append(f"| {rows} x {claims} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for title, world, sizes in (
        ("one prompt a row", PLAIN, SIZES),
        ("three prompts a row, three claims each", USUAL, ((30, 3), (50, 3), (100, 3))),
        ("rows of different length", UNEVEN, ((50, 10), (100, 5), (200, 5))),
        ("sure and wrong as a whole", SURE, ((50, 10), (100, 5), (100, 20), (200, 5))),
    ):
        print(f"\n{title}, {wanted} runs\n\n{table(world, sizes, wanted)}", flush=True)
