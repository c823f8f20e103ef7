"""The store: findings, runs and scored rows in one SQLite file.

Findings are content-addressed, so a rerun asks the judge only for what is missing, whatever the rows or metrics are
this time. Every write is a transaction of its own in WAL mode: `kill -9` loses nothing that was written, and several
processes may share the file. No pickle: findings, samples and scores are JSON, compressed.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from assay.cleaning import well_formed
from assay.database import Database, as_store_error
from assay.errors import InputError, StoreError
from assay.forks import own_lock
from assay.packing import key_hash, pack, to_json, unpack
from assay.records import ScoredSample
from assay.store_rows import Row as Row
from assay.store_rows import clean, is_readable, known_scores, packed, put_row, row_of, scores_of
from assay.store_schema import MARKER, SCHEMA, SCHEMA_VERSION, maker, migrate, version_of

log = logging.getLogger("assay.store")

FILE_NAME = "assay.db"
PAGE = 500  # rows read at a time
NOTED = 64  # findings found by a run before the store is told of them, if no row is kept meanwhile

#: A finding to keep: its content address, the inquiry's name, the judge's fingerprint, and the finding as JSON.
Finding = tuple[str, str, str, bytes]


class Store:
    """A store in the folder `path` (made if needed), or in the file `path` if it ends in `.db`.

    Folder and file are made for their owner alone (0700, 0600). Usable from several threads, and on both sides of a
    fork. A store of an earlier version is brought to this one when it is opened. Every method raises StoreError, naming
    the file and what is wrong with it, where it cannot be read or written; what was written before stays.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.path = path if path.suffix == ".db" else path / FILE_NAME
        self._file = Database(
            self.path, SCHEMA, MARKER, version=SCHEMA_VERSION, timeout=30, migrate=migrate, version_of=version_of
        )
        self._file.create("store ")
        self._used: dict[str, list[bytes]] = {}  # keys of findings found by runs, not noted yet
        self._lock = own_lock(self)

    @classmethod
    def temporary(cls) -> Store:
        """A store that is deleted when it is closed or no longer used."""
        folder = tempfile.TemporaryDirectory(prefix="assay-")
        store = cls(folder.name)
        store._folder = folder
        return store

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Let go of the file; a temporary store is deleted. The next use opens it again. Closing twice is fine."""
        self._file.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._saying("read"):
            return self._file.rows(sql, *values)

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        found = self._all(sql, *values)
        return found[0] if found else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._saying("written"), self._file.write() as db:
            yield db

    def _saying(self, what: str) -> AbstractContextManager[None]:
        return as_store_error(f"store {str(self.path)!r} cannot be {what}")

    @cached_property
    def secret(self) -> bytes:
        """Random bytes of this store, made when they are first asked for: what the fences of prompts are made with."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('secret', ?)", (os.urandom(32).hex(),))
            (kept,) = db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
        return bytes.fromhex(kept)

    # ---- findings

    def get_finding(self, key: str) -> bytes | None:
        """The finding stored under this content address, as JSON; None when there is none that can be read."""
        row = self._one("SELECT finding FROM findings WHERE key = ?", key_hash(key))
        try:
            return None if row is None else unpack(row[0])
        except ValueError as error:  # asked again, and then replaced
            log.warning("assay: store %s: a finding cannot be read: %s", self.path, error)
            return None

    def put_finding(self, key: str, inquiry: str, judge: str, finding: bytes) -> None:
        """Keep a finding. It survives `kill -9` when this returns."""
        self.put_findings([(key, inquiry, judge, finding)])

    def put_findings(self, findings: Iterable[Finding], run: str | None = None) -> None:
        """Keep several findings, all or none, and that `run` used them. They survive `kill -9` when this returns."""
        now = time.time()
        packed = [(key_hash(key), inquiry, judge, pack(finding)) for key, inquiry, judge, finding in findings]
        if not packed:
            return
        with self._writing() as db:
            db.executemany(
                "INSERT INTO findings (key, maker, at, finding) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "maker = excluded.maker, at = excluded.at, finding = excluded.finding",
                [(key, maker(db, inquiry, judge), now, blob) for key, inquiry, judge, blob in packed],
            )
            if run is not None:
                _note(db, run, [key for key, *_ in packed])

    def findings(self, run: str) -> RunFindings:
        """The findings, for a judge's cache, with a note of which of them this run used: `forget(run=)` goes by it."""
        return RunFindings(self, run)

    def judges(self) -> dict[str, int]:
        """How many findings each judge has here, by its fingerprint; the one with the most first."""
        sql = "SELECT judge, COUNT(*) FROM findings JOIN makers ON makers.number = maker GROUP BY judge"
        return dict(self._all(sql + " ORDER BY COUNT(*) DESC, judge"))

    def forget(
        self,
        *,
        inquiry: str | None = None,
        judge: str | None = None,
        run: str | None = None,
        key: str | None = None,
        before: float | None = None,
        dry_run: bool = False,
    ) -> int:
        """Delete findings, so that they are asked for again; how many. Conditions narrow each other.

        inquiry  the name of an inquiry, as "claims"
        judge    a judge's fingerprint, or its readable beginning: "openai/MODEL", "openai/MODEL@ADDRESS"
        run      those that this run used, whoever asked for them first. Its rows stay: see `delete_run`
        key      a content address
        before   those kept before this time, in seconds since 1970
        dry_run  only count them

        Raises InputError without any condition, and for a run that is not there. Findings that a run used before
        assay noted that (stores of version 1) are not found by `run`.
        """
        where, values = self._conditions(inquiry, judge, run, key, before)
        if not where:
            raise InputError("forget: say what: inquiry=, judge=, run=, key= or before=")
        condition = " AND ".join(where)
        if dry_run:
            found = self._one(f"SELECT COUNT(*) FROM findings WHERE {condition}", *values)
            return int(found[0]) if found else 0
        with self._writing() as db:  # notes of who used them go with the run: their numbers are never given again
            return db.execute(f"DELETE FROM findings WHERE {condition}", values).rowcount

    def _conditions(
        self, inquiry: str | None, judge: str | None, run: str | None, key: str | None, before: float | None
    ) -> tuple[list[str], list[Any]]:
        where: list[str] = []
        values: list[Any] = []
        if inquiry is not None or judge is not None:
            makers = [
                number
                for number, asked, by in self._all("SELECT number, inquiry, judge FROM makers")
                if inquiry in (None, asked) and (judge is None or is_judge(by, judge))
            ]
            where.append(f"maker IN ({', '.join('?' * len(makers))})")
            values += makers
        if run is not None:
            where.append("number IN (SELECT finding FROM used JOIN runs ON runs.number = run WHERE id = ?)")
            values.append(self.run_id(run))
        if key is not None:
            where.append("key = ?")
            values.append(key_hash(key))
        if before is not None:
            where.append("at < ?")
            values.append(before)
        return where, values

    # ---- runs and their rows

    def create_run(self, run: str, info: Mapping[str, Any]) -> None:
        """Start a run. Raises InputError when there is one of this name: two runs never mix their rows."""
        with self._writing() as db:
            try:
                sql = "INSERT INTO runs (id, started, info) VALUES (?, ?, ?)"
                db.execute(sql, (run, time.time(), to_json(info)))
            except sqlite3.IntegrityError:
                there = f"run: {run!r} is in the store {str(self.path)!r} already"
                raise InputError(f"{there}; take another name, or delete it first with Store.delete_run") from None

    def put_run(self, run: str, info: Mapping[str, Any]) -> None:
        """Update what is known about a run; it is started if it is not there."""
        sql = (
            "INSERT INTO runs (id, started, info) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET info = excluded.info"
        )
        with self._writing() as db:
            db.execute(sql, (run, time.time(), to_json(info)))
            self._note_used(db, run)

    def has_run(self, run: str) -> bool:
        """Whether a run of this name was started, or has rows."""
        sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?) OR EXISTS (SELECT 1 FROM rows WHERE run = ?)"
        return self._one(sql, run, run) == (1,)

    def delete_run(self, run: str) -> int:
        """Delete a run and its rows; how many rows. Its findings stay: see `forget`. InputError: it is not there."""
        if not self.has_run(run):
            run = self.run_id(run)  # "last", or an error that names what is there
        with self._writing() as db:
            db.execute("DELETE FROM used WHERE run IN (SELECT number FROM runs WHERE id = ?)", (run,))
            db.execute("DELETE FROM runs WHERE id = ?", (run,))
            return db.execute("DELETE FROM rows WHERE run = ?", (run,)).rowcount

    def get_run(self, run: str) -> dict[str, Any]:
        """What is known about a run. `"last"` is the one started last. Raises InputError for an unknown run."""
        row = self._one("SELECT info FROM runs WHERE id = ?", self.run_id(run))
        assert row is not None  # run_id checked it
        info: dict[str, Any] = json.loads(row[0])
        return info

    def runs(self) -> list[tuple[str, float, dict[str, Any], int]]:
        """Every run, the one started last first: its id, when it began (seconds since 1970), what is known about it,
        and how many rows it has.
        """
        sql = "SELECT id, started, info, (SELECT COUNT(*) FROM rows WHERE run = runs.id) FROM runs ORDER BY number DESC"
        return [(run, started, json.loads(info), rows) for run, started, info, rows in self._all(sql)]

    def run_started(self, run: str) -> float | None:
        """When a run began, in seconds since 1970; None where there is none of this id."""
        row = self._one("SELECT started FROM runs WHERE id = ?", run)
        return None if row is None else float(row[0])

    def ids_of_several(self, run: str, most: int = 5) -> list[tuple[str, list[int]]]:
        """Ids that stand on more than one row of a run, up to `most` of them, each with the numbers of its rows."""
        sql = "SELECT id FROM rows WHERE run = ? AND id IS NOT NULL GROUP BY id HAVING COUNT(*) > 1"
        numbers = "SELECT number FROM rows WHERE run = ? AND id = ? ORDER BY number"
        return [
            (name, [number for (number,) in self._all(numbers, run, name)])
            for (name,) in self._all(f"{sql} ORDER BY MIN(number) LIMIT ?", run, most)
        ]

    def run_id(self, run: str) -> str:
        """The id of the run that is meant: itself, or for `"last"` the one started last, whatever the clock said."""
        if run == "last":
            row = self._one("SELECT id FROM runs ORDER BY number DESC LIMIT 1")
        else:
            row = self._one("SELECT id FROM runs WHERE id = ?", well_formed(run))
        if row is None:
            known = [name for (name,) in self._all("SELECT id FROM runs ORDER BY number DESC LIMIT 5")]
            there = f"; the latest are {', '.join(known)}" if known else "; it holds no runs yet"
            raise InputError(f"run {run!r} is not in the store {str(self.path)!r}{there}")
        return str(row[0])

    def put_row(self, run: str, number: int, scored: ScoredSample) -> None:
        """Keep one scored row; the row with the same number is replaced."""
        body = packed(scored.sample.to_dict(), scores_of(scored))
        with self._writing() as db:
            put_row(db, run, number, clean(scored.sample.id), body)
            self._note_used(db, run)

    def put_rows(self, run: str, rows: Iterable[tuple[int, ScoredSample]]) -> None:
        """Keep several scored rows by their numbers, all or none."""
        bodies = [
            (number, clean(scored.sample.id), packed(scored.sample.to_dict(), scores_of(scored)))
            for number, scored in rows
        ]
        with self._writing() as db:
            for number, name, body in bodies:
                put_row(db, run, number, name, body)

    def merge_row(self, run: str, scored: ScoredSample) -> int:
        """Keep one scored sample under its key: a new row at the end, or new scores on the row that it has already.

        Scores of metrics that are not among the new ones stay. Returns the row's number. Safe with several processes.
        """
        key, sample, scores = clean(scored.sample.key()), scored.sample.to_dict(), scores_of(scored)
        with self._writing() as db:
            found = db.execute("SELECT number, body FROM rows WHERE run = ? AND id = ?", (run, key)).fetchone()
            last = "SELECT COALESCE(MAX(number), 0) FROM rows WHERE run = ?"
            number = found[0] if found else db.execute(last, (run,)).fetchone()[0] + 1
            put_row(db, run, number, key, packed(sample, {**(known_scores(found[1]) if found else {}), **scores}))
        return int(number)

    def rows(self, run: str) -> Iterator[Row]:
        """The scored rows of a run, in the order of the data; read in pages, so that memory stays flat.

        Rows that cannot be read are left out with a warning in the log: `unreadable` names them.
        """
        for number, body in self._bodies(run):
            try:
                yield row_of(number, body)
            except Exception as error:  # whatever is wrong with it, it is wrong with this row alone
                log.warning("assay: store %s: run %s, row %d cannot be read: %s", self.path, run, number, error)

    def numbers(self, run: str) -> list[int]:
        """The numbers of the rows of a run, those that cannot be read among them."""
        return [number for (number,) in self._all("SELECT number FROM rows WHERE run = ? ORDER BY number", run)]

    def unreadable(self, run: str) -> list[int]:
        """The numbers of the rows of a run that cannot be read. `get_row` says what is wrong with one of them."""
        return [number for number, body in self._bodies(run) if not is_readable(number, body)]

    def get_row(self, run: str, row: int | str) -> Row:
        """One row by its id or its number (from 1). An id that looks like a number wins over the number.

        "row:3" is the row of this number whatever the ids are, unless one is "row:3". Of several rows with the same id
        it is the first. Raises InputError when there is none, StoreError when it cannot be read.
        """
        sql = "SELECT number, body FROM rows WHERE run = ? AND "
        found = self._one(sql + "id = ? ORDER BY number LIMIT 1", run, clean(str(row)))
        number = str(row).removeprefix("row:")
        if found is None and number.isdecimal():
            found = self._one(sql + "number = ?", run, int(number) if len(number) < 19 else -1)
        if found is None:
            (count, last) = self._one("SELECT COUNT(*), MAX(number) FROM rows WHERE run = ?", run) or (0, None)
            there = f"it has {count} rows, numbered up to {last}" if count else "it has no rows yet"
            raise InputError(f"row {row!r} is not in run {run!r}: {there}")
        try:
            return row_of(*found)
        except Exception as error:
            where = f"store {str(self.path)!r}: run {run!r}, row {found[0]} cannot be read"
            raise StoreError(f"{where}: {error}") from error

    def _bodies(self, run: str) -> Iterator[tuple[int, bytes]]:
        last = -1
        sql = f"SELECT number, body FROM rows WHERE run = ? AND number > ? ORDER BY number LIMIT {PAGE}"
        while page := self._all(sql, run, last):
            yield from page
            last = page[-1][0]

    # ---- which findings a run used

    def _found(self, run: str, key: str) -> None:
        """This run has taken up a finding: noted with its next row, or when they are many."""
        with self._lock:
            waiting = self._used.setdefault(run, [])
            waiting.append(key_hash(key))
            if len(waiting) < NOTED:
                return
        try:
            with self._writing() as db:
                self._note_used(db, run)
        except StoreError as error:  # nobody asked to write
            log.warning("assay: which findings run %s used cannot be noted: %s", run, error)

    def _note_used(self, db: sqlite3.Connection, run: str) -> None:
        with self._lock:
            keys = self._used.pop(run, None)
        if keys:
            _note(db, run, keys)


class RunFindings:
    """The findings of a store as one run uses them. See `Store.findings`."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run

    @property
    def secret(self) -> bytes:
        """See `Store.secret`."""
        return self._store.secret

    def get_finding(self, key: str) -> bytes | None:
        """See `Store.get_finding`."""
        found = self._store.get_finding(key)
        if found is not None:
            self._store._found(self._run, key)
        return found

    def put_finding(self, key: str, inquiry: str, judge: str, finding: bytes) -> None:
        """See `Store.put_finding`."""
        self.put_findings([(key, inquiry, judge, finding)])

    def put_findings(self, findings: Iterable[Finding]) -> None:
        """See `Store.put_findings`."""
        self._store.put_findings(findings, self._run)


def is_judge(fingerprint: str, name: str) -> bool:
    """Whether `name` is this fingerprint, or a beginning of it that ends where a part ends."""
    return fingerprint == name or (fingerprint.startswith(name) and fingerprint[len(name)] in "@#")


def _note(db: sqlite3.Connection, run: str, keys: Sequence[bytes]) -> None:
    sql = "INSERT OR IGNORE INTO used SELECT runs.number, findings.number FROM runs, findings WHERE id = ? AND key = ?"
    db.executemany(sql, [(run, key) for key in keys])
