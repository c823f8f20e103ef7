"""Scored samples merged into a run in groups: the same rows as one by one, in one transaction."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Sample, Score, ScoredSample, Store
from assay.errors import StoreError
from assay.store.columns import RunColumns
from assay.store.integrity import check_store
from assay.store.temporary import TemporaryStore


def one(key: str, metric: str = "m", value: float = 0.5, **metadata: Any) -> ScoredSample:
    return ScoredSample(
        sample=Sample(id=key, answer=f"answer {key}", metadata=metadata),
        scores={metric: Score(metric=metric, value=value)},
    )


def content(store: Store, run: str) -> Any:
    columns = RunColumns(store, run)
    values = {name: columns.values(name).tolist() for name in columns.metrics}
    rows = [(row.number, row.scored.to_dict()) for row in store.rows(run)]
    return rows, {name: [repr(value) for value in found] for name, found in values.items()}, store.row_counts(run)


scored = st.builds(one, st.sampled_from("abcde"), st.sampled_from("mn"), st.sampled_from([0.0, 0.5, 1.0]))


@given(groups=st.lists(st.lists(scored, max_size=8), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_a_group_is_what_its_samples_are_one_by_one(groups: list[list[ScoredSample]]) -> None:
    with TemporaryStore() as store:
        for run in ("groups", "singly"):
            store.create_run(run, {"metrics": ["m", "n"], "judge": ""})
        for group in groups:
            numbers = store.merge_rows("groups", group)
            assert numbers == [store.merge_row("singly", sample) for sample in group]
        assert content(store, "groups") == content(store, "singly")
        assert not check_store(store).damaged


def test_a_row_that_is_there_keeps_its_number_its_scores_and_its_time(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", {"metrics": ["m", "n"], "judge": ""})
        assert store.merge_rows("run", [one("a", ended=1000.0), one("b\0", ended=2000.0)]) == [1, 2]
        times = RunColumns(store, "run").times.tolist()
        assert times == [1000.0, 2000.0]
        assert store.merge_rows("run", [one("c"), one("b\0", "n", 1.0), one("a", "n", 0.0)]) == [3, 2, 1]
        assert RunColumns(store, "run").times.tolist()[:2] == times
        found = {row.number: row.scored.values for row in store.rows("run")}
        assert found == {1: {"m": 0.5, "n": 0.0}, 2: {"m": 0.5, "n": 1.0}, 3: {"m": 0.5}}
        assert store.row_counts("run")[:2] == (3, 3)
        assert not check_store(store).damaged
        assert store.merge_rows("run", []) == []


def test_a_group_is_written_whole_or_not_at_all(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(address) as store:
        store.create_run("run", {})
        store.merge_row("run", one("a"))
        with monkeypatch.context() as patch:
            patch.setattr("assay.store.rows.count_rows", lambda *_: 1 // 0)  # the last statement
            with pytest.raises(ZeroDivisionError):
                store.merge_rows("run", [one("a", "n"), one("b")])
        assert [row.scored.values for row in store.rows("run")] == [{"m": 0.5}]
        assert not check_store(store).damaged


def merge_many(address: str, first: int, metric: str) -> None:
    with Store(address) as store:
        for start in range(first, first + 60, 10):
            store.merge_rows("run", [one(f"s{n}", metric) for n in range(start, start + 10)])


@pytest.mark.long
def test_processes_merge_the_same_keys_and_no_number_is_there_twice(address: str) -> None:
    """Keys 0 to 59 by one process, 30 to 89 by the other."""
    with Store(address) as store:
        store.create_run("run", {"metrics": ["m", "n"], "judge": ""})
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=merge_many, args=(address, *given)) for given in ((0, "m"), (30, "n"))]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    with Store(address) as store:
        found = {row.scored.sample.id: set(row.scored.scores) for row in store.rows("run")}
        assert store.numbers("run") == list(range(1, 91))
        assert not check_store(store).damaged
    assert found == {f"s{n}": {"m"} if n < 30 else {"n"} if n >= 60 else {"m", "n"} for n in range(90)}


def test_a_store_that_cannot_be_written_says_so(address: str) -> None:
    with Store(address) as store:
        store.write(lambda db: db.execute("DROP TABLE row_facts"))
        with pytest.raises(StoreError, match="cannot be written"):
            store.merge_rows("run", [one("a"), one("b")])
