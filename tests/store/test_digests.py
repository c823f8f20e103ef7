"""A run knows the digest of its rows, however they were written, and rows that are not those are found."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Sample, Score, ScoredSample, Store
from assay.errors import StoreError
from assay.evaluation.result import Result
from assay.store.digests import MODULUS, RowDigests, row_digest
from assay.store.pruning import prune
from assay.store.rows import PackedRow, put_rows
from assay.store.temporary import TemporaryStore

INFO = {"judge": "j", "metrics": ["m"]}
ALTERED = ("the rows in the store are not the ones that were saved",)


def scored(number: int, value: float = 1.0) -> ScoredSample:
    score = Score(metric="m", value=value, low=0.0, high=1.0, direction="higher")
    return ScoredSample(sample=Sample(id=f"r{number}", question="?"), scores={"m": score})


def digest_of(store: Store, run: str = "run") -> int:
    found = RowDigests()
    list(store.rows(run, found))
    return found.value


def agrees(store: Store, run: str = "run") -> bool:
    return store.row_counts(run).digest == digest_of(store, run)


def test_the_digest_of_a_run_is_that_of_its_rows_however_they_were_written(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        assert store.row_counts("run").digest == 0
        store.put_row("run", 1, scored(1))
        assert agrees(store)
        store.put_rows("run", [(n, scored(n)) for n in (2, 3, 2)])  # the second twice
        assert agrees(store)
        store.put_row("run", 3, scored(3, 0.5))
        store.merge_row("run", scored(4))
        store.merge_row("run", scored(4, 0.25))
        assert agrees(store)
        assert store.row_counts("run")[:3] == (4, 4, 0)
        before = store.row_counts("run")
        with pytest.raises(ZeroDivisionError):
            store.write(lambda db: (put_rows(db, "run", [PackedRow(5, "r5", b"x")]), 1 / 0))
        assert store.row_counts("run") == before
        store.put_run("run", {**INFO, "note": "n"})
        assert store.row_counts("run") == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=12), seed=st.integers())
def test_it_does_not_depend_on_the_order(rows: list[tuple[int, float]], seed: int, tmp_path: Path) -> None:
    last = dict(rows)
    other = list(last.items())
    random.Random(seed).shuffle(other)
    found = []
    with TemporaryStore() as store:
        for run, numbers in (("one", rows), ("other", other)):
            store.create_run(run, INFO)
            for number, value in numbers:
                store.put_row(run, number, scored(number, value))
            store.numbers(run)  # a temporary store writes rows when they are read
            found.append((*store.row_counts(run)[:2], store.row_counts(run).digest))
        assert agrees(store, "one")
    assert found[0] == found[1]


def test_threads_that_replace_the_same_rows_leave_a_digest_that_agrees(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)

    def write(seed: int) -> None:
        numbers = random.Random(seed)
        with Store(address) as mine:
            for _ in range(12):
                mine.put_row("run", numbers.randint(1, 3), scored(seed, numbers.random()))

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store(address) as store:
        assert store.row_counts("run")[:2] == (3, 3)
        assert agrees(store)


#: What damage does to rows 1 to 4, of which the first is wrong: the mean is 0.75, and would be better after it.
DAMAGES = {
    "another row's scores": "UPDATE rows SET body = (SELECT body FROM rows WHERE number = 2) WHERE number = 1",
    "an id": "UPDATE rows SET id = 'other' WHERE number = 1",
    "a number": "UPDATE rows SET number = 7 WHERE number = 1",
    "two numbers": "UPDATE rows SET number = number + 10",
    "a row of the same number that was put in its place": (
        "DELETE FROM rows WHERE number = 1;"
        "INSERT INTO rows (run, number, id, body) SELECT run, 1, id, body FROM rows WHERE number = 3"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_rows_that_are_not_the_ones_that_were_saved_are_found(address: str, damage: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, scored(n, float(n > 1))) for n in range(1, 5)])
        result = Result.load("run", store)
        assert (result.complete, result.metrics["m"].mean) == (True, 0.75)
        for statement in DAMAGES[damage].split(";"):
            store.write(lambda db, statement=statement: db.execute(statement))
        result = Result.load("run", store)
        assert (result.altered, result.incomplete) == (True, ALTERED)
        assert (result.to_dict()["complete"], result.to_dict()["incomplete"]) == (False, [*ALTERED])


def test_a_run_of_an_earlier_assay_has_no_digest_and_is_whole(address: str) -> None:
    with Store(address) as store:
        store.put_row("run", 1, scored(1))  # before there is a run
        store.create_run("run", INFO)
        store.put_row("run", 2, scored(2))
        assert store.row_counts("run") == (2, 2, 0, None)
        assert Result.load("run", store).complete


def test_a_run_that_grows_while_it_is_read_is_not_called_damaged(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, scored(n)) for n in range(1, 4)])
        read = Result.add

        def add(result: Result, row: ScoredSample, number: int | None = None) -> None:
            read(result, row, number)
            if result.rows == 3:
                store.put_row("run", 1, scored(1, 0.5))

        monkeypatch.setattr(Result, "add", add)
        assert not Result.load("run", store).altered
        monkeypatch.undo()
        assert Result.load("run", store).complete


def test_pruned_rows_are_pruned_and_not_missing(address: str) -> None:
    with Store(address) as store:
        for run, info in (("once", INFO), ("live", {**INFO, "continuous": True})):
            store.create_run(run, info)
            store.put_rows(run, [(n, scored(n)) for n in range(1, 6)])
        store.write(lambda db: db.execute("UPDATE rows SET at = ? WHERE number < 3", (time.time() - 90_000,)))
        assert prune(store, older_than=86_400.0).rows == 4
        assert [store.row_counts(run)[:3] for run in ("once", "live")] == [(3, 5, 2), (3, 3, 0)]
        assert agrees(store, "once")
        assert agrees(store, "live")
        once = Result.load("once", store)
        assert (once.lost, once.missing, once.pruned, once.metrics["m"].total) == (2, 0, 2, 5)
        assert once.incomplete == ("2 of 5 rows were pruned",)
        assert [error.message for error in once.errors] == ["the row was pruned"] * 2
        store.write(lambda db: db.execute("DELETE FROM rows WHERE run = 'once' AND number = 4"))
        assert Result.load("once", store).incomplete == (
            "1 of 5 rows is missing from the store",
            "2 of 5 rows were pruned",
        )


def test_what_is_known_about_a_run_is_checked(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", {**INFO, "stopped": "interrupted"})
        store.create_run("other", INFO)
        damage = "UPDATE runs SET info = REPLACE(info, 'stopped', 'stoqped') WHERE id = 'run'"
        store.write(lambda db: db.execute(damage))
        with pytest.raises(StoreError, match="run 'run': what is known about it is damaged: it is not what"):
            Result.load("run", store)
        assert [(run.id, run.info.get("stopped")) for run in store.runs()] == [
            ("other", None),
            ("run", "what is known about it is damaged"),
        ]
        store.write(lambda db: db.execute("UPDATE runs SET info = 'x', info_digest = NULL WHERE id = 'run'"))
        with pytest.raises(StoreError, match="run 'run': what is known about it is damaged"):
            store.get_run("run")


def test_digests_are_of_all_that_a_row_is() -> None:
    known = {
        row_digest(number, name, body)
        for number in (1, 11)
        for name in (None, "", "1", "a", "a\ud83d")
        for body in (b"", b"1", b"1:", b"\x00")
    }
    assert len(known) == 2 * 5 * 4
    assert all(0 <= digest < MODULUS for digest in known)
