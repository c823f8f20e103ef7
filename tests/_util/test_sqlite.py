"""A database that several processes make, use and fork around at the same time."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import threading
import time
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import assay
import assay._util.sqlite
from assay._util.sqlite import Database, scratch
from assay.errors import StoreError

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
def test_both_sides_of_a_fork_go_on(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        "assay._util.sqlite.FORK_PATIENCE", 30.0
    )  # on a busy machine a transaction waits long for another
    # a fork waits for the transactions of all files: for those that other tests have left open, too
    monkeypatch.setattr("assay._util.sqlite._ALL", weakref.WeakSet())
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
def test_a_fork_waits_for_a_file_that_is_opened_for_the_first_time(tmp_path: Path, monkeypatch: Any) -> None:
    """Whoever opens holds the file's lock and asks for that of making files: the fork takes them in the same order."""
    monkeypatch.setattr("assay._util.sqlite._ALL", weakref.WeakSet())
    monkeypatch.setattr("assay._util.sqlite.FORK_PATIENCE", 30.0)
    database, began, go = Database(tmp_path / "a.db", SCHEMA, "numbers"), threading.Event(), threading.Event()
    create = assay._util.sqlite._create_privately

    def slowly(path: Path) -> None:
        began.set()
        go.wait(20)
        create(path)

    monkeypatch.setattr("assay._util.sqlite._create_privately", slowly)
    opening = threading.Thread(target=put, args=(database, 1))
    opening.start()
    assert began.wait(20)
    child = multiprocessing.get_context("fork").Process(target=put, args=(database, 2))
    forking = threading.Thread(target=child.start)
    forking.start()
    forking.join(0.2)
    assert forking.is_alive()  # it waits for the transaction
    go.set()
    for one in (opening, forking):
        one.join(20)
        assert not one.is_alive()
    child.join(20)
    assert child.exitcode == 0
    assert database.rows("SELECT n FROM numbers ORDER BY n") == [(1,), (2,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_a_file_that_is_being_collected(tmp_path: Path, monkeypatch: Any) -> None:
    """SQLite is at work then, on whatever thread the collector ran, and its mutexes would be locked in the child."""
    monkeypatch.setattr("assay._util.sqlite._ALL", weakref.WeakSet())
    began, go, close = threading.Event(), threading.Event(), Database._close
    kept = [Database(tmp_path / "a.db", SCHEMA, "numbers")]
    put(kept[0], 1)

    def slowly(self: Database) -> None:
        began.set()
        go.wait(20)
        close(self)

    monkeypatch.setattr(Database, "_close", slowly)
    collecting = threading.Thread(target=kept.clear)
    collecting.start()
    assert began.wait(20)
    monkeypatch.setattr("assay._util.sqlite._ALL", weakref.WeakSet())  # nobody has it any more
    child = multiprocessing.get_context("fork").Process(target=os._exit, args=(7,))
    forking = threading.Thread(target=child.start)
    forking.start()
    forking.join(0.2)
    assert forking.is_alive()
    go.set()
    for one in (collecting, forking):
        one.join(20)
        assert not one.is_alive()
    child.join(20)
    assert child.exitcode == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_in_the_middle_of_a_transaction_stops_nobody(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay._util.sqlite.FORK_PATIENCE", 0.1)
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


def test_a_file_of_an_earlier_version_is_brought_up_once_by_whoever_comes_first(tmp_path: Path) -> None:
    put(Database(tmp_path / "a.db", SCHEMA, "numbers"), 1)
    ran: list[int] = []

    def migrate(db: sqlite3.Connection, version: int) -> None:
        ran.append(version)
        db.execute("UPDATE numbers SET n = n + 10")

    barrier = threading.Barrier(8)
    databases = [Database(tmp_path / "a.db", SCHEMA, "numbers", version=2, migrate=migrate) for _ in range(8)]

    def look(database: Database) -> None:
        barrier.wait()
        assert database.rows("SELECT n FROM numbers") == [(11,)]

    threads = [threading.Thread(target=look, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == [1]
    with pytest.raises(StoreError, match="newer assay"):
        Database(tmp_path / "a.db", SCHEMA, "numbers").rows("SELECT 1")


def test_locked_at_opening_is_tried_again(tmp_path: Path, monkeypatch: Any) -> None:
    honest, tries = Database._connected, [0]

    def connected(self: Database) -> sqlite3.Connection:
        tries[0] += 1
        if tries[0] < 5:
            raise sqlite3.OperationalError("database is locked")
        return honest(self)

    monkeypatch.setattr(Database, "_connected", connected)
    Database(tmp_path / "a.db", SCHEMA, "numbers").create()
    assert tries == [5]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_every_file_beside_it_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = Database(tmp_path / "new" / "a.db", SCHEMA, "numbers")
        database.create()
        put(database, 1)
        with scratch(tmp_path / "scratch.db") as db:
            db.execute("CREATE TABLE t (n)")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()}
    assert modes == {"a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "scratch.db").stat().st_mode & 0o777 == 0o600


def test_nothing_else_opens_sqlite() -> None:
    sources = Path(assay.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "sqlite3.connect(" in path.read_text("utf-8")] == ["sqlite.py"]


def test_waiting_for_a_locked_file_is_logged_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that goes on for ever, as a backup that copies the file: at opening, and at a transaction."""
    monkeypatch.setattr("assay._util.sqlite.NOTICE", 0.2)
    file = Database(tmp_path / "x.db", "CREATE TABLE t (n)", "t", timeout=0.6)
    file.create()
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"), file.write():
            pass
        assert 0.6 <= time.monotonic() - began < 5
        assert caplog.messages == [f"assay: {tmp_path / 'x.db'} is locked by another process; waiting for up to 1 s"]
        threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
        with file.write() as db:
            db.execute("INSERT INTO t VALUES (1)")
    assert file.rows("SELECT n FROM t") == [(1,)]


def test_a_file_in_another_journal_mode_that_is_locked_is_waited_for(tmp_path: Path) -> None:
    """To switch it to WAL nobody else may read it: SQLite fails at once there."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE t (n)")
        other.execute("BEGIN EXCLUSIVE")
        threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
        file = Database(path, "CREATE TABLE t (n)", "t", version=None, timeout=5)
        assert file.rows("SELECT n FROM t") == []
