"""Ranks of runs: by their means, with bootstrap intervals over rows or clusters."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats import run_ranks
from assay.stats.run_ranks import Rank, rank_runs


def test_the_best_mean_has_rank_1_and_equal_means_share_the_better_rank() -> None:
    """Every row ranks the runs alike, so each draw does: 1.0, twice 0.5, then 0.25, which is fourth."""
    rows = 12
    found = rank_runs([[0.5] * rows, [1.0] * rows, [0.25] * rows, [0.5] * rows])
    assert found == [Rank(0.5, 2, 2, 2), Rank(1.0, 1, 1, 1), Rank(0.25, 4, 4, 4), Rank(0.5, 2, 2, 2)]
    lower = rank_runs([[0.5] * rows, [1.0] * rows], higher=False)
    assert [one.rank for one in lower] == [1, 2]
    assert rank_runs([[], []]) == []


def test_the_interval_is_that_of_draws_of_rows() -> None:
    """Of 10 rows the first run is better by 1 on k, the second on 10 - k. A draw has the first behind where it takes
    fewer than 5 of the k: with k = 9 and a chance of 0.9 a row that is 1.6e-3 / 10, with k = 6 it is 17%.
    """

    def ranks(k: int) -> list[Rank]:
        return rank_runs([[1.0] * k + [0.0] * (10 - k), [0.0] * k + [1.0] * (10 - k)])

    assert [(one.rank, one.low, one.high) for one in ranks(9)] == [(1, 1, 1), (2, 2, 2)]
    assert [(one.rank, one.low, one.high) for one in ranks(6)] == [(1, 1, 2), (2, 1, 2)]
    assert ranks(6) == ranks(6)  # the seed is fixed


def test_rows_of_one_cluster_are_drawn_together() -> None:
    """60 of 100 rows are better in the first run: sure by rows (2 standard errors), but they are 3 of 5 documents."""
    first = [1.0] * 65 + [0.0] * 35
    second = [1.0 - value for value in first]
    assert [one.high for one in rank_runs([first, second])] == [1, 2]
    documents = np.repeat(range(20), 5).tolist()
    few = [number // 4 for number in documents]
    assert rank_runs([first, second], clusters=few)[0].high == 2


def test_more_rows_than_a_block_of_weights() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.random((2, 3000)) < [[0.6], [0.5]]).astype(float).tolist()
    assert [(one.rank, one.low, one.high) for one in rank_runs(scores)] == [(1, 1, 1), (2, 2, 2)]


def test_the_normal_limit_gives_the_intervals_of_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six runs of 400 rows in 100 clusters, whose means lie 0 to 2.5 standard errors apart: an end moves by one rank at
    most, and most ends do not."""
    rng = np.random.default_rng(7)
    hard = rng.normal(size=400)
    scores = [(hard + rng.normal(size=400) + shift > 0).astype(float) for shift in (0.0, 0.02, 0.1, 0.2, 0.3, 0.3)]
    clusters = [number // 4 for number in range(400)]
    drawn = rank_runs(scores, clusters=clusters)
    monkeypatch.setattr(run_ranks, "LARGE", 100)
    limit = rank_runs(scores, clusters=clusters)
    assert [(one.mean, one.rank) for one in limit] == [(one.mean, one.rank) for one in drawn]
    moved = [abs(a - b) for one, other in zip(drawn, limit, strict=True)
             for a, b in ((one.low, other.low), (one.high, other.high))]  # fmt: skip
    assert max(moved) <= 1
    assert sum(moved) <= 3
    assert len({one.high - one.low for one in drawn}) > 1  # some are sure, some are not
