"""Scores as columns: they say what the packed rows say, also of rows of an earlier schema, and damage is found."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Sample, Score, ScoredSample, Store
from assay.errors import Cause, StoreError
from assay.evaluation import result
from assay.evaluation.result import Result
from assay.evaluation.summary import Summary
from assay.records import BY_CONVENTION, ScoreError
from assay.store.columns import NO_SCORE, RunColumns
from assay.store.digests import MODULUS, name_hash, score_digest, score_digests
from assay.store.pruning import prune
from assay.store.score_columns import OMITTED, slices_of, weight_of
from assay.store.temporary import TemporaryStore

INFO = {"judge": "j", "metrics": ["m"]}
#: The rows of which damage is looked for whenever a run is read, here in place of 20,000.
SOME = 400
#: A value, a cause, a value by convention, or no score.
scores = st.one_of(
    st.floats(0, 1), st.sampled_from([Cause.PARSE, Cause.NO_CLAIMS]), st.sampled_from(["by rule", None])
)  # fmt: skip


def score_of(metric: str, one: Any) -> Score:
    if isinstance(one, Cause):
        return Score(metric=metric, error=ScoreError(cause=one, message=f"because of {one.value}"))
    if isinstance(one, str):
        return Score(metric=metric, value=1.0, convention=one)
    return Score(metric=metric, value=one)


def row_of(number: int, values: dict[str, Any], **metadata: Any) -> ScoredSample:
    found = {name: score_of(name, one) for name, one in values.items() if one is not None}
    return ScoredSample(sample=Sample(id=f"r{number}", question="?", metadata=metadata), scores=found)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.fixed_dictionaries({"m": scores, "n": scores}), min_size=1, max_size=12))
def test_columns_say_what_the_rows_say(rows: list[dict[str, Any]]) -> None:
    with TemporaryStore() as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, row_of(n, values)) for n, values in enumerate(rows, 1)])
        columns = RunColumns(store, "run")
        assert columns.numbers.tolist() == list(range(1, len(rows) + 1))
        assert not columns.is_altered()
        for metric in ("m", "n"):
            found = columns.scores(metric)
            for place, values in enumerate(rows):
                one = values[metric]
                if isinstance(one, float):
                    assert (found.values[place], found.codes[place]) == (one, 0)
                    continue
                assert math.isnan(found.values[place])
                if one is None:
                    assert found.codes[place] == NO_SCORE
                elif isinstance(one, Cause):
                    assert found.causes[found.codes[place]] == one.value
                    assert found.message(place) == f"because of {one.value}"
                else:
                    assert (found.causes[found.codes[place]], found.given[place]) == (BY_CONVENTION, 1.0)
            summary = Summary(metric=metric)
            for row in store.rows("run"):
                if metric in row.scored.scores:
                    summary.add(row.scored.scores[metric])
            if summary.total:
                again = Summary.of_columns(metric, columns.metrics[metric], found)
                assert (again.scored, again.total, again.causes) == (summary.scored, summary.total, summary.causes)
                assert again.sum == pytest.approx(summary.sum, abs=1e-12)
                assert str(again.interval) == str(summary.interval)


@given(
    row=st.integers(1, 2**40), value=st.one_of(st.none(), st.floats(allow_nan=False)), cause=st.sampled_from(["", "x"])
)
def test_digests_of_arrays_are_those_of_their_values(row: int, value: float | None, cause: str) -> None:
    hashed = name_hash(cause) if cause else 0
    one = score_digest(row, name_hash("m"), value, hashed)
    arrays = (
        np.array([row, row + 1]), name_hash("m"), np.array([np.nan if value is None else value, 0.25]),
        np.array([hashed, 0], dtype=np.uint64),
    )  # fmt: skip
    assert score_digests(*arrays) == (one + score_digest(row + 1, name_hash("m"), 0.25, 0)) % MODULUS


def test_a_row_that_is_written_again_has_its_last_scores(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.put_row("run", 1, row_of(1, {"m": 0.25, "n": 1.0}))
        store.put_row("run", 1, row_of(1, {"m": Cause.PARSE}))
        columns = RunColumns(store, "run")
        assert (columns.causes("m"), columns.causes("n")) == (["parse"], [None])
        assert columns.scores("n").codes.tolist() == [NO_SCORE]
        assert not columns.is_altered()
        store.merge_row("run", row_of(2, {"m": 0.5}))
        store.merge_row("run", row_of(2, {"n": 0.75}))
        columns = RunColumns(store, "run")
        assert columns.values("n").tolist()[1] == 0.75
        assert columns.values("m").tolist()[1] == 0.5
        assert not columns.is_altered()


def test_a_row_that_is_merged_again_keeps_its_time(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.merge_row("run", row_of(1, {"m": 0.5}, ended=1000.0))
        store.merge_row("run", row_of(1, {"n": 0.5}))
        (first,) = RunColumns(store, "run").times
        assert first == 1000.0


def test_slice_keys_are_columns(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        long = "x" * 500
        store.put_rows("run", [
            (1, row_of(1, {"m": 1.0}, topic="a", level=3, note=long, tags=["x", "y"], sampling={"rate": 0.25})),
            (2, row_of(2, {"m": 0.0}, topic="b")),
        ])  # fmt: skip
        columns = RunColumns(store, "run")
        assert columns.column("topic") == ["a", "b"]
        assert columns.column("level") == ["3", None]
        assert columns.column("tags") == ['["x", "y"]', None]
        assert columns.column("note") == [long, None]  # too long for a column: read from the row
        assert columns.column("missing") == [None, None]
        assert columns.weights.tolist() == [4.0, 1.0]  # 1 / 0.25
        assert RunColumns(store, "run", where={"topic": "b"}).numbers.tolist() == [2]
        assert len(RunColumns(store, "run", where={"topic": "c"})) == 0
        assert [Result.load("run", store, where={"topic": one}).metrics["m"].mean for one in "ab"] == [1.0, 0.0]


def test_metadata_beyond_the_limits_are_named_and_left_out() -> None:
    found = slices_of(Sample(metadata={f"k{n}": n for n in range(40)}))
    assert len([name for name in found if name.startswith("k")]) + len(found[OMITTED]) == 40
    for wrong in (0.0, -1, "x", True, math.nan, 2.0, 5e-324):  # 1 / the last is no number
        assert weight_of(Sample(metadata={"sampling": {"rate": wrong}})) == 1.0


@pytest.mark.parametrize("damage", ["UPDATE scores SET value = 1.0", "DELETE FROM scores WHERE row = 1"])
def test_columns_that_are_not_those_that_were_saved_are_found(address: str, damage: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, row_of(n, {"m": 0.25})) for n in (1, 2, 3)])
        assert Result.load("run", store).complete
        store.write(lambda db: db.execute(damage))
        found = Result.load("run", store)
        assert (found.altered, found.complete) == (True, False)


def test_rows_of_an_earlier_schema_get_columns_when_they_are_first_read(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, row_of(n, {"m": n / 4}, topic="t")) for n in (1, 2, 3)])
        before = Result.load("run", store).to_dict()
        for table in ("scores", "row_facts", "metric_ranges", "names"):
            store.write(lambda db, table=table: db.execute(f"DELETE FROM {table}"))
        store.write(lambda db: db.execute("UPDATE runs SET scores_digest = NULL"))
        assert Result.load("run", store).to_dict() == before
        assert store.query("SELECT COUNT(*) FROM scores") == [(3,)]  # kept, for the next time
        assert store.query("SELECT scores_digest IS NOT NULL FROM runs")[0][0]
        store.write(lambda db: db.execute("UPDATE scores SET value = 0.0 WHERE row = 3"))
        assert Result.load("run", store).altered


def test_rows_that_go_take_their_columns_with_them(address: str) -> None:
    with Store(address) as store:
        store.create_run("run", {**INFO, "continuous": True})
        store.put_rows("run", [(n, row_of(n, {"m": 0.5})) for n in (1, 2, 3)])
        store.write(lambda db: db.execute("UPDATE rows SET at = 0 WHERE number = 1"))
        prune(store, older_than=3600)
        columns = RunColumns(store, "run")
        assert (columns.numbers.tolist(), columns.is_altered()) == ([2, 3], False)
        assert store.query("SELECT COUNT(*) FROM scores") == [(2,)]
        store.delete_run("run")
        for table in ("scores", "row_facts", "metric_ranges", "live_counts"):
            assert store.query(f"SELECT COUNT(*) FROM {table}") == [(0,)]


def test_names_of_any_kind_come_back(address: str) -> None:
    names = ["m\0n", "json:m", "\ud83d", "x" * 5000, "метрика", ""]
    with Store(address) as store:
        store.create_run("run", {"judge": "j", "metrics": names})
        scored = {name: Score(metric=name, value=0.5) for name in names}
        store.put_row("run", 1, ScoredSample(sample=Sample(), scores=scored))
        assert sorted(RunColumns(store, "run").metrics) == sorted(names)


def test_a_window_has_the_rows_of_its_time(address: str) -> None:
    with Store(address) as store:
        store.create_run("live/shop", {**INFO, "continuous": True})
        day = 86_400.0
        start = 1_790_000_000 // day * day  # a midnight, UTC
        rows = [(n, row_of(n, {"m": float(n > 2)}, ended=start + n * day / 2)) for n in range(6)]
        store.put_rows("live/shop", [(n + 1, row) for n, row in rows])
        since = "2026-09-21T13:46:40"
        assert len(Result.load(f"live/shop@{since}..2026-12-31", store).score_columns()) >= 0
        columns = [RunColumns(store, "live/shop", since=start + n * day, until=start + (n + 1) * day) for n in range(3)]
        assert [one.numbers.tolist() for one in columns] == [[1, 2], [3, 4], [5, 6]]
        # rows 1 to 3 have 0, 4 to 6 have 1: the second day has a mean of 0.5
        assert [float(one.values("m").mean()) for one in columns] == [0.0, 0.5, 1.0]


@pytest.fixture
def long_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """One row more than are read to see damage, with its figures and arrays; each fourth row has 1, others 0."""
    monkeypatch.setattr(result, "CHECKED", SOME)
    store = Store(tmp_path)
    started = store.create_run("run", INFO)
    store.put_rows("run", [(n, row_of(n, {"m": float(n % 4 == 0), "n": Cause.PARSE}, topic=f"t{n % 3}"))
                           for n in range(1, SOME + 2)], started=started)  # fmt: skip
    loaded = Result.load("run", store)
    loaded.started = started
    loaded.save()
    return store


def test_a_long_run_is_read_from_its_stored_figures(long_run: Store) -> None:
    """They are taken as long as no row was written since. 401 rows: 100 of them have 1."""
    store, rows = long_run, SOME + 1
    before = Result.load("run", store)
    assert before.metrics["m"].sum == 100
    with closing(sqlite3.connect(store.address)) as db:
        db.execute("UPDATE scores SET value = 1.0 WHERE value IS NOT NULL")
        db.commit()
    assert Result.load("run", store).metrics["m"].to_dict() == before.metrics["m"].to_dict()
    store.put_row("run", rows + 1, row_of(rows + 1, {"m": 0.0}), started=before.started)
    # read anew: all of the scores that were changed, and the one that came
    assert Result.load("run", store).metrics["m"].sum == rows


def test_arrays_of_a_long_run_say_what_its_tables_say(long_run: Store) -> None:
    store = long_run
    quick = RunColumns(store, "run")
    assert quick._blocks is not None
    with_arrays = {name: quick.scores(name) for name in ("m", "n")}
    facts = quick.numbers, quick.times, quick.weights, quick.pairing_keys(), quick.quotes()
    some = RunColumns(store, "run", where={"topic": "t1"}).values("m")
    worst = Result.load("run", store).worst("m", 3)
    store.write(lambda db: db.execute("DELETE FROM column_blocks"))
    slow = RunColumns(store, "run")
    assert slow._blocks is None
    for name, found in with_arrays.items():
        again = slow.scores(name)
        assert np.array_equal(found.values, again.values, equal_nan=True)
        assert np.array_equal(found.codes, again.codes)
        assert found.causes == again.causes
        assert found.message(7) == again.message(7)
    for one, other in zip(facts[:4], (slow.numbers, slow.times, slow.weights, slow.pairing_keys()), strict=True):
        assert np.array_equal(one, other)
    assert facts[4] == slow.quotes()
    assert np.array_equal(some, RunColumns(store, "run", where={"topic": "t1"}).values("m"))
    assert [row.number for row in worst] == [1, 2, 3]
    assert [row.number for row in Result.load("run", store).worst("m", 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.put_row("run", 5, row_of(5, {"m": 1.0})),
        lambda store: store.merge_row("run", row_of(7, {"o": 1.0})),
        lambda store: store.write(lambda db: db.execute("DELETE FROM rows WHERE number = 3")),
    ],
    ids=["a row written again", "a row merged", "a row lost"],
)
def test_arrays_are_not_taken_after_a_change(long_run: Store, change: Any) -> None:
    change(long_run)
    assert RunColumns(long_run, "run")._blocks is None


@pytest.mark.parametrize("value", ["-1.0", "0.0", "9e999", "'x'"])
def test_weights_that_no_row_can_have_are_damage(tmp_path: Path, value: str) -> None:
    with Store(tmp_path) as store:
        store.create_run("run", INFO)
        store.put_row("run", 1, row_of(1, {"m": 0.5}))
        store.write(lambda db: db.execute(f"UPDATE row_facts SET weight = {value}"))
        with pytest.raises(StoreError, match="columns of scores are damaged"):
            Result.load("run", store)


def test_scores_out_of_order_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        store.create_run("run", INFO)
        store.put_rows("run", [(n, row_of(n, {"m": 0.5})) for n in (1, 2)])
        store.write(lambda db: db.execute("DELETE FROM scores WHERE row = 2"))
        columns = RunColumns(store, "run")
        query = Store.query

        def again(self: Store, sql: str, *values: Any) -> list[tuple[Any, ...]]:
            return query(self, sql, *values[:-1], -1) if "FROM scores" in sql else query(self, sql, *values)

        monkeypatch.setattr(Store, "query", again)
        with pytest.raises(StoreError, match="not in order"):
            columns.values("m")
