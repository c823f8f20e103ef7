"""The tables of a store, and how those of an earlier version become these.

Version 2 keeps judgements and rows compressed, under keys of 16 bytes, away from the indices; it counts runs in the
order in which they began, and knows which judgements a run used. Version 3 knows when a row was written. Version 4
counts the rows that were saved for each run. Version 5 calls judgements by their name; see `assay.records.migration`.
Version 6 has digests of runs (see `assay.store.digests`), and counts the rows that were pruned from them. Version 7
has scores as columns (see `assay.store.score_columns`); those of rows of an earlier version are made when their run is
first read.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from assay._util.compression import key_hash, pack
from assay._util.sqlite import Database, as_store_error
from assay.records import migration
from assay.store.tables import Statements

T = TypeVar("T")

PAGE_SIZE = 8192  # bytes; most rows take a third of it
_SIZES = ("page_count", "freelist_count", "page_size")

SCHEMA_VERSION = 7
MARKER = "runs"  # a table that a store of every version has

_COLUMN_TABLES = """
CREATE TABLE names (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, text TEXT NOT NULL);;
CREATE TABLE scores (
    run INTEGER NOT NULL, metric INTEGER NOT NULL, row INTEGER NOT NULL, value REAL, cause INTEGER, message INTEGER,
    PRIMARY KEY (run, metric, row)
) WITHOUT ROWID;;
CREATE INDEX scores_by_value ON scores (run, metric, value);;
CREATE INDEX scores_without_value ON scores (run, cause, row) WHERE cause IS NOT NULL;;
CREATE TABLE metric_ranges (
    run INTEGER NOT NULL, metric INTEGER NOT NULL, low REAL, high REAL, direction TEXT NOT NULL,
    PRIMARY KEY (run, metric)
) WITHOUT ROWID;;
CREATE TABLE row_facts (
    run INTEGER NOT NULL, row INTEGER NOT NULL, id TEXT, at REAL NOT NULL, key BLOB NOT NULL, weight REAL NOT NULL,
    facts TEXT, quoted INTEGER NOT NULL, unlocated INTEGER NOT NULL, slices TEXT NOT NULL, PRIMARY KEY (run, row)
) WITHOUT ROWID;;
CREATE INDEX row_facts_by_time ON row_facts (run, at);;
CREATE TABLE column_blocks (
    run BIGINT NOT NULL, name TEXT NOT NULL, part BIGINT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, name, part)
);;
CREATE TABLE IF NOT EXISTS live_counts (
    run TEXT NOT NULL, hour BIGINT NOT NULL, cause TEXT NOT NULL, source TEXT NOT NULL, samples BIGINT NOT NULL,
    PRIMARY KEY (run, hour, cause, source)
)
"""

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;;
INSERT OR REPLACE INTO meta VALUES ('version', '{SCHEMA_VERSION}');;
CREATE TABLE sources (
    number INTEGER PRIMARY KEY, prompt TEXT NOT NULL, judge TEXT NOT NULL, UNIQUE (prompt, judge)
);;
CREATE TABLE judgements (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, source INTEGER NOT NULL, at REAL NOT NULL,
    judgement BLOB NOT NULL
);;
CREATE INDEX judgements_by_source ON judgements (source);;
CREATE INDEX judgements_by_time ON judgements (at);;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, started REAL NOT NULL, info TEXT NOT NULL,
    saved INTEGER, pruned INTEGER NOT NULL DEFAULT 0, digest INTEGER, info_digest INTEGER, scores_digest INTEGER
);;
CREATE TABLE run_judgements (
    run INTEGER NOT NULL, judgement INTEGER NOT NULL, PRIMARY KEY (run, judgement)
) WITHOUT ROWID;;
CREATE TABLE rows (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL, id TEXT, body BLOB NOT NULL,
    at REAL
);;
CREATE UNIQUE INDEX rows_by_number ON rows (run, number);;
CREATE INDEX rows_by_id ON rows (run, id);;
{_COLUMN_TABLES}"""

#: Digests of runs that are there are unknown (NULL).
DIGESTS = (
    "ALTER TABLE runs ADD COLUMN pruned BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN digest BIGINT",
    "ALTER TABLE runs ADD COLUMN info_digest BIGINT",
)
#: Unknown (NULL) says that the columns of its rows may not all be there.
SCORES_DIGEST = "ALTER TABLE runs ADD COLUMN scores_digest BIGINT"


def version_of(db: sqlite3.Connection) -> int:
    """The version of a store; 0 for a file that is none yet."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        found = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        try:
            version = max(version, int(found[0]) if found else 0)
        except ValueError:
            raise sqlite3.DatabaseError(f"its version is damaged: {found[0]!r}") from None
    return int(version)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a store of an earlier version to this one, whole, in the transaction that is open."""
    if version < 2:
        _from_version_1(db)
        return
    if version < 3:
        db.execute("ALTER TABLE rows ADD COLUMN at REAL")
    if version < 4:
        db.execute("ALTER TABLE runs ADD COLUMN saved INTEGER")  # NULL: unknown for the runs that are there
    if version < 5:
        for statement in migration.STORE_4_TO_5:
            db.execute(statement)
    if version < 6:
        for statement in DIGESTS:
            db.execute(statement)
    for statement in (SCORES_DIGEST, *_COLUMN_TABLES.split(";;")):
        db.execute(statement)
    db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(SCHEMA_VERSION),))


def _from_version_1(db: sqlite3.Connection) -> None:
    """Make the tables anew, and move what is in the old ones."""
    names = [name for name in migration.STORE_1_TABLES if _has_table(db, name)]
    db.execute("DROP INDEX IF EXISTS rows_by_id")
    for name in names:
        db.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    for statement in SCHEMA.split(";;"):
        db.execute(statement)
    moves = dict(zip(migration.STORE_1_TABLES, (_move_judgements, _move_runs, _move_rows), strict=True))
    for name in names:
        moves[name](db)
        db.execute(f"DROP TABLE old_{name}")


def _has_table(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def source_number(db: Statements, prompt: str, judge: str) -> int:
    """The number under which a prompt and the judge that answered it stand."""
    sql = "SELECT number FROM sources WHERE prompt = ? AND judge = ?"
    found = db.execute(sql, (prompt, judge)).fetchone()
    if found is None:
        db.execute("INSERT INTO sources (prompt, judge) VALUES (?, ?) ON CONFLICT DO NOTHING", (prompt, judge))
        found = db.execute(sql, (prompt, judge)).fetchone()
    return int(found[0])


def _move_judgements(db: sqlite3.Connection) -> None:
    sql = "INSERT OR REPLACE INTO judgements (key, source, at, judgement) VALUES (?, ?, ?, ?)"
    for key, prompt, judge, judgement, at in db.execute(migration.STORE_1_JUDGEMENTS):
        db.execute(
            sql,
            (
                key_hash(key),
                source_number(db, migration.PROMPT_NAMES.get(prompt, prompt), judge),
                at,
                pack(_bytes(judgement)),
            ),
        )


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


class FileTables:
    """The tables in a SQLite file. See `assay.store.tables.Tables`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = Database(
            path, SCHEMA, MARKER, version=SCHEMA_VERSION, timeout=30, migrate=migrate, version_of=version_of,
            page_size=PAGE_SIZE,
        )  # fmt: skip

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
        """Only one process writes to the file at a time."""

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._file.rows(sql, *values)

    def size(self) -> int:
        pages, free, size = (int(self.rows(f"PRAGMA {name}")[0][0]) for name in _SIZES)
        return (pages - free) * size

    def settle(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # of a full disk, say: what was written is written
            self._file.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def shrink(self) -> None:
        self._file.rows("VACUUM")
        self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def integrity_errors(self) -> list[str]:
        try:
            found = [str(text) for (text,) in self.rows("PRAGMA integrity_check(20)")]
        except sqlite3.DatabaseError as error:  # so damaged that it cannot be looked at
            return [str(error)]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        self._file.close()

    def saying(self, what: str) -> AbstractContextManager[None]:
        return as_store_error(f"store {self.name!r} cannot be {what}")
