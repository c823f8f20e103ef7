"""One SQLite file: opened when it is first used, one transaction at a time, let go of before a fork.

SQLite keeps its locks in the memory of the process, so a connection that is open at a fork breaks both sides. It is
closed before a fork, and each side opens its own when it needs one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.errors import StoreError

FORK_PATIENCE = 2.0  # seconds that a fork waits for the transaction under way
LOCKED_ATTEMPTS = 20  # at opening, where SQLite does not wait by itself


class Database:
    """A SQLite file in WAL mode. What a transaction wrote survives `kill -9`; a power cut may lose the last ones.

    schema   statements that make the tables, separated by `;;`, for a file without the table `marker`
    version  of the schema; a file with a higher one was written by a newer assay
    timeout  seconds that a transaction waits for those of other processes

    Safe for threads. Methods raise sqlite3.Error; `create` raises StoreError.
    """

    def __init__(self, path: Path, schema: str, marker: str, *, version: int = 1, timeout: float = 5.0) -> None:
        self.path = path
        self._schema = schema
        self._marker = marker
        self._version = version
        self._timeout = timeout
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._broken = False
        _ALL.add(self)

    def create(self) -> None:
        """Make the file and its tables where they are missing, and check its version."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock:
                self._open()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{str(self.path)!r} cannot be opened: {error}") from error
        finally:
            self.close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: committed at the end, undone when anything raises."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A transaction that only reads, so that all its queries see one moment."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            db = self._open()
            try:
                db.execute(begin)
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                self._undo(db, error)
                raise

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._lock:
            return self._open().execute(sql, values).fetchall()

    def close(self) -> None:
        """Let go of the file. The next use opens it again."""
        with self._lock:
            self._close()

    def _open(self) -> sqlite3.Connection:
        if self._broken:
            raise sqlite3.OperationalError("this process was forked in the middle of a transaction; open the file anew")
        if self._db is not None:
            return self._db
        import tenacity

        locked = tenacity.retry_if_exception(lambda e: isinstance(e, sqlite3.OperationalError) and "locked" in str(e))
        retrying = tenacity.Retrying(
            retry=locked,
            stop=tenacity.stop_after_attempt(LOCKED_ATTEMPTS),
            wait=tenacity.wait_random(0.005, 0.05),
            reraise=True,
        )
        self._db = retrying(self._connected)
        return self._db

    def _connected(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=self._timeout, check_same_thread=False, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > self._version:
                raise StoreError(f"{str(self.path)!r} was written by a newer assay (schema {version}); upgrade assay")
            if not self._made(db):
                db.execute("BEGIN IMMEDIATE")
                if not self._made(db):  # another process may have been quicker
                    for statement in self._schema.split(";;"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {self._version}")
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        return db

    def _made(self, db: sqlite3.Connection) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
        return db.execute(sql, (self._marker,)).fetchone() is not None

    def _undo(self, db: sqlite3.Connection, error: BaseException) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            self._close()
            return
        if isinstance(error, sqlite3.Error) and "locked" not in str(error):
            self._close()  # whatever is wrong with the file, a fresh look at it can only help

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    # -- forks

    def _before_fork(self) -> None:
        if self._lock.acquire(timeout=FORK_PATIENCE):
            self._close()
        else:
            _BUSY.add(self)

    def _after_in_parent(self) -> None:
        if self in _BUSY:
            _BUSY.discard(self)
        else:
            self._lock.release()

    def _after_in_child(self) -> None:
        self._broken = self in _BUSY
        self._lock = threading.Lock()
        if self._broken:
            _LEFT.append(self._db)  # never touched again, and so neither closed
            self._db = None


_ALL: weakref.WeakSet[Database] = weakref.WeakSet()
_BUSY: weakref.WeakSet[Database] = weakref.WeakSet()
_FORKING: list[Database] = []
_LEFT: list[sqlite3.Connection | None] = []


def _before() -> None:
    _FORKING.extend(_ALL)
    for database in _FORKING:
        database._before_fork()


def _in_parent() -> None:
    for database in _FORKING:
        database._after_in_parent()
    _FORKING.clear()


def _in_child() -> None:
    for database in _FORKING:
        database._after_in_child()
    _FORKING.clear()
    _BUSY.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
