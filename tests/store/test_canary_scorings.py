"""Canary scorings in a store, in a folder and in PostgreSQL: one scoring a day, under a claim that expires."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.store import canary_scorings
from assay.store.canary_scorings import (
    DAY,
    MOST_ATTEMPTS,
    CanaryClaim,
    CanaryScorings,
    read_scorings,
    scorings_of_run,
)
from assay.store.store import Store

NOW = 1_800_000_000.0
VALUES = {"faithfulness": {"a": 1.0, "b": 0.5}}
RANGES = {"faithfulness": (0.0, 1.0), "length": (0.0, float("inf"))}


def claimed(scorings: CanaryScorings, at: float, work: str = "w", *, at_once: bool = False) -> CanaryClaim | None:
    return scorings.claim(work, "judge", at, 60.0, at_once=at_once)


def test_one_scoring_a_day_and_one_at_once_of_other_work(address: str) -> None:
    with Store(address) as store:
        scorings = CanaryScorings(store, "shop")
        claim = claimed(scorings, NOW)
        assert claim is not None
        assert claimed(scorings, NOW + 59) is None  # somebody is at work
        assert scorings.finish(claim, NOW + 30, VALUES, RANGES)
        assert claimed(scorings, NOW + DAY - 1) is None
        assert claimed(scorings, NOW + 60, "of another judge") is not None
        assert claimed(scorings, NOW + DAY) is not None
        (one,) = read_scorings(store, "shop")
        assert (one.at, one.judge, one.stored, one.values) == (NOW + 30, "judge", False, VALUES)
        assert one.ranges == {"faithfulness": (0.0, 1.0)}


def test_a_claim_that_expired_is_taken_over_and_its_outcome_is_not_kept(address: str) -> None:
    with Store(address) as store:
        scorings = CanaryScorings(store)
        lost = claimed(scorings, NOW)
        assert lost is not None
        assert scorings.renew(lost, NOW + 100)
        assert claimed(scorings, NOW + 99) is None
        again = claimed(scorings, NOW + 101)
        assert again is not None
        assert (again.id, again.owner != lost.owner) == (lost.id, True)
        assert not scorings.renew(lost, NOW + 500)
        assert not scorings.finish(lost, NOW + 102, VALUES, RANGES)
        scorings.give_back(lost, 0.0, counted=False)  # it is not its own any more
        assert claimed(scorings, NOW + 103) is None
        assert scorings.finish(again, NOW + 104, VALUES, RANGES)
        assert [one.at for one in read_scorings(store, "")] == [NOW + 104]


def test_a_scoring_that_fails_each_time_is_left_alone_until_the_next_is_due(address: str) -> None:
    with Store(address) as store:
        scorings = CanaryScorings(store)
        claims = [claimed(scorings, NOW + 100 * n) for n in range(MOST_ATTEMPTS)]  # each dies
        assert None not in claims
        assert claimed(scorings, NOW + 1000) is None
        assert claimed(scorings, NOW + 1000, at_once=True) is not None
        assert claimed(scorings, NOW + DAY) is not None


def test_a_claim_that_is_given_back_waits_and_counts_only_where_it_should(address: str) -> None:
    with Store(address) as store:
        scorings = CanaryScorings(store)
        for n in range(MOST_ATTEMPTS + 2):
            claim = claimed(scorings, NOW + 100 * n)
            assert claim is not None
            scorings.give_back(claim, NOW + 100 * n + 50, counted=False)
            assert claimed(scorings, NOW + 100 * n + 49) is None


def test_a_clock_that_was_set_back_by_days_does_not_hold_scorings_up(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        scorings = CanaryScorings(store)
        claim = claimed(scorings, NOW)
        assert claim is not None
        scorings.finish(claim, NOW, VALUES, RANGES)
        assert claimed(scorings, NOW - DAY / 2) is None
        assert claimed(scorings, NOW - 3 * DAY) is not None


def test_threads_and_other_connections_get_one_claim(address: str) -> None:
    with Store(address) as one, Store(address) as other:
        both = [CanaryScorings(one, "shop"), CanaryScorings(other, "shop")]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: claimed(both[n % 2], NOW), range(16)))
        assert sum(claim is not None for claim in found) == 1


def test_stored_verdicts_are_kept_once_and_replaced_by_others(address: str) -> None:
    with Store(address) as store:
        scorings = CanaryScorings(store, "shop")
        scorings.put_stored("old", NOW, VALUES, RANGES)
        scorings.put_stored("old", NOW + 9, VALUES, RANGES)  # the same file, copied again
        assert [(one.at, one.stored) for one in read_scorings(store, "shop")] == [(NOW, True)]
        scorings.put_stored("new", NOW + 9, VALUES, RANGES)
        assert [(one.at, one.judge) for one in read_scorings(store, "shop")] == [(NOW + 9, "new")]


def test_who_reads_makes_no_table_and_finds_those_of_the_application(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert scorings_of_run(store, "live/shop") == []
        assert store.query("SELECT 1 FROM sqlite_master WHERE name = 'canary_scorings'") == []
        for name in ("", "shop"):
            CanaryScorings(store, name).put_stored(name or "nobody", NOW, VALUES, RANGES)
        judges = {run: scorings_of_run(store, run)[0].judge for run in ("live", "live/shop", "shop", "live/other")}
        assert judges == {"live": "nobody", "live/shop": "shop", "shop": "shop", "live/other": "nobody"}


def test_old_scorings_are_deleted_and_the_stored_verdicts_stay(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary_scorings, "KEPT", 3)
    with Store(address) as store:
        scorings = CanaryScorings(store)
        scorings.put_stored("judge", NOW - 1, VALUES, RANGES)
        for day in range(6):
            claim = claimed(scorings, NOW + day * DAY)
            assert claim is not None
            scorings.finish(claim, NOW + day * DAY, VALUES, RANGES)
        found = [one.at for one in read_scorings(store, "")]
        assert found == [NOW - 1, NOW + 3 * DAY, NOW + 4 * DAY, NOW + 5 * DAY]
        assert [one.at for one in read_scorings(store, "", limit=1)] == [NOW - 1, NOW + 5 * DAY]
