"""How often gates are wrong by chance: runs that differ by noise alone, a thousand times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.analysis.gates.evidence import of_change, of_level
from assay.stats import holm

ALPHA = 0.05

#: Scores of one run, given for each row how good it is: what the same system gives on another day.
SCORES: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "yes or no": lambda rng, level: (rng.random(level.size) < level).astype(float),
    "thirds": lambda rng, level: rng.binomial(3, level) / 3.0,
    "graded": lambda rng, level: rng.beta(4 * level + 0.1, 4 * (1 - level) + 0.1),
    "mostly perfect": lambda rng, level: np.where(rng.random(level.size) < 0.9, 1.0, level),
}


def fails(scores: str, n: int, rules: int, times: int, seed: int, clusters: int | None = None) -> float:
    """The share of gates of so many metrics, each of which must not be worse, that fail on two runs of one system."""
    rng, failed = np.random.default_rng(seed), 0
    for _ in range(times):
        found = []
        names = None if clusters is None else [int(name) for name in rng.integers(0, clusters, n)]
        for _ in range(rules):
            level = rng.beta(2, 1, n)
            before, now = SCORES[scores](rng, level), SCORES[scores](rng, level)
            if names is not None:  # what happens to a document happens to all its rows
                moved = rng.choice([-0.3, 0.0, 0.3], clusters)[names]
                before, now = np.clip(before - moved / 2, 0, 1), np.clip(now + moved / 2, 0, 1)
            found.append(of_change(before.tolist(), now.tolist(), 0.0, 1.0, 0.0, None, clusters=names, alpha=ALPHA))
        corrected = holm([one.p if one.p is not None else 1.0 for one in found])
        failed += any(one.broken and p < ALPHA for one, p in zip(found, corrected, strict=True))
    return failed / times


@pytest.mark.long
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(("n", "rules", "clusters"), [(8, 1, None), (20, 1, None), (24, 3, None), (40, 2, 12)])
def test_gates_on_two_runs_of_one_system_fail_at_most_5_percent(
    scores: str, n: int, rules: int, clusters: int | None
) -> None:
    """Of 400 at 5 %, 7.5 % would be 2.3 standard errors more."""
    assert fails(scores, n, rules, 400, seed=n + rules, clusters=clusters) <= 0.075


def test_a_hundred_gates_on_two_runs_of_one_system(  # a quick one among those above
) -> None:
    assert fails("yes or no", 30, 2, 150, seed=1) <= 0.05 + 2 * 0.018  # two standard errors of 150


@pytest.mark.parametrize("limit", [0.6, 0.9])
def test_a_level_that_is_kept_fails_and_one_that_is_not_passes_seldom(limit: float) -> None:
    """The true mean is the limit itself: each verdict is wrong 5 % of the time at most (400 times: ± 2.2 %)."""
    rng, times = np.random.default_rng(5), 400
    passed = failed = 0
    for _ in range(times):
        values = (rng.random(50) < limit).astype(float).tolist()
        found = of_level(values, 0, 0.0, 1.0, limit, clusters=None, alone=None, alpha=ALPHA)
        passed, failed = passed + found.holds, failed + found.broken
    assert passed / times <= 0.072
    assert failed / times <= 0.072


def test_a_drop_beyond_the_margin_passes_seldom() -> None:
    """One run is worse than the other by the margin itself, 10 points: it passes 5 % of the time at most."""
    rng, times, passed = np.random.default_rng(7), 300, 0
    for _ in range(times):
        before = (rng.random(80) < 0.9).astype(float)
        now = np.where((before == 1.0) & (rng.random(80) < 0.1 / 0.9), 0.0, before)
        found = of_change(before.tolist(), now.tolist(), 0.0, 1.0, 0.0, 0.1, clusters=None, alpha=ALPHA)
        passed += found.holds
    assert passed / times <= 0.075


def test_a_real_drop_is_seen() -> None:
    """20 points on 100 rows of yes or no, of which one in ten flips anyway: nearly always."""
    rng, times, failed = np.random.default_rng(9), 60, 0
    for _ in range(times):
        before = (rng.random(100) < 0.9).astype(float)
        now = np.where(rng.random(100) < 0.2, 0.0, before)
        found = of_change(before.tolist(), now.tolist(), 0.0, 1.0, 0.0, None, clusters=None, alpha=ALPHA)
        failed += found.broken and found.p is not None and found.p < ALPHA
    assert failed / times >= 0.9
