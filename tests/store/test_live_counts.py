"""Samples without a row are counted by the hour, once, whatever is repeated or killed."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.store.live_counts import (
    DROPPED,
    FINAL,
    HOUR,
    QUEUE,
    SAMPLED_OUT,
    delete_counts,
    hour_of,
    read_counts,
    read_hourly_counts,
    tidy_counts,
    write_counts,
)
from assay.store.store import Store

RUN = "live/shop"
NINE, TEN = 9 * HOUR, 10 * HOUR


def test_totals_of_sources_add_up_and_are_not_counted_twice(address: str) -> None:
    """180 + 15 sampled out, 5 dropped; each total is written again, as after a lost connection."""
    with Store(address) as store:
        assert read_counts(store, RUN) == {}
        for _ in range(2):
            write_counts(store, RUN, "a", {(NINE, SAMPLED_OUT): 180, (TEN, DROPPED): 5})
            write_counts(store, RUN, "b", {(NINE, SAMPLED_OUT): 15})
        write_counts(store, "live/search", "a", {(NINE, SAMPLED_OUT): 7})
        assert read_counts(store, RUN) == {"dropped": 5, "sampled_out": 195}
        assert read_hourly_counts(store, RUN) == {NINE: {"sampled_out": 195}, TEN: {"dropped": 5}}
        write_counts(store, RUN, "b", {(NINE, SAMPLED_OUT): 16})
        assert read_counts(store, RUN) == {"dropped": 5, "sampled_out": 196}
        delete_counts(store, RUN)
        assert (read_counts(store, RUN), read_counts(store, "live/search")) == ({}, {"sampled_out": 7})


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([SAMPLED_OUT, DROPPED]), st.integers(1, 50)), max_size=20),
    st.integers(-1, 11),
)
def test_an_hour_is_in_one_of_two_adjacent_windows(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[int, str, int]], cut: int
) -> None:
    totals: Counter[tuple[int, str]] = Counter()
    for hour, cause, samples in written:
        totals[hour * HOUR, cause] += samples
    by_cause: Counter[str] = Counter()
    for (_, cause), samples in totals.items():
        by_cause[cause] += samples
    middle = cut * HOUR + 1234.5
    with Store(tmp_path_factory.mktemp("counts")) as store:
        write_counts(store, RUN, "a", totals)
        before, after = read_counts(store, RUN, until=middle), read_counts(store, RUN, since=middle)
        assert Counter(before) + Counter(after) == by_cause
        assert read_counts(store, RUN, 0, middle) == before


def test_old_hours_go_and_processes_are_added_up(address: str) -> None:
    """Hours 1 and 9 are final, 100 is not. A queue stays apart: it may write its totals again."""
    now = 100 * HOUR
    with Store(address) as store:
        tidy_counts(store, RUN, 0.0)  # nothing was counted yet
        for source in ("a", "b", f"{QUEUE}q"):
            totals = {(HOUR, DROPPED): 1, (NINE, DROPPED): 2, (now, DROPPED): 4}
            write_counts(store, RUN, source, totals)
        for _ in range(2):
            tidy_counts(store, RUN, before=2 * HOUR, now=now)
        assert read_hourly_counts(store, RUN) == {NINE: {"dropped": 6}, now: {"dropped": 12}}
        rows = store.query("SELECT hour, source FROM live_counts ORDER BY hour, source")
        assert rows == [(NINE, ""), (NINE, f"{QUEUE}q"), (now, "a"), (now, "b"), (now, f"{QUEUE}q")]
        write_counts(store, RUN, f"{QUEUE}q", {(NINE, DROPPED): 3})
        assert read_hourly_counts(store, RUN)[NINE] == {"dropped": 7}  # 2 + 2 of the processes, 3 of the queue
        assert now - NINE > FINAL


def test_the_hour_of_a_moment() -> None:
    assert [hour_of(at) for at in (0.0, 3599.9, 3600.0, 1_795_867_261.5)] == [0, 0, 3600, 1_795_867_200]


def count_up(path: str, source: str, done: object) -> None:
    with Store(path) as store:
        for total in range(1, 31):
            write_counts(store, RUN, source, {(NINE, DROPPED): total, (TEN, SAMPLED_OUT): 2 * total})


@pytest.mark.timeout(120)
def test_processes_at_the_same_time_lose_no_count(tmp_path: Path) -> None:
    """The table is made by one of them. 4 × 30 dropped, 4 × 60 sampled out."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=count_up, args=(str(tmp_path), f"{n}", None)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    with Store(tmp_path) as store:
        assert read_counts(store, RUN) == {"dropped": 120, "sampled_out": 240}


def test_a_store_that_cannot_be_written_has_no_counts(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with Store(tmp_path) as store:
        assert read_hourly_counts(store, RUN) == {}
