"""What is in the store stays in the store."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import threading
import zlib
from contextlib import closing

import pytest

from assay import Context, InputError, Sample, Score, ScoredSample, Store
from assay.errors import StoreError


def scored(number: int) -> ScoredSample:
    sample = Sample(id=f"r{number}", question="¿Qué?", contexts=(Context(text="猫は眠る。"),), answer="Ünïcode 🐈")
    return ScoredSample(sample=sample, scores={"m": Score(metric="m", value=number / 10)})


def test_findings_and_rows_survive_closing(tmp_path):
    with Store(tmp_path) as store:
        store.put_finding("k", "claims", "judge", b'["a"]')
        store.put_run("run", {"judge": "j"})
        store.put_row("run", 1, scored(1))
    with Store(tmp_path) as again:
        assert again.get_finding("k") == b'["a"]'
        assert again.get_finding("other") is None
        (row,) = again.rows("run")
        assert (row.number, row.scored) == (1, scored(1))


def test_rows_come_in_the_order_of_the_data_page_by_page(tmp_path):
    with Store(tmp_path) as store:
        for number in (3, 1, 1201, 2, 700):
            store.put_row("run", number, scored(5))
        for number in range(1000, 1100):
            store.put_row("run", number, scored(5))
        store.put_row("other", 1, scored(9))
        numbers = [row.number for row in store.rows("run")]
    assert numbers == [1, 2, 3, 700, *range(1000, 1100), 1201]


def test_a_row_is_found_by_id_and_by_number(tmp_path):
    with Store(tmp_path) as store:
        store.put_row("run", 1, scored(1))
        store.put_row("run", 2, ScoredSample(sample=Sample(id="1", answer="named like a number"), scores={}))
        assert store.get_row("run", "r1").number == 1
        assert store.get_row("run", 2).number == 2
        assert store.get_row("run", "1").number == 2  # an id wins over a number
        with pytest.raises(InputError, match=r"row '9'.*2 rows, numbered up to 2"):
            store.get_row("run", "9")


def test_last_is_the_run_started_last(tmp_path):
    with Store(tmp_path) as store:
        with pytest.raises(InputError, match="no runs yet"):
            store.run_id("last")
        store.put_run("first", {})
        store.put_run("second", {})
        store.put_run("first", {"updated": True})  # an update is not a start
        assert store.run_id("last") == "second"
        assert store.get_run("first") == {"updated": True}
        with pytest.raises(InputError, match="second, first"):
            store.run_id("third")


def test_threads_may_share_a_store(tmp_path):
    with Store(tmp_path) as store:

        def work(n: int) -> None:
            for i in range(50):
                store.put_finding(f"{n}/{i}", "claims", "j", b"1")
                assert store.get_finding(f"{n}/{i}") == b"1"

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(store.get_finding(f"{n}/{i}") for n in range(8) for i in range(50))


def write_many(path: str, n: int) -> None:
    with Store(path) as store:
        for i in range(50):
            store.put_finding(f"{n}/{i}", "claims", "j", b"1")


def test_processes_may_share_a_store(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(str(tmp_path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with Store(tmp_path) as store:
        assert all(store.get_finding(f"{n}/{i}") for n in range(3) for i in range(50))


def test_what_is_no_store_is_an_error_that_names_it(tmp_path):
    (tmp_path / "text.db").write_text("This is not a database, and it is long enough to be one. " * 50)
    with pytest.raises(StoreError, match=r"text\.db"):
        Store(tmp_path / "text.db")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "file" / "below")


def test_a_store_of_a_newer_assay_is_refused(tmp_path):
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "assay.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.close()
    with pytest.raises(StoreError, match="newer assay"):
        Store(tmp_path)


def test_nothing_is_pickled(tmp_path):
    with Store(tmp_path) as store:
        store.put_finding("k", "claims", "judge", b'["a"]')
        store.put_row("run", 1, scored(1))
    raw = (tmp_path / "assay.db").read_bytes()
    assert b"\x80\x04\x95" not in raw  # the head of a pickle
    with closing(sqlite3.connect(tmp_path / "assay.db")) as db:
        (finding,), (body,) = (db.execute(f"SELECT {name}").fetchone() for name in FINDING_AND_ROW)
    assert json.loads(zlib.decompress(finding)) == ["a"]
    assert json.loads(zlib.decompress(body))["sample"]["contexts"] == [{"text": "猫は眠る。", "metadata": {}}]


FINDING_AND_ROW = ("finding FROM findings", "body FROM rows")
