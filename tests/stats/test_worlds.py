"""Intervals of means hold the truth in every world, and are hardly wider than Student's where that holds it too."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.analysis.gates.evidence import of_level
from assay.stats import estimate
from assay.stats.distributions import t_quantile
from tests.stats.worlds import BELLS, WORLDS, World, certain, of_certain

HOLDS = 0.935
WIDER = 1.25


def measured(world: World, n: int, draws: int) -> tuple[float, float, float, float]:
    """How often our interval and Student's hold the truth, and their mean widths."""
    scores = world.draw(np.random.default_rng(5), (draws, n))
    found = [estimate(row.tolist()) for row in scores]
    ours = np.array([(one.low, one.high) for one in found if one is not None])
    mean = scores.mean(axis=1)
    reach = t_quantile(0.975, n - 1) * scores.std(axis=1, ddof=1) / math.sqrt(n)
    student = np.clip(np.stack([mean - reach, mean + reach], axis=1), 0.0, 1.0)
    held = [
        float(((x[:, 0] <= world.truth + 1e-12) & (x[:, 1] >= world.truth - 1e-12)).mean()) for x in (ours, student)
    ]
    wide = [float((x[:, 1] - x[:, 0]).mean()) for x in (ours, student)]
    return held[0], held[1], wide[0], wide[1]


def check(world: World, n: int, draws: int) -> None:
    held, student, wide, usual = measured(world, n, draws)
    chance = 2.5 * math.sqrt(HOLDS * (1.0 - HOLDS) / draws)  # what so many draws err by
    assert held >= HOLDS - chance
    if student >= 0.95:
        assert wide <= WIDER * usual


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_interval_holds_the_truth(world: World) -> None:
    check(world, 20, 500)


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 30, 50, 100, 200])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_interval_holds_the_truth_in_4000_draws(world: World, n: int) -> None:
    check(world, n, 4000)


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("world", BELLS, ids=lambda world: world.name)
def test_scores_beside_an_end_that_do_not_lean_on_it_keep_short_intervals(world: World, n: int) -> None:
    held, _, wide, usual = measured(world, n, 500)
    assert held >= HOLDS - 2.5 * math.sqrt(HOLDS * (1.0 - HOLDS) / 500)
    assert wide <= WIDER * usual


@pytest.mark.parametrize("n", [5, 8, 20, 100])
@pytest.mark.parametrize("off", [1e-13, 1e-9, 1e-6, 1e-3, 0.02])
@pytest.mark.parametrize("good", [1.0, 0.0])
def test_a_score_a_little_off_the_end_is_no_certainty(n: int, off: float, good: float) -> None:
    """A worse run has no narrower interval: neither end of it is better than that of the run without the loss."""
    best, worse = estimate([good] * n), estimate([good] * (n - 1) + [abs(good - off)])
    assert best is not None
    assert worse is not None
    if good:
        assert worse.low <= best.low + 1e-9
    else:
        assert worse.high >= best.high - 1e-9


def test_a_gate_does_not_pass_on_the_worse_of_two_runs() -> None:
    """Eight rows of 1 do not show 0.9 (8 / (8 + 2.365²) = 0.589); seven and one of 0.999 show it no better."""
    for scores in ([1.0] * 8, [1.0] * 7 + [0.999], [0.999, 0.998, 0.9995, 0.999, 0.997, 1.0, 0.998, 0.9999]):
        assert not of_level(scores, 0, 0.0, 1.0, 0.9, clusters=None, alone=None, alpha=0.05).holds


@pytest.mark.parametrize("n", [10, 20, 30, 50])
def test_a_gate_hardly_ever_passes_above_the_true_mean_of_near_certain_scores(n: int) -> None:
    """0.949 is the true mean and 0.97 the limit; passing is wrong, with 2.5 % at most."""
    rng = np.random.default_rng(11)
    rows = certain(0.05)(rng, (400, n))
    assert of_certain(0.05) < 0.95
    low = np.array([one.low for one in (estimate(row.tolist()) for row in rows) if one is not None])
    assert (low >= 0.97).mean() <= 0.025


@pytest.mark.parametrize("sizes", [(4,) * 5, (2,) * 10, (1,) * 20])
def test_clusters_of_near_certain_scores_say_how_many_were_looked_at(sizes: tuple[int, ...]) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes).tolist()
    even = estimate([1.0] * 20, clusters=clusters)
    nearly = estimate([1.0] * 19 + [0.999], clusters=clusters)
    assert even is not None
    assert nearly is not None
    assert nearly.low <= even.low + 1e-9


def test_the_exact_end_beside_few_bad_rows() -> None:
    """19 of 20: the exact upper end is 1 - x with 1 - (1 - x)^20 = 0.025, so x = 1 - 0.975^(1/20) = 0.001265."""
    found = estimate([1.0] * 19 + [0.0])
    assert found is not None
    assert found.high == pytest.approx(0.975 ** (1 / 20), abs=1e-9)
