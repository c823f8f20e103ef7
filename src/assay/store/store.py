"""The store: judgements, runs and scored rows, in one SQLite file or in a PostgreSQL database.

Judgements are content-addressed, so a rerun asks the judge only for what is missing, whatever the rows or metrics are
this time. Every write is a transaction of its own: `kill -9` loses nothing that was written, and several processes may
share the store. No pickle: judgements, samples and scores are JSON, compressed.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, Self, TypeVar

from assay._util.call_repr import call_repr
from assay._util.compression import key_hash, pack, to_json, unpack
from assay._util.forks import own_lock
from assay._util.normalise import well_formed
from assay.errors import InputError, RunReplacedError, StoreError
from assay.records import ScoredSample, Usage
from assay.records.migration import VERSION, VERSION_KEY, migrate_run
from assay.store.digests import RowDigests, text_digest
from assay.store.group_writer import GroupWriter, Judgement, note_used
from assay.store.merging import MergedRow, merge_rows
from assay.store.rows import (
    PAGE,
    PackedRow,
    clean,
    count_rows,
    digest_of_rows,
    in_pages,
    is_readable,
    put_rows,
    row_of,
    usages_of,
    which_run,
)
from assay.store.rows import Row as Row
from assay.store.schema import FileTables, source_number
from assay.store.score_columns import delete_columns, delete_stray_columns
from assay.store.tables import FILE_NAME as FILE_NAME
from assay.store.tables import Statements, Tables, file_of, is_database, url_of

log = logging.getLogger("assay.store")

T = TypeVar("T")

NOTED = 64  # judgements found by a run before the store is told of them, if no row is kept meanwhile

#: A run without rows, or with those that were written before it: then they are counted, and have no digest.
_NEW_RUN = (
    "INSERT INTO runs (id, started, info, info_digest, saved, digest, scores_digest) SELECT ?, ?, ?, ?, COUNT(*), "
    "CASE COUNT(*) WHEN 0 THEN 0 END, CASE COUNT(*) WHEN 0 THEN 0 END FROM rows WHERE rows.run = ?"
)
_COUNTS = "(SELECT COUNT(*) FROM rows WHERE rows.run = runs.id), saved, pruned, digest"
#: Names in the table of rows that are not in that of runs. The names are looked up one after the other by the index: to
#: read all rows would take seconds.
_LOST_RUNS = (
    "WITH RECURSIVE names (run) AS (SELECT MIN(run) FROM rows UNION ALL "
    "SELECT (SELECT MIN(run) FROM rows WHERE rows.run > names.run) FROM names WHERE names.run IS NOT NULL) "
    "SELECT run FROM names WHERE run IS NOT NULL AND run NOT IN (SELECT id FROM runs) ORDER BY run"
)
_MOST_MISSING = 10_000_000  # rows of a run, or a hundred times those that are there
#: Why a run did not finish of which nothing else is known.
DAMAGED = "what is known about it is damaged"


class RowCounts(NamedTuple):
    """The number of rows of a run.

    Attributes:
        stored: Rows in the table, also those that cannot be read.
        saved: Rows that were written; None for runs of an earlier assay, which did not count.
        pruned: Rows that were deleted to make the store smaller.
        digest: The sum of the digests of the rows that should be there; None where it is unknown.
    """

    stored: int
    saved: int | None
    pruned: int = 0
    digest: int | None = None

    @property
    def missing(self) -> int:
        """Rows that were written, and are neither in the table nor pruned."""
        return max(0, (self.saved or 0) - self.pruned - self.stored)


class StoredRun(NamedTuple):
    """A run of a store: its id, its start (seconds since 1970), what is known about it, and its number of rows."""

    id: str
    started: float
    info: dict[str, Any]
    rows: RowCounts


class Store:
    """Runs, rows and cached judgements: in a folder, a file or a PostgreSQL database.

    A folder and a file are made for their owner alone (0700, 0600). A store is usable from several threads, and on both
    sides of a fork. A store of an earlier version is migrated when it is opened. Every method raises StoreError, naming
    the store and what is wrong with it, where it cannot be read or written; what was written before stays.

    Args:
        path: A folder (made if needed), a file that ends in `.db`, or `postgresql://USER@HOST/DATABASE` (see
            `assay.store.postgres`).

    Attributes:
        address: What opens it again, with the password of a database if one was in it.
        name: What messages call it.
        folder: Where files of its runs lie that are no judgement or row: batches, jobs.
    """

    def __init__(self, path: str | Path) -> None:
        self._tables = _tables_at(path)
        self.name: str = self._tables.name
        self.folder: Path = self._tables.folder
        self.address: str | Path = url_of(path) if is_database(path) else Path(self.name)
        self._tables.create()
        self._used: dict[str, list[bytes]] = {}  # keys of judgements found by runs, not noted yet
        self._lock = own_lock(self)

    def __repr__(self) -> str:
        return call_repr(self, self.name)

    def close(self) -> None:
        """Let go of it; a temporary store is deleted. The next use opens it again. Closing twice is fine."""
        self._tables.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query over the tables of `assay.store.schema`.

        Args:
            sql: The query.
            values: Values for its `?`.

        Returns:
            All rows.
        """
        self._write_held()
        return self._query(sql, *values)

    def _write_held(self) -> None:
        """Before rows are read or changed: write those that are held in memory. Only a temporary store holds any."""

    def _query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """A query that touches no rows."""
        with self._tables.saying("read"):
            return self._tables.rows(sql, *values)

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        found = self.query(sql, *values)
        return found[0] if found else None

    def write(self, work: Callable[[Statements], T]) -> T:
        """Do something in one transaction, whole or not at all. It may be done twice: see `Tables.transact`.

        Args:
            work: Function of the transaction's statements.

        Returns:
            What the function returns.
        """
        self._write_held()
        return self._write(work)

    def _write(self, work: Callable[[Statements], T]) -> T:
        """A transaction that touches no rows."""
        with self._tables.saying("written"):
            return self._tables.transact(work)

    def size(self) -> int:
        """Measure the store.

        Returns:
            Bytes: of a file without free pages, of a database judgements and rows alone.
        """
        with self._tables.saying("read"):
            return self._tables.size()

    def shrink(self) -> None:
        """Give the disk back what was deleted. A file is rewritten; a database's server sees to it by itself."""
        with self._tables.saying("written"):
            self._tables.shrink()

    @cached_property
    def secret(self) -> bytes:
        """Random bytes of this store, made when they are first asked for: what the fences of prompts are made with."""
        drawn = os.urandom(32).hex()

        def keep(db: Statements) -> str:
            db.execute("INSERT INTO meta VALUES ('secret', ?) ON CONFLICT DO NOTHING", (drawn,))
            return str(db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()[0])

        return bytes.fromhex(self._write(keep))

    # ---- judgements

    def get_judgement(self, key: str) -> bytes | None:
        """Look up a judgement.

        Args:
            key: Its content address.

        Returns:
            The judgement as JSON; None where there is none that can be read.
        """
        found = self._query("SELECT judgement FROM judgements WHERE key = ?", key_hash(key))
        try:
            return unpack(found[0][0]) if found else None
        except ValueError as error:  # asked again, and then replaced
            log.warning("assay: store %s: a judgement cannot be read: %s", self.name, error)
            return None

    def get_judgements(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Look up several judgements.

        Args:
            keys: Their content addresses.

        Returns:
            Content address -> the judgement as JSON, of those that there are and that can be read.
        """
        found: dict[str, bytes] = {}
        by_hash = {key_hash(key): key for key in keys}
        for start in range(0, len(by_hash), PAGE):
            some = list(by_hash)[start : start + PAGE]
            sql = f"SELECT key, judgement FROM judgements WHERE key IN ({', '.join('?' * len(some))})"
            for hashed, blob in self._query(sql, *some):
                try:
                    found[by_hash[bytes(hashed)]] = unpack(blob)
                except ValueError as error:
                    log.warning("assay: store %s: a judgement cannot be read: %s", self.name, error)
        return found

    def put_judgement(self, key: str, prompt: str, judge: str, judgement: bytes) -> None:
        """Keep a judgement. It survives `kill -9` when this returns.

        Args:
            key: Its content address.
            prompt: Name of the judge prompt.
            judge: Fingerprint of the judge.
            judgement: The judgement as JSON.
        """
        self.put_judgements([(key, prompt, judge, judgement)])

    def put_judgements(self, judgements: Iterable[Judgement], run: str | None = None) -> None:
        """Keep several judgements, all or none. They survive `kill -9` when this returns.

        Args:
            judgements: The judgements.
            run: A run that used them.
        """
        now = time.time()
        last = {key_hash(key): (prompt, judge, pack(judgement)) for key, prompt, judge, judgement in judgements}
        packed = sorted((key, *rest) for key, rest in last.items())  # all who write the same ones in one order
        if not packed:
            return
        who = sorted({(prompt, judge) for _, prompt, judge, _ in packed})

        def put(db: Statements) -> None:
            sources = {one: source_number(db, *one) for one in who}
            db.executemany(
                "INSERT INTO judgements (key, source, at, judgement) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET "
                "source = excluded.source, at = excluded.at, judgement = excluded.judgement",
                [(key, sources[prompt, judge], now, blob) for key, prompt, judge, blob in packed],
            )
            if run is not None:
                note_used(db, run, [key for key, *_ in packed])

        self._write(put)

    def judgements(self, run: str) -> RunJudgements:
        """Make the cache of judgements of a run, which notes those that the run uses: `forget(run=)` needs that.

        Args:
            run: Name of the run.

        Returns:
            The cache.
        """
        return RunJudgements(self, run)

    def group_writer(self, run: str, started: float | None) -> GroupWriter | None:
        """Make what writes rows and judgements of a run in groups.

        Args:
            run: Name of the run.
            started: Start of the run that is meant, as `create_run` returned it.

        Returns:
            The writer; None where rows are held in memory.
        """
        return GroupWriter(self, run, started)

    def judges(self) -> dict[str, int]:
        """Count the judgements of each judge.

        Returns:
            Fingerprint of a judge -> number of its judgements, the most first.
        """
        sql = "SELECT judge, COUNT(*) FROM judgements JOIN sources ON sources.number = source GROUP BY judge"
        return dict(self.query(sql + " ORDER BY COUNT(*) DESC, judge"))

    def forget(
        self,
        *,
        prompt: str | None = None,
        judge: str | None = None,
        run: str | None = None,
        key: str | None = None,
        before: float | None = None,
        dry_run: bool = False,
    ) -> int:
        """Delete judgements, so that they are asked for again. Conditions narrow each other.

        Judgements that a run used before stores kept that (version 1) are not found by `run`.

        Args:
            prompt: Name of a judge prompt, such as "claims".
            judge: Fingerprint of a judge, or its readable beginning: "openai/MODEL", "openai/MODEL@ADDRESS".
            run: Judgements that this run used, whoever asked for them first. Its rows stay: see `delete_run`.
            key: A content address.
            before: Judgements kept before this time, in seconds since 1970.
            dry_run: Only count them.

        Returns:
            The number of judgements.

        Raises:
            InputError: There is no condition, or no such run.
        """
        where, values = self._conditions(prompt, judge, run, key, before)
        if not where:
            raise InputError("forget: say what: prompt=, judge=, run=, key= or before=")
        condition = " AND ".join(where)
        if dry_run:
            found = self._one(f"SELECT COUNT(*) FROM judgements WHERE {condition}", *values)
            return int(found[0]) if found else 0
        # notes of who used them go with the run: their numbers are never given again
        return self.write(lambda db: db.execute(f"DELETE FROM judgements WHERE {condition}", values).rowcount)

    def _conditions(
        self, prompt: str | None, judge: str | None, run: str | None, key: str | None, before: float | None
    ) -> tuple[list[str], list[Any]]:
        where: list[str] = []
        values: list[Any] = []
        if prompt is not None or judge is not None:
            sources = [
                number
                for number, asked, by in self.query("SELECT number, prompt, judge FROM sources")
                if prompt in (None, asked) and (judge is None or is_judge(by, judge))
            ]
            where.append(f"source IN ({', '.join('?' * len(sources)) or 'NULL'})")
            values += sources
        if run is not None:
            where.append("number IN (SELECT judgement FROM run_judgements JOIN runs ON runs.number = run WHERE id = ?)")
            values.append(self.run_id(run))
        if key is not None:
            where.append("key = ?")
            values.append(key_hash(key))
        if before is not None:
            where.append("at < ?")
            values.append(before)
        return where, values

    # ---- runs and their rows

    def create_run(self, run: str, info: Mapping[str, Any]) -> float:
        """Start a run.

        Args:
            run: Name of the run.
            info: What is known about it, as JSON values.

        Returns:
            The start of the run, in seconds since 1970: it tells the run from another of the same name.

        Raises:
            InputError: There is a run of this name: two runs never mix their rows.
        """
        sql, text = f"{_NEW_RUN} ON CONFLICT (id) DO NOTHING", to_json({**info, VERSION_KEY: VERSION})
        values = (run, time.time(), text)
        made = self.write(lambda db: db.execute(sql, (*values, text_digest(text), run)).rowcount)
        if not made and self._one("SELECT id, started, info FROM runs WHERE id = ?", run) != values:  # not done twice
            there = f"run: {run!r} is in the store {self.name!r} already"
            raise InputError(f"{there}; take another name, or delete it first with Store.delete_run")
        self._tables.settle()  # else a copy of the file alone would not know that there is a run after the one before
        return values[1]

    def put_run(self, run: str, info: Mapping[str, Any], *, started: float | None = None) -> None:
        """Update what is known about a run; it is started if it is not there.

        Args:
            run: Name of the run.
            info: What is known about it, as JSON values.
            started: Start of the run that is meant, as `create_run` returned it.

        Raises:
            RunReplacedError: The run that was started then is not there any more.
        """
        text, used = to_json({**info, VERSION_KEY: VERSION}), self.used_by(run)
        known, (this, meant) = (text, text_digest(text)), which_run(run, started)
        changed = "info = excluded.info, info_digest = excluded.info_digest"

        def put(db: Statements) -> None:
            if started is None:
                new = f"{_NEW_RUN} ON CONFLICT (id) DO UPDATE SET {changed}"
                db.execute(new, (run, time.time(), *known, run))
            elif not db.execute(f"UPDATE runs SET info = ?, info_digest = ? WHERE {this}", (*known, *meant)).rowcount:
                raise RunReplacedError(run)
            note_used(db, run, used)

        self._write(put)

    def has_run(self, run: str) -> bool:
        """Check whether a run of this name was started, or has rows.

        Args:
            run: Name of the run.

        Returns:
            Whether it is there.
        """
        sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?) OR EXISTS (SELECT 1 FROM rows WHERE run = ?)"
        return self._one(sql, well_formed(run), well_formed(run)) == (1,)

    def integrity_errors(self) -> list[str]:
        """Ask the database what it finds damaged.

        Returns:
            At most twenty sentences; none where it finds nothing, or does not look for that (PostgreSQL).
        """
        with self._tables.saying("read"):
            return self._tables.integrity_errors()

    def restore_rows(self, run: str, rows: Iterable[tuple[int, ScoredSample]], delete: Sequence[int] = ()) -> None:
        """Write rows again that a run has lost: they count no second time.

        Args:
            run: Name of the run.
            rows: Pairs of a number and a sample with its scores. With them the run has all rows that were saved, or its
                digest stays unknown.
            delete: Numbers of rows that do not belong to the run.
        """
        bodies = [PackedRow.of(number, scored) for number, scored in rows]

        def restore(db: Statements) -> None:
            counts = f"SELECT {_COUNTS} FROM runs WHERE id = ?"
            before = RowCounts(*db.execute(counts, (run,)).fetchone())
            for number in delete:
                db.execute("DELETE FROM rows WHERE run = ? AND number = ?", (run, number))
            count_rows(db, run, 0, 0, -delete_stray_columns(db, run))
            put_rows(db, run, bodies)
            after = RowCounts(*db.execute(counts, (run,)).fetchone())
            saved = None if before.saved is None else max(before.saved, after.stored)
            pruned = min(before.pruned, (saved or 0) - after.stored)  # some may be back
            digest = digest_of_rows(db, run) if saved == after.stored + pruned else None
            sql = "UPDATE runs SET saved = ?, pruned = ?, digest = ? WHERE id = ?"
            db.execute(sql, (saved, max(0, pruned), digest, run))

        self.write(restore)

    def delete_run(self, run: str) -> int:
        """Delete a run and its rows. Its judgements stay: see `forget`.

        Args:
            run: Name of the run.

        Returns:
            The number of rows that it had.

        Raises:
            InputError: There is no such run.
        """
        if not self.has_run(run):
            run = self.run_id(run)  # "last", or an error that names what is there

        def delete(db: Statements) -> int:
            db.execute("DELETE FROM run_judgements WHERE run IN (SELECT number FROM runs WHERE id = ?)", (run,))
            db.execute("DELETE FROM runs WHERE id = ?", (run,))
            delete_columns(db, run)
            db.execute("DELETE FROM live_counts WHERE run = ?", (run,))
            return db.execute("DELETE FROM rows WHERE run = ?", (run,)).rowcount

        return self.write(delete)

    def get_run(self, run: str) -> dict[str, Any]:
        """Read what is known about a run.

        Args:
            run: Name of the run, or "last" for the one started last.

        Returns:
            JSON values.

        Raises:
            InputError: There is no such run.
            StoreError: It is damaged.
        """
        row = self._one("SELECT info, info_digest FROM runs WHERE id = ?", self.run_id(run))
        assert row is not None  # run_id checked it
        return self._info(run, *row)

    def _info(self, run: str, text: str, digest: int | None) -> dict[str, Any]:
        try:
            if digest not in (None, text_digest(text)):
                raise ValueError("it is not what was written")
            return migrate_run(json.loads(text), f"run {run!r}")
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreError(f"store {self.name!r}: run {run!r}: what is known about it is damaged: {error}") from None

    def runs(self) -> list[StoredRun]:
        """List the runs.

        Returns:
            Every run, the one started last first. Where what is known about one is damaged, `info` has only `stopped`.
        """
        sql = f"SELECT id, started, info, info_digest, {_COUNTS} FROM runs ORDER BY number DESC"
        return [self._stored_run(*row) for row in self.query(sql)]

    def _stored_run(self, run: Any, started: Any, text: Any, digest: Any, *counts: Any) -> StoredRun:
        """A row of the table, whatever damage put there."""
        try:
            if not isinstance(run, str) or not isinstance(started, (int, float)):
                raise StoreError(
                    f"store {self.name!r}: the name or the start of a run is damaged: {run!r}, {started!r}"
                )
            return StoredRun(run, started, self._info(run, text, digest), self._counts(run, counts))
        except StoreError as error:
            log.warning("assay: %s", error)
            info = {"judge": "", "metrics": [], "stopped": DAMAGED}
            began = float(started) if isinstance(started, (int, float)) else 0.0
            return StoredRun(run if isinstance(run, str) else repr(run), began, info, RowCounts(0, None))

    def _counts(self, run: str, counts: Sequence[Any]) -> RowCounts:
        """The counts of a run. Raises StoreError where they cannot be: the rows that are lost would fill the memory."""
        stored, saved, pruned, digest = counts
        whole = all(isinstance(one, int) and one >= 0 for one in (stored, pruned, 0 if saved is None else saved))
        found = RowCounts(stored, saved, pruned, digest)
        if not whole or not isinstance(digest, (int, NoneType)) or found.missing > max(_MOST_MISSING, stored * 100):
            raise StoreError(f"store {self.name!r}: run {run!r}: its number of rows is damaged: {saved!r}, {pruned!r}")
        return found

    def row_counts(self, run: str) -> RowCounts:
        """Count the rows of a run.

        Args:
            run: Name of the run.

        Returns:
            How many rows it has, and how many were saved for it.

        Raises:
            StoreError: The counts are damaged.
        """
        found = self._one(f"SELECT {_COUNTS} FROM runs WHERE id = ?", run)
        return RowCounts(0, None) if found is None else self._counts(run, found)

    def run_started(self, run: str) -> float | None:
        """Read when a run began.

        Args:
            run: Name of the run.

        Returns:
            Seconds since 1970; None where there is no such run.

        Raises:
            StoreError: The start is damaged.
        """
        row = self._one("SELECT started FROM runs WHERE id = ?", run)
        if row is None:
            return None
        if not isinstance(row[0], (int, float)):
            raise StoreError(f"store {self.name!r}: run {run!r}: its start is damaged: {row[0]!r}")
        return float(row[0])

    def ids_of_several(self, run: str, most: int = 5) -> list[tuple[str, list[int]]]:
        """Find ids that stand on more than one row of a run.

        Args:
            run: Name of the run.
            most: Number of ids at most.

        Returns:
            Pairs of an id and the numbers of its rows.
        """
        sql = "SELECT id FROM rows WHERE run = ? AND id IS NOT NULL GROUP BY id HAVING COUNT(*) > 1"
        numbers = "SELECT number FROM rows WHERE run = ? AND id = ? ORDER BY number"
        return [
            (name, [number for (number,) in self.query(numbers, run, name)])
            for (name,) in self.query(f"{sql} ORDER BY MIN(number) LIMIT ?", run, most)
        ]

    def run_id(self, run: str) -> str:
        """Resolve the name of a run.

        Args:
            run: A name, or "last" for the run started last, whatever the clock said.

        Returns:
            The name of the run.

        Raises:
            InputError: There is no such run.
            StoreError: The last run cannot be told, because the store has lost one.
        """
        if run == "last":
            if lost := self.lost_runs():
                raise StoreError(
                    f"store {self.name!r}: it has lost what is known about {', '.join(map(repr, lost[:5]))}, of which "
                    "it has rows: which run is the last cannot be told. Name the run"
                )
            row = self._one("SELECT id FROM runs ORDER BY number DESC LIMIT 1")
        else:
            row = self._one("SELECT id FROM runs WHERE id = ?", well_formed(run))
        if row is None:
            known = [str(name) for (name,) in self.query("SELECT id FROM runs ORDER BY number DESC LIMIT 5")]
            there = f"; the latest are {', '.join(known)}" if known else "; it holds no runs yet"
            raise InputError(f"run {run!r} is not in the store {self.name!r}{there}")
        return str(row[0])

    def lost_runs(self) -> list[str]:
        """Find runs of which the store has rows, and has lost what is known about them.

        Returns:
            Their names, in order; empty for a store without damage.
        """
        return [str(name) for (name,) in self.query(_LOST_RUNS)]

    def put_row(
        self, run: str, number: int, scored: ScoredSample, *, started: float | None = None, facts: str | None = None
    ) -> None:
        """Keep one scored row; a row with the same number is replaced.

        Args:
            run: Name of the run.
            number: Number of the row, from 1.
            scored: The sample with its scores.
            started: Start of the run that is meant, as `create_run` returned it.
            facts: See `assay.store.score_columns.RowColumns`.

        Raises:
            RunReplacedError: The run that was started then is not there any more.
        """
        row, used = PackedRow.of(number, scored, facts), self.used_by(run)

        def put(db: Statements) -> None:
            put_rows(db, run, [row], started)
            note_used(db, run, used)

        self.write(put)

    def put_rows(
        self, run: str, rows: Iterable[tuple[int, ScoredSample] | tuple[int, ScoredSample, str]], *,
        started: float | None = None,
    ) -> None:  # fmt: skip
        """Keep several scored rows, all or none.

        Args:
            run: Name of the run.
            rows: For each its number, the sample with its scores and, where they are known, its facts: see
                `assay.store.score_columns.RowColumns`.
            started: Start of the run that is meant, as `create_run` returned it.

        Raises:
            RunReplacedError: The run that was started then is not there any more.
        """
        bodies = [PackedRow.of(*row) for row in rows]
        self.write(lambda db: put_rows(db, run, bodies, started))

    def merge_row(self, run: str, scored: ScoredSample) -> int:
        """Keep one scored sample under its key: a new row at the end, or new scores on the row that it has.

        Scores of metrics that are not among the new ones stay. Safe with several processes.

        Args:
            run: Name of the run.
            scored: The sample with its scores.

        Returns:
            The number of the row.
        """
        return self.merge_rows(run, [scored])[0]

    def merge_rows(self, run: str, group: Sequence[ScoredSample]) -> list[int]:
        """Keep several scored samples under their keys, all or none: see `merge_row`.

        Args:
            run: Name of the run.
            group: The samples with their scores. Of one key the scores of all are kept, and the sample of the last.

        Returns:
            The number of the row of each.
        """
        rows = [MergedRow.of(scored) for scored in group]

        def merge(db: Statements) -> list[int]:
            self._tables.alone(db, f"rows of {run}")
            return merge_rows(db, run, rows)

        return self.write(merge)

    def rows(self, run: str, digests: RowDigests | None = None) -> Iterator[Row]:
        """Iterate over the scored rows of a run, read in pages, so that memory stays flat.

        Rows that cannot be read are left out, with a warning in the log: `unreadable` names them.

        Args:
            run: Name of the run.
            digests: Sums up the digests of all rows, also of those that are left out.

        Returns:
            Rows in the order of the data.
        """
        for number, name, body in self.row_bodies(run):
            if digests is not None:
                digests.add(number, name, body)
            try:
                yield row_of(number, body)
            except Exception as error:  # whatever is wrong with it, it is wrong with this row alone
                log.warning("assay: store %s: run %s, row %d cannot be read: %s", self.name, run, number, error)

    def rows_of(self, run: str, numbers: Sequence[int]) -> Iterator[Row]:
        """Iterate over some rows of a run.

        Rows that cannot be read, or are not there, are left out, with a warning in the log.

        Args:
            run: Name of the run.
            numbers: Their numbers.

        Returns:
            Rows in the order of the numbers.
        """
        yield from (row for _, row in self._read_bodies(run, numbers, row_of))

    def usages(self, run: str, numbers: Sequence[int]) -> Iterator[tuple[int, list[Usage]]]:
        """Iterate over what the scores of some rows took of the judge.

        Rows that cannot be read, or are not there, are left out, with a warning in the log.

        Args:
            run: Name of the run.
            numbers: Numbers of the rows.

        Returns:
            Number of a row and the usage of each of its scores.
        """
        return self._read_bodies(run, numbers, lambda _, body: usages_of(body))

    def _read_bodies(
        self, run: str, numbers: Sequence[int], read: Callable[[int, bytes], T]
    ) -> Iterator[tuple[int, T]]:
        for start in range(0, len(numbers), PAGE):
            some = numbers[start : start + PAGE]
            sql = f"SELECT number, body FROM rows WHERE run = ? AND number IN ({', '.join('?' * len(some))})"
            bodies = dict(self.query(sql, run, *some))
            for number in some:
                try:
                    found = read(number, bodies[number])
                except Exception as error:  # whatever is wrong with it, it is wrong with this row alone
                    log.warning("assay: store %s: run %s, row %d cannot be read: %s", self.name, run, number, error)
                else:
                    yield number, found

    def numbers(self, run: str) -> list[int]:
        """List the numbers of the rows of a run, also of those that cannot be read.

        Args:
            run: Name of the run.

        Returns:
            Numbers in rising order.
        """
        return [number for (number,) in self.query("SELECT number FROM rows WHERE run = ? ORDER BY number", run)]

    def unreadable(self, run: str) -> list[int]:
        """List the rows of a run that cannot be read. `get_row` tells what is wrong with one of them.

        Args:
            run: Name of the run.

        Returns:
            Their numbers.
        """
        return [number for number, _, body in self.row_bodies(run) if not is_readable(number, body)]

    def get_row(self, run: str, row: int | str) -> Row:
        """Look up one row.

        Args:
            run: Name of the run.
            row: Id of the row, or its number from 1. An id that looks like a number wins over the number. "row:3" is
                the row of this number, unless that is an id. Of several rows with the same id it is the first.

        Returns:
            The row.

        Raises:
            InputError: There is no such row.
            StoreError: It cannot be read.
        """
        sql = "SELECT number, body FROM rows WHERE run = ? AND "
        # + 0: else the index of numbers is read from its beginning, for the sake of the order
        found = self._one(sql + "id = ? ORDER BY number + 0 LIMIT 1", run, clean(str(row)))
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
            where = f"store {self.name!r}: run {run!r}, row {found[0]} cannot be read"
            raise StoreError(f"{where}: {error}") from error

    def row_bodies(self, run: str) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a run as they are stored.

        Args:
            run: Name of the run.

        Returns:
            Number, id and body of each row, by number; also of rows that cannot be read.
        """
        sql = f"SELECT number, id, body FROM rows WHERE run = ? AND number > ? ORDER BY number LIMIT {PAGE}"
        return in_pages(lambda last: self.query(sql, run, last))

    # ---- which judgements a run used

    def _found(self, run: str, key: str) -> None:
        """This run has taken up a judgement: noted with its next row, or when they are many."""
        with self._lock:
            waiting = self._used.setdefault(run, [])
            waiting.append(key_hash(key))
            if len(waiting) < NOTED:
                return
        used = self.used_by(run)
        try:
            self._write(lambda db: note_used(db, run, used))
        except StoreError as error:  # nobody asked to write
            log.warning("assay: which judgements run %s used cannot be noted: %s", run, error)

    def used_by(self, run: str) -> list[bytes]:
        """Take the judgements that a run has taken up since this was last asked.

        Args:
            run: Name of the run.

        Returns:
            The hashes of their keys.
        """
        with self._lock:
            return self._used.pop(run, [])


def _tables_at(address: str | Path) -> Tables:
    """Nothing is opened yet. Raises InputError for a URL that cannot be one."""
    if not is_database(address):
        return FileTables(file_of(Path(address)))
    from assay.store.postgres import PostgresTables

    return PostgresTables(url_of(address))


class RunJudgements:
    """The judgements of a store as one run uses them. See `Store.judgements`."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self.writer: GroupWriter | None = None

    @property
    def secret(self) -> bytes:
        """See `Store.secret`."""
        return self._store.secret

    def get_judgement(self, key: str) -> bytes | None:
        """See `Store.get_judgement`."""
        found = self._store.get_judgement(key)
        if found is not None:
            self._store._found(self._run, key)
        return found

    @property
    def is_far(self) -> bool:
        """Whether each query is a round trip to a server."""
        return is_database(self._store.address)

    def get_judgements(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Those of several judgements that are there, by their keys: see `Store.get_judgements`."""
        found = self._store.get_judgements(keys)
        for key in found:
            self._store._found(self._run, key)
        return found

    def put_judgement(self, key: str, prompt: str, judge: str, judgement: bytes) -> None:
        """See `Store.put_judgement`."""
        self.put_judgements([(key, prompt, judge, judgement)])

    def put_judgements(self, judgements: Iterable[Judgement]) -> None:
        """See `Store.put_judgements`."""
        self._store.put_judgements(judgements, self._run)

    def put_soon(self, judgements: Iterable[Judgement]) -> Future[None]:
        """The same, together with what others write: see `GroupWriter.put_judgements`."""
        if self.writer is not None:
            return self.writer.put_judgements(judgements)
        done: Future[None] = Future()
        try:
            self.put_judgements(judgements)
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)
        return done


def is_judge(fingerprint: str, name: str) -> bool:
    """Whether `name` is this fingerprint, or a beginning of it that ends where a part ends."""
    return fingerprint == name or (fingerprint.startswith(name) and fingerprint[len(name)] in "@#")
