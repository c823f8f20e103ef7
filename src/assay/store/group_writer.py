"""Rows and judgements of one run, written in groups: what comes while a transaction is under way shares the next one.

A transaction costs round trips to a server, and the wait for its disk; many that write at the same time pay it once.
Nothing is said to be kept before the transaction with it is committed: `kill -9` loses nothing that was.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from assay._util.compression import key_hash, pack
from assay._util.forks import own_lock
from assay._util.threads import BackgroundWorker
from assay.errors import StoreError
from assay.records import ScoredSample
from assay.store.rows import PackedRow, put_rows
from assay.store.schema import source_number
from assay.store.tables import Statements, insert_rows

#: A judgement to keep: its content address, the prompt's name, the judge's fingerprint, and the judgement as JSON.
Judgement: TypeAlias = tuple[str, str, str, bytes]

MOST = 256  # rows and batches of judgements of one transaction

#: A judgement as it is written: the hash of its key, the prompt's name, the judge's fingerprint, packed.
PackedJudgement: TypeAlias = tuple[bytes, str, str, bytes]

_UPSERT = "ON CONFLICT (key) DO UPDATE SET source = excluded.source, at = excluded.at, judgement = excluded.judgement"


class WritableStore(Protocol):
    """What a group writer needs of a store."""

    def write(self, work: Callable[[Statements], Any]) -> Any:
        """See `Store.write`."""

    def used_by(self, run: str) -> list[bytes]:
        """See `Store.used_by`."""


@dataclass(slots=True, eq=False)
class _Write:
    """Something to write, and who waits for it."""

    rows: Sequence[PackedRow] = ()
    judgements: Sequence[PackedJudgement] = ()
    done: Future[None] = field(default_factory=Future)


class GroupWriter:
    """Writes what a run finds, on a thread of its own. Safe for threads.

    Args:
        store: The store.
        run: Name of the run.
        started: Start of the run that is meant, as `Store.create_run` returned it.
    """

    def __init__(self, store: WritableStore, run: str, started: float | None) -> None:
        self._store, self._run, self._started = store, run, started
        self._lock = own_lock(self)
        self._waiting: list[_Write] = []
        self._at_work = False
        self._worker = BackgroundWorker(1, "assay-store", exit_grace=5.0)
        self._sources: dict[tuple[str, str], int] = {}

    def put_row(self, number: int, scored: ScoredSample, facts: str | None = None) -> Future[None]:
        """Write one scored row; see `Store.put_row`.

        Args:
            number: Number of the row, from 1.
            scored: The sample with its scores.
            facts: See `assay.store.score_columns.RowColumns`.

        Returns:
            Done when the row is committed, or with the StoreError or RunReplacedError that came in the way.

        Raises:
            ValueError: A score cannot be written.
        """
        return self._add(_Write(rows=(PackedRow.of(number, scored, facts),)))

    def put_judgements(self, judgements: Iterable[Judgement]) -> Future[None]:
        """Write judgements; see `Store.put_judgements`.

        Args:
            judgements: The judgements.

        Returns:
            Done when they are committed, or with the StoreError that came in the way.
        """
        packed = [(key_hash(key), prompt, judge, pack(blob)) for key, prompt, judge, blob in judgements]
        return self._add(_Write(judgements=packed))

    def flush(self) -> None:
        """Wait until all is written that was handed over."""
        self._worker.flush()

    def _add(self, write: _Write) -> Future[None]:
        with self._lock:
            self._waiting.append(write)
            start, self._at_work = not self._at_work, True
        if start:
            try:
                self._worker.submit(self._work)
            except RuntimeError:  # no threads at the end of the process
                self._work()
        return write.done

    def _work(self) -> None:
        while True:
            with self._lock:
                group, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                self._at_work = bool(group)
            if not group:
                return
            self._write(group)

    def _write(self, group: Sequence[_Write]) -> None:
        try:
            self._store.write(self._transaction(group, at_once=len(group) > 1))
        except BaseException as error:
            if len(group) > 1 and lies_in_one(error):
                for one in group:
                    self._write([one])
                return
            for one in group:
                one.done.set_exception(error)
            return
        for one in group:
            one.done.set_result(None)

    def _transaction(self, group: Sequence[_Write], *, at_once: bool) -> Callable[[Statements], None]:
        used = self._store.used_by(self._run)
        rows = [row for one in group for row in one.rows]
        last = {found[0]: found for one in group for found in one.judgements}
        judgements = [last[key] for key in sorted(last)]  # all who write the same ones in one order

        def put(db: Statements) -> None:
            if judgements:
                self._put_judgements(db, judgements)
            note_used(db, self._run, {*used, *last})
            if rows:
                put_rows(db, self._run, rows, self._started, at_once=at_once)

        return put

    def _put_judgements(self, db: Statements, judgements: Sequence[PackedJudgement]) -> None:
        now = time.time()
        for who in sorted({(prompt, judge) for _, prompt, judge, _ in judgements} - self._sources.keys()):
            self._sources[who] = source_number(db, *who)
        rows = [(key, self._sources[prompt, judge], now, blob) for key, prompt, judge, blob in judgements]
        try:
            insert_rows(db, "judgements (key, source, at, judgement)", rows, _UPSERT)
        except BaseException:
            self._sources.clear()  # those that this transaction made are gone with it
            raise


def note_used(db: Statements, run: str, keys: Iterable[bytes]) -> None:
    """Note that a run used judgements.

    Args:
        db: The transaction.
        run: Name of the run.
        keys: The hashes of their keys. Those that the store does not have are left out.
    """
    ordered = sorted(keys)
    for start in range(0, len(ordered), _KEYS):
        some = ordered[start : start + _KEYS]
        db.execute(
            "INSERT INTO run_judgements SELECT runs.number, judgements.number FROM runs, judgements "
            f"WHERE id = ? AND key IN ({', '.join('?' * len(some))}) ON CONFLICT DO NOTHING",
            (run, *some),
        )


_KEYS = 500  # of one statement


def lies_in_one(error: BaseException) -> bool:
    """Whether one of a group is at fault, or what another process wrote meanwhile, and the others may be written.

    Args:
        error: What came of writing the group.

    Returns:
        False where the database cannot be read or written at all.
    """
    cause = error.__cause__ if isinstance(error, StoreError) else error
    if isinstance(cause, (sqlite3.IntegrityError, sqlite3.DataError)):
        return True
    said = cause.args[0] if cause is not None and cause.args else None  # the server's own words, by their codes
    return isinstance(said, dict) and str(said.get("C", ""))[:2] in ("22", "23")
