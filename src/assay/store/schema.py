"""The tables of a store, and how those of an earlier version become these.

Version 2 keeps judgements and rows compressed, under keys of 16 bytes, away from the indices; it counts runs in the
order in which they began, and knows which judgements a run used. Version 3 knows when a row was written. Version 4
counts the rows that were saved for each run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from assay._util.compression import key_hash, pack
from assay._util.sqlite import Database, as_store_error
from assay.store.tables import Statements

T = TypeVar("T")

_SIZES = ("page_count", "freelist_count", "page_size")

SCHEMA_VERSION = 4
MARKER = "findings"

#: Version 1 knows tables by these names, and looks at `meta` for the version only after it has made its own.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;;
INSERT OR REPLACE INTO meta VALUES ('version', '{SCHEMA_VERSION}');;
CREATE TABLE makers (
    number INTEGER PRIMARY KEY, inquiry TEXT NOT NULL, judge TEXT NOT NULL, UNIQUE (inquiry, judge)
);;
CREATE TABLE findings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, maker INTEGER NOT NULL, at REAL NOT NULL,
    finding BLOB NOT NULL
);;
CREATE INDEX findings_by_maker ON findings (maker);;
CREATE INDEX findings_by_time ON findings (at);;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, started REAL NOT NULL, info TEXT NOT NULL,
    saved INTEGER
);;
CREATE TABLE used (run INTEGER NOT NULL, finding INTEGER NOT NULL, PRIMARY KEY (run, finding)) WITHOUT ROWID;;
CREATE TABLE rows (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL, id TEXT, body BLOB NOT NULL,
    at REAL
);;
CREATE UNIQUE INDEX rows_by_number ON rows (run, number);;
CREATE INDEX rows_by_id ON rows (run, id)
"""


def version_of(db: sqlite3.Connection) -> int:
    """The version of a store; 0 for a file that is none yet."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        found = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        version = max(version, int(found[0]) if found else 0)
    return int(version)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a store of an earlier version to this one, whole, in the transaction that is open."""
    if version >= 2:
        if version == 2:
            db.execute("ALTER TABLE rows ADD COLUMN at REAL")
        db.execute("ALTER TABLE runs ADD COLUMN saved INTEGER")  # NULL: unknown for the runs that are there
        db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(SCHEMA_VERSION),))
        return
    tables = ("findings", "runs", "rows")
    there = [name for name in tables if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()]
    db.execute("DROP INDEX IF EXISTS rows_by_id")
    for name in there:
        db.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    for statement in SCHEMA.split(";;"):
        db.execute(statement)
    for name in there:
        _MOVES[name](db)
        db.execute(f"DROP TABLE old_{name}")


def maker(db: Statements, inquiry: str, judge: str) -> int:
    """The number under which an inquiry and the judge that answered it stand."""
    sql = "SELECT number FROM makers WHERE inquiry = ? AND judge = ?"
    found = db.execute(sql, (inquiry, judge)).fetchone()
    if found is None:
        db.execute("INSERT INTO makers (inquiry, judge) VALUES (?, ?) ON CONFLICT DO NOTHING", (inquiry, judge))
        found = db.execute(sql, (inquiry, judge)).fetchone()
    return int(found[0])


def _move_judgements(db: sqlite3.Connection) -> None:
    sql = "INSERT OR REPLACE INTO findings (key, maker, at, finding) VALUES (?, ?, ?, ?)"
    for key, inquiry, judge, judgement, at in db.execute(
        "SELECT key, inquiry, judge, finding, at FROM old_findings ORDER BY at"
    ):
        db.execute(sql, (key_hash(key), maker(db, inquiry, judge), at, pack(_bytes(judgement))))


def _move_runs(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO runs (id, started, info) SELECT id, started, info FROM old_runs ORDER BY started")


def _move_rows(db: sqlite3.Connection) -> None:
    sql = "INSERT INTO rows (run, number, id, body) VALUES (?, ?, ?, ?)"
    for run, number, name, sample, scores in db.execute("SELECT run, number, id, sample, scores FROM old_rows"):
        # put together unread: a row that cannot be read stays one, and stops nobody
        body = b'{"sample":' + _bytes(sample) + b',"scores":' + _bytes(scores) + b"}"
        db.execute(sql, (run, number, name, pack(body)))


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


_MOVES = {"findings": _move_judgements, "runs": _move_runs, "rows": _move_rows}


class FileTables:
    """The tables in a SQLite file. See `assay.store.tables.Tables`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = Database(
            path, SCHEMA, MARKER, version=SCHEMA_VERSION, timeout=30, migrate=migrate, version_of=version_of
        )

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def folder(self) -> Path:
        return self.path.parent

    def create(self) -> None:
        self._file.create("store ")

    def transact(self, work: Callable[[Statements], T]) -> T:
        with self._file.write() as db:
            return work(db)

    def alone(self, db: Statements, name: str) -> None:
        """Whoever writes is alone in the file."""

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._file.rows(sql, *values)

    def size(self) -> int:
        pages, free, size = (int(self.rows(f"PRAGMA {name}")[0][0]) for name in _SIZES)
        return (pages - free) * size

    def shrink(self) -> None:
        self._file.rows("VACUUM")
        self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._file.close()

    def saying(self, what: str) -> AbstractContextManager[None]:
        return as_store_error(f"store {self.name!r} cannot be {what}")
