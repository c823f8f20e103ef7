"""The store: findings, runs and scored rows in one SQLite file.

Findings are content-addressed, so a rerun asks the judge only for what is missing, whatever the rows or metrics are
this time. Every write is a transaction of its own in WAL mode: `kill -9` loses nothing that was written, and several
processes may share the file. No pickle: findings, samples and scores are JSON.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.errors import InputError, StoreError
from assay.records import Sample, Score, ScoredSample

SCHEMA_VERSION = 1
FILE_NAME = "assay.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
    key TEXT PRIMARY KEY, inquiry TEXT NOT NULL, judge TEXT NOT NULL, finding BLOB NOT NULL, at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, started REAL NOT NULL, info TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
    run TEXT NOT NULL, number INTEGER NOT NULL, id TEXT, sample TEXT NOT NULL, scores TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rows_by_id ON rows (run, id);
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One scored row of a run. `number` counts the rows of the data from 1."""

    number: int
    scored: ScoredSample


class Store:
    """A store in the folder `path` (made if needed), or in the file `path` if it ends in `.db`.

    Usable from several threads. Raises StoreError when the file is not a store or was written by a newer assay.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.path = path if path.suffix == ".db" else path / FILE_NAME
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            self._lock = threading.Lock()
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")  # safe against kill -9; a power cut may lose the last writes
            self._db.executescript(_SCHEMA)
            self._check_version()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"store {str(self.path)!r} cannot be opened: {error}") from error

    @classmethod
    def temporary(cls) -> Store:
        """A store that is deleted when it is closed or no longer used."""
        folder = tempfile.TemporaryDirectory(prefix="assay-")
        store = cls(folder.name)
        store._folder = folder
        return store

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def _check_version(self) -> None:
        self._db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(SCHEMA_VERSION),))
        (version,) = self._db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        if int(version) > SCHEMA_VERSION:
            raise StoreError(f"store {str(self.path)!r} was written by a newer assay (schema {version}); upgrade assay")

    def close(self) -> None:
        """Close the file; a temporary store is deleted. Closing twice is fine."""
        with self._lock:
            self._db.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        with self._lock:
            row: tuple[Any, ...] | None = self._db.execute(sql, values).fetchone()
        return row

    def _write(self, sql: str, *values: Any) -> None:
        with self._lock:
            self._db.execute(sql, values)

    # ---- findings

    def get_finding(self, key: str) -> bytes | None:
        """The finding stored under this content address, as JSON; None when there is none."""
        row = self._one("SELECT finding FROM findings WHERE key = ?", key)
        return None if row is None else bytes(row[0])

    def put_finding(self, key: str, inquiry: str, judge: str, finding: bytes) -> None:
        """Keep a finding. It survives `kill -9` when this returns."""
        self._write("INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?)", key, inquiry, judge, finding, time.time())

    def findings(self, run: str) -> Self:
        """The findings, for a judge's cache."""
        return self

    def judges(self) -> dict[str, int]:
        """How many findings each judge has here, by its fingerprint."""
        return dict(self._all("SELECT judge, COUNT(*) FROM findings GROUP BY judge"))

    # ---- runs and their rows

    def create_run(self, run: str, info: Mapping[str, Any]) -> None:
        """Start a run. Raises InputError when there is one of this name: two runs never mix their rows."""
        try:
            self._write("INSERT INTO runs VALUES (?, ?, ?)", run, time.time(), json.dumps(info, ensure_ascii=False))
        except sqlite3.IntegrityError:
            raise InputError(f"run: {run!r} is in the store {str(self.path)!r} already") from None

    def has_run(self, run: str) -> bool:
        """Whether a run of this name was started."""
        return self._one("SELECT 1 FROM runs WHERE id = ?", run) is not None

    def delete_run(self, run: str) -> int:
        """Delete a run and its rows; how many rows. Its findings stay."""
        run = self.run_id(run)
        with self._lock:
            self._db.execute("DELETE FROM runs WHERE id = ?", (run,))
            return self._db.execute("DELETE FROM rows WHERE run = ?", (run,)).rowcount

    def put_run(self, run: str, info: Mapping[str, Any]) -> None:
        """Start a run, or update what is known about it."""
        self._write(
            "INSERT INTO runs VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET info = excluded.info",
            run,
            time.time(),
            json.dumps(info, ensure_ascii=False),
        )

    def get_run(self, run: str) -> dict[str, Any]:
        """What is known about a run. `"last"` is the one started last. Raises InputError for an unknown run."""
        row = self._one("SELECT info FROM runs WHERE id = ?", self.run_id(run))
        assert row is not None  # run_id checked it
        info: dict[str, Any] = json.loads(row[0])
        return info

    def run_id(self, run: str) -> str:
        """The id of the run that is meant: itself, or the latest for `"last"`."""
        if run == "last":
            row = self._one("SELECT id FROM runs ORDER BY started DESC LIMIT 1")
        else:
            row = self._one("SELECT id FROM runs WHERE id = ?", run)
        if row is None:
            known = [name for (name,) in self._all("SELECT id FROM runs ORDER BY started DESC LIMIT 5")]
            there = f"; the latest are {', '.join(known)}" if known else "; it holds no runs yet"
            raise InputError(f"run {run!r} is not in the store {str(self.path)!r}{there}")
        return str(row[0])

    def put_row(self, run: str, number: int, scored: ScoredSample) -> None:
        """Keep one scored row; the row with the same number is replaced."""
        self._write(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)",
            run,
            number,
            scored.sample.id,
            json.dumps(scored.sample.to_dict(), ensure_ascii=False),
            json.dumps({name: score.to_dict() for name, score in scored.scores.items()}, ensure_ascii=False),
        )

    def merge_row(self, run: str, scored: ScoredSample) -> int:
        """Keep one scored sample under its key: a new row at the end, or new scores on the row that it has already.

        Scores of metrics that are not among the new ones stay. Returns the row's number. Safe with several processes.
        """
        key = scored.sample.key()
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                query = "SELECT number, scores FROM rows WHERE run = ? AND id = ?"
                found = self._db.execute(query, (run, key)).fetchone()
                last = "SELECT COALESCE(MAX(number), 0) FROM rows WHERE run = ?"
                number = found[0] if found else self._db.execute(last, (run,)).fetchone()[0] + 1
                scores = json.loads(found[1]) if found else {}
                scores |= {name: score.to_dict() for name, score in scored.scores.items()}
                self._db.execute(
                    "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)",
                    (
                        run,
                        number,
                        key,
                        json.dumps(scored.sample.to_dict(), ensure_ascii=False),
                        json.dumps(scores, ensure_ascii=False),
                    ),
                )
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        return int(number)

    def rows(self, run: str) -> Iterator[Row]:
        """The scored rows of a run, in the order of the data; read in pages, so that memory stays flat."""
        last = -1
        while True:
            page = self._all(
                "SELECT number, sample, scores FROM rows WHERE run = ? AND number > ? ORDER BY number LIMIT 500",
                run,
                last,
            )
            if not page:
                return
            for row in page:
                yield _row(*row)
            last = page[-1][0]

    def get_row(self, run: str, row: int | str) -> Row:
        """One row by its id or its number (from 1). An id that looks like a number wins over the number."""
        found = self._one("SELECT number, sample, scores FROM rows WHERE run = ? AND id = ?", run, str(row))
        if found is None and str(row).isdecimal():
            found = self._one("SELECT number, sample, scores FROM rows WHERE run = ? AND number = ?", run, int(row))
        if found is None:
            (count, last) = self._one("SELECT COUNT(*), MAX(number) FROM rows WHERE run = ?", run) or (0, None)
            there = f"it has {count} rows, numbered up to {last}" if count else "it has no rows yet"
            raise InputError(f"row {row!r} is not in run {run!r}: {there}")
        return _row(*found)

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()


def _row(number: int, sample: str, scores: str) -> Row:
    loaded = {name: Score.from_dict(score) for name, score in json.loads(scores).items()}
    return Row(number, ScoredSample(sample=Sample.from_dict(json.loads(sample)), scores=loaded))
