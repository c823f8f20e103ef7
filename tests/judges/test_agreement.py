"""The choice of a band: nested, deterministic, and as sure as it says it is."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.cascade.agreement import Point, _split, at_least, choose_band, clusters, design_effect, needed
from assay.judges.cascade.items import EVERYTHING, NOTHING, in_doubt

ENDS = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted).map(tuple)
PROBABILITIES = st.floats(0, 1) | st.none()


def share_agreeing(points: list[Point], band: tuple[float, float]) -> float:
    return 1 - sum(not p.agrees and not in_doubt(p.probability, band) for p in points) / len(points)


@given(ENDS, ENDS, st.lists(PROBABILITIES, max_size=30))
def test_a_wider_band_never_escalates_less(one: tuple[float, float], other: tuple[float, float], seen: list[float]):
    low, high = min(one[0], other[0]), max(one[1], other[1])
    for probability in seen:
        assert in_doubt(probability, (low, high)) >= in_doubt(probability, one)


@given(PROBABILITIES)
def test_everything_is_in_doubt_in_the_widest_band_and_nothing_in_the_empty_one(probability: float | None):
    assert in_doubt(probability, EVERYTHING)
    assert not in_doubt(probability, NOTHING)


@pytest.mark.parametrize(
    ("wrong", "count", "confidence", "expected"),
    [
        (0, 100, 0.95, 0.05 ** (1 / 100)),  # (1 - q) ** 100 = 0.05
        (0, 1, 0.95, 0.05),
        (5, 5, 0.95, 0.0),
        (0, 0, 0.95, 0.0),
        # half of the two-sided 95 % interval of Clopper and Pearson: 1.64 % to 11.28 % for 5 of 100
        (5, 100, 0.975, 1 - 0.1128),
        (50, 100, 0.975, 0.3983),
    ],
)
def test_the_bound_is_the_exact_one(wrong: int, count: int, confidence: float, expected: float):
    assert at_least(wrong, count, confidence) == pytest.approx(expected, abs=5e-5)


@given(st.integers(1, 400), st.data())
@settings(max_examples=50, deadline=None)
def test_the_bound_leaves_five_percent_to_chance(count: int, data: st.DataObject):
    """At a true agreement equal to the bound, so few disagreements or fewer come up in 5 % of cases, by definition."""
    wrong = data.draw(st.integers(0, count - 1))
    share = 1 - at_least(wrong, count)
    chance = math.fsum(math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(wrong + 1))
    assert chance == pytest.approx(0.05, abs=1e-6)


def test_verdicts_that_resemble_each_other_count_for_fewer():
    copies = [Point(f"s{n // 5}", 0.5, n // 5 % 2 == 0) for n in range(100)]  # five equal ones on each sample
    apart = [Point(f"s{n}", 0.5, n % 2 == 0) for n in range(100)]
    assert design_effect(copies) == pytest.approx(5.0)
    assert design_effect(apart) == 1.0
    assert design_effect([Point("s", 0.5, n % 2 == 0) for n in range(10)]) == 10.0  # one sample is one
    assert design_effect([]) == 1.0


def test_that_no_disagreement_was_seen_is_not_taken_for_independence():
    """30 rows of 10 verdicts that all agree: a row that is wrong throughout may not have come up yet."""
    points = [Point(f"r{n // 10}", n % 10 / 10, True) for n in range(300)]
    assert design_effect(points) == pytest.approx(10.0)
    found = choose_band(points, 0.95)
    assert (found.tested, found.effective, found.reached) == (180, 18, False)
    assert found.reason is not None
    assert "as much as 18 independent ones" in found.reason


def test_many_disagreements_apart_show_that_rows_are_not_alike():
    """The one row that is counted in weighs little against many that were seen."""
    rng = random.Random(4)
    points = [Point(f"r{n // 5}", rng.random(), rng.random() > 0.1) for n in range(2000)]
    assert design_effect(points) < 1.3


def test_verdicts_outside_a_band_may_be_more_alike_than_all_are():
    """Wrong each by itself in the middle, which hides that a few rows are wrong throughout where the judge is sure."""
    rng = random.Random(1)
    points = []
    for row in range(200):
        odd = row % 50 == 0
        for _ in range(10):
            probability = rng.random()
            middle = 0.3 < probability < 0.7
            points.append(Point(f"r{row}", probability, rng.random() >= 0.3 if middle else not odd))
    found = choose_band(points, 0.95)
    assert found.reached
    assert found.effective < 0.6 * found.tested / design_effect(points)


@given(st.lists(st.sets(st.integers(0, 12).map(str), min_size=1, max_size=3), max_size=12), st.randoms())
def test_rows_that_share_a_prompt_are_one_cluster(shared: list[set[str]], rng: random.Random):
    found = clusters(shared)
    assert set(found) == {row for rows in shared for row in rows}
    for rows in shared:
        assert len({found[row] for row in rows}) == 1
    for row, cluster in found.items():  # and no others are
        seen = {row}
        while more := {other for rows in shared if rows & seen for other in rows} - seen:
            seen |= more
        assert {other for other, theirs in found.items() if theirs == cluster} == seen
        assert cluster == min(seen)
    assert clusters(rng.sample(shared, len(shared))) == found  # in any order


POINTS = st.lists(
    st.builds(Point, row=st.integers(0, 9).map(str), probability=PROBABILITIES, agrees=st.booleans()), max_size=60
)


@given(POINTS, st.integers(0, 3))
def test_no_cluster_falls_into_both_halves(points: list[Point], seed: int):
    ordering, testing = _split(points, seed)
    assert not {point.row for point in ordering} & {point.row for point in testing}
    assert Counter(ordering + testing) == Counter(points)


def test_many_verdicts_on_few_samples_show_little():
    """60 samples with 20 equal verdicts each are 1,200 verdicts, and yet 36 of them test a band: too few for 95 %."""
    copies = [Point(f"s{n // 20}", 0.5, n // 20 not in (7, 31)) for n in range(1200)]
    found = choose_band(copies, 0.95)
    assert (found.tested, found.effective, found.reached) == (720, 36, False)
    apart = [Point(f"s{n}", 0.5, n % 20 not in (7,) or n > 400) for n in range(1200)]
    assert choose_band(apart, 0.95).reached


def world(rng: random.Random, rows: int, *, wrong: float, bump: float, alike: float) -> list[Point]:
    """Verdicts of which more are wrong around 0.4, and more on some samples than on others."""
    points = []
    for sample in range(rows):
        mood = rng.gauss(0, alike)
        for _ in range(rng.randint(1, 7)):
            probability = rng.betavariate(0.8, 0.8)
            base = wrong + bump * math.exp(-(((probability - 0.4) / 0.2) ** 2))
            odds = math.log(base / (1 - base)) + mood
            points.append(Point(f"s{sample}", probability, rng.random() > 1 / (1 + math.exp(-odds))))
    return points


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        (100, {"wrong": 0.01, "bump": 0.4, "alike": 0.0}),
        (100, {"wrong": 0.01, "bump": 0.4, "alike": 1.0}),
        (60, {"wrong": 0.02, "bump": 0.3, "alike": 0.5}),
    ],
)
def test_what_was_shown_holds_on_other_rows(rows: int, shape: dict[str, float]):
    """100 calibrations with their own rows and seeds, each held against 20,000 verdicts of the same world.

    The chance of a band below the target is at most 5 %. With 100 trials, more than 9 would come up in fewer than 3 %
    of cases where it is exactly that.
    """
    held_out = world(random.Random(12345), 5000, **shape)
    broken = reached = 0
    for seed in range(100):
        found = choose_band(world(random.Random(seed), rows, **shape), 0.95, seed=seed)
        broken += share_agreeing(held_out, found.band) < found.at_least
        reached += found.reached
    assert broken <= 9
    assert reached >= 60  # and it is of use


def test_the_band_covers_where_the_judges_disagree():
    points = [Point(f"s{n}", n / 400, not 120 <= n < 200) for n in range(400)]  # wrong from 0.3 to 0.5
    found = choose_band(points, 0.98)
    assert found.reached
    assert found.at_least == 0.98
    assert 0.2 < found.band[0] <= 0.36
    assert 0.44 <= found.band[1] < 0.6
    assert found.alone == pytest.approx(0.8, abs=0.1)  # 80 of 400 are wrong
    assert found == choose_band(list(reversed(points)), 0.98)  # the order of the rows does not matter


def test_a_first_judge_that_is_always_wrong_is_hardly_used():
    """The target leaves 5 % to it, of which the confidence takes a part; everything else goes to the second."""
    points = [Point(f"s{n}", n / 400, False) for n in range(400)]
    found = choose_band(points, 0.95)
    assert found.alone == 0.0
    assert found.agreement >= 0.95
    assert sum(in_doubt(point.probability, found.band) for point in points) >= 0.95 * 400


def test_judges_that_always_agree_need_no_second():
    points = [Point(f"s{n}", n / 200, True) for n in range(200)]
    found = choose_band(points, 0.95)
    assert found.band == NOTHING
    assert found.agreement == 1.0
    # 120 verdicts tested the band, none was wrong
    assert found.tested == 120
    assert found.at_least == pytest.approx(0.05 ** (1 / 120))


def test_what_cannot_be_shown_is_not_claimed():
    few = [Point(f"s{n}", n / 20, True) for n in range(20)]
    assert needed(0.95) == 98  # ln 0.05 / ln 0.95 = 58.4 to test, which are 60 % of them
    assert not choose_band(few, 0.95).reached
    assert choose_band(few, 0.95).band == EVERYTHING
    unknown = [Point(f"s{n}", None, n % 2 == 0) for n in range(400)]  # no probability, no doubt to go by
    assert choose_band(unknown, 0.95).band == EVERYTHING


@given(
    POINTS,
    st.floats(0.5, 0.999),
    st.integers(0, 3),
)
@settings(max_examples=100, deadline=None)
def test_any_points_give_a_band_within_0_and_1(points: list[Point], target: float, seed: int):
    found = choose_band(points, target, seed=seed)
    assert 0.0 <= found.band[0] <= found.band[1] <= 1.0
    assert found.reached or found.band == EVERYTHING
    assert not found.reached or found.at_least >= target
