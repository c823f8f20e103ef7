"""A database that several processes make, use and fork around at the same time."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from assay.database import Database

SCHEMA = "CREATE TABLE numbers (n INTEGER);; CREATE TABLE more (n INTEGER)"


def put(database: Database, number: int) -> None:
    with database.write() as db:
        db.execute("INSERT INTO numbers VALUES (?)", (number,))


def test_many_may_make_it_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(12)
    errors: list[BaseException] = []

    def make(number: int) -> None:
        database = Database(tmp_path / "new" / "a.db", SCHEMA, "numbers")
        barrier.wait()
        try:
            database.create()
            put(database, number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    found = Database(tmp_path / "new" / "a.db", SCHEMA, "numbers").rows("SELECT n FROM numbers ORDER BY n")
    assert found == [(n,) for n in range(12)]


def test_a_transaction_is_whole_or_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", SCHEMA, "numbers")

    def fail() -> None:
        with database.write() as db:
            db.execute("INSERT INTO numbers VALUES (1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    put(database, 2)
    assert database.rows("SELECT n FROM numbers") == [(2,)]
    with pytest.raises(sqlite3.OperationalError):
        database.rows("SELECT nonsense")
    assert database.rows("SELECT n FROM numbers") == [(2,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_both_sides_of_a_fork_go_on(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", SCHEMA, "numbers")
    stop, written = threading.Event(), [0]

    def load() -> None:
        while not stop.is_set():
            put(database, 0)
            written[0] += 1

    def child(first: int) -> None:
        for n in range(50):
            put(database, first + n)
        os._exit(0)

    thread = threading.Thread(target=load)
    thread.start()
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=child, args=(1000 * (k + 1),)) for k in range(5)]
    for one in children:
        one.start()
    for one in children:
        one.join(60)
    stop.set()
    thread.join()
    assert [one.exitcode for one in children] == [0] * 5
    assert database.rows("SELECT COUNT(*), COUNT(DISTINCT n) FROM numbers") == [(250 + written[0], 251)]
    assert database.rows("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_in_the_middle_of_a_transaction_stops_nobody(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.database.FORK_PATIENCE", 0.1)
    database = Database(tmp_path / "a.db", SCHEMA, "numbers")
    inside, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write() as db:
            db.execute("INSERT INTO numbers VALUES (1)")
            inside.set()
            go_on.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(10)
    mine, theirs = multiprocessing.Pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            put(database, 2)
            said = "written"
        except sqlite3.OperationalError as error:
            said = str(error)
        theirs.send(said)
        os._exit(0)
    assert time.monotonic() - began < 5  # it did not wait for the transaction
    assert mine.poll(20)
    assert "forked in the middle of a transaction" in mine.recv()
    os.waitpid(child, 0)
    go_on.set()
    thread.join()
    put(database, 3)
    assert database.rows("SELECT n FROM numbers ORDER BY n") == [(1,), (3,)]
