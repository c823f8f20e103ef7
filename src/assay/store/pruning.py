"""Making a store smaller: what is old goes first, and no judgement that a run still has goes at all."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.store.digests import row_digest
from assay.store.live_counts import delete_counts
from assay.store.rows import count_rows, digest_of_rows
from assay.store.score_columns import delete_columns, delete_stray_columns
from assay.store.store import Store
from assay.store.tables import Statements, read_all

HOUR = 3600.0
GROUP = 100  # rows of a live run that one transaction deletes

_AGE = "COALESCE(at, (SELECT started FROM runs WHERE id = run), 0)"  # rows of version 2 are as old as their run
_UNUSED = "number IN (SELECT number FROM judgements EXCEPT SELECT judgement FROM run_judgements)"


@dataclass(frozen=True, slots=True)
class PruneResult(Tabular):
    """What was deleted: runs of which nothing is left, rows, judgements; bytes that the store took before and after.

    `after` is None where nothing was deleted because it was only tried.
    """

    runs: tuple[str, ...]
    rows: int
    judgements: int
    before: int
    after: int | None


class RetainResult(NamedTuple):
    """What `retain` deleted: rows; and whether nothing is left to delete."""

    rows: int
    done: bool


class _DryRun(Exception):
    """Undoes the transaction."""


def prune(
    store: Store,
    *,
    older_than: float | None = None,
    max_bytes: float | None = None,
    keep: Collection[str] = (),
    dry_run: bool = False,
) -> PruneResult:
    """Delete the oldest rows, runs of which no row is left, and judgements that no run that is left has used.

    Both may be given: what either asks for goes. Judgements that were used before assay noted that, or by no run, as in
    live scoring, count as unused: what is asked again was older. A file is rewritten, for which the disk must hold it
    twice. Raises InputError without `older_than` and `max_bytes`, for numbers that are not above 0, and a run to keep
    that is not there; StoreError.

    Args:
        older_than: Seconds: what was written before that goes. A run whose rows go on coming keeps the later ones. Of a
            run that was scored at one time, rows are missing then: a gate on it is inconclusive.
        max_bytes: Bytes that the store may take: as much of the oldest goes, by the hour. What runs in `keep` need
            stays, and so may more than that.
        keep: Names of runs of which nothing is deleted; "last" is the one started last.
        dry_run: Only count.
    """
    if older_than is None and max_bytes is None:
        raise InputError("prune: say what: older_than= or max_bytes=")
    for name, value in {"older_than": older_than, "max_bytes": max_bytes}.items():
        if value is not None and not value > 0:  # nor is NaN
            raise InputError(f"{name}: expected a number above 0, got {value}")
    kept = sorted({store.run_id(name) for name in keep})
    before = store.size()
    cutoffs = [] if older_than is None else [time.time() - older_than]
    if max_bytes is not None and before > max_bytes:
        cutoffs.append(_cutoff(store, kept, before, max_bytes))
    if not cutoffs:
        return PruneResult((), 0, 0, before, None if dry_run else before)
    cutoff, found = max(cutoffs), list[tuple[tuple[str, ...], int, int]]()

    def work(db: Statements) -> None:
        found.append(_deleted(db, cutoff, kept))
        if dry_run:
            raise _DryRun

    try:
        store.write(work)
    except _DryRun:
        return PruneResult(*found[-1], before, None)
    for run in found[-1][0]:
        delete_counts(store, run)
    store.shrink()
    return PruneResult(*found[-1], before, store.size())


def retain(
    store: Store,
    run: str,
    *,
    older_than: float | None = None,
    max_bytes: float | None = None,
    until: float = math.inf,
) -> RetainResult:
    """Delete the oldest rows of a live run, a few in each transaction, so that nobody who writes has to wait.

    The file does not shrink: rows to come take the room. A run that is not continuous is left alone.

    Args:
        store: The store.
        run: Name of the live run.
        older_than: Seconds; rows written before that go. None: no limit.
        max_bytes: Bytes that the rows of the run may take, above 0. None: no limit.
        until: When to stop, of `time.monotonic()`; rows that are left wait for the next call.

    Returns:
        What was deleted. A run that is not there has no rows to delete.

    Raises:
        StoreError: The store cannot be written.
    """
    found = store.query("SELECT info FROM runs WHERE id = ?", run)
    if not found or not _is_continuous(found[0][0]):
        return RetainResult(0, True)
    cutoff = -math.inf if older_than is None else time.time() - older_than
    excess, deleted, after = _excess(store, run, max_bytes), 0, 0
    if older_than is None and excess <= 0:
        return RetainResult(0, True)
    while time.monotonic() < until:
        sql = (
            f"SELECT number, LENGTH(body), {_AGE} FROM rows WHERE run = ? AND number > ? ORDER BY number LIMIT {GROUP}"
        )
        page, old = store.query(sql, run, after), []
        for number, size, at in page:
            if excess > 0 or at < cutoff:
                excess -= size
                old.append(int(number))
        if not old:  # the oldest come first, but for rows that were scored again
            return RetainResult(deleted, True)
        after = page[-1][0]
        deleted += store.write(partial(_delete_rows_of_live_run, run=run, numbers=old))
    return RetainResult(deleted, False)


def _excess(store: Store, run: str, max_bytes: float | None) -> float:
    """Bytes of a run beyond what it may take."""
    if max_bytes is None or store.size() <= max_bytes:
        return 0.0
    ((size,),) = store.query("SELECT COALESCE(SUM(LENGTH(body)), 0) FROM rows WHERE run = ?", run)
    return float(size) - max_bytes


def _delete_rows_of_live_run(db: Statements, run: str, numbers: Sequence[int]) -> int:
    found = db.execute("SELECT info FROM runs WHERE id = ?", (run,)).fetchone()
    return delete_rows(db, run, numbers) if found is not None and _is_continuous(found[0]) else 0


def delete_rows(db: Statements, run: str, numbers: Sequence[int]) -> int:
    """Delete rows of a run within a transaction, and count them as pruned.

    Args:
        db: The transaction.
        run: Name of the run.
        numbers: Numbers of the rows.

    Returns:
        The number of rows that were there.
    """
    db.execute("UPDATE runs SET saved = saved WHERE id = ?", (run,))  # a lock: nobody else deletes them meanwhile
    these = f"run = ? AND number IN ({', '.join('?' * len(numbers))})"
    found = read_all(db, f"SELECT number, id, body FROM rows WHERE {these}", (run, *numbers))
    deleted = db.execute(f"DELETE FROM rows WHERE {these}", (run, *numbers)).rowcount if found else 0
    digests = sum(row_digest(*row) for row in found)
    if deleted:
        _uncount(db, run, deleted, digests, delete_columns(db, run, numbers))
    return deleted


def _deleted(db: Statements, cutoff: float, kept: Sequence[str]) -> tuple[tuple[str, ...], int, int]:
    old, values = f"{_AGE} < ? AND {_not_among('run', kept)}", [cutoff, *kept]
    by_run = read_all(db, f"SELECT run, COUNT(*) FROM rows WHERE {old} GROUP BY run", values)
    changes = {run: digest_of_rows(db, run, old, values) for run, _ in by_run}
    rows = db.execute(f"DELETE FROM rows WHERE {old}", values).rowcount
    for run, count in by_run:
        _uncount(db, run, count, changes[run], delete_stray_columns(db, run))
    empty = f"started < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE run = runs.id) AND {_not_among('id', kept)}"
    runs = tuple(sorted(str(name) for (name,) in read_all(db, f"SELECT id FROM runs WHERE {empty}", [cutoff, *kept])))
    for run in runs:
        db.execute("DELETE FROM run_judgements WHERE run IN (SELECT number FROM runs WHERE id = ?)", (run,))
        db.execute("DELETE FROM runs WHERE id = ?", (run,))
        delete_columns(db, run)
    judgements = db.execute(f"DELETE FROM judgements WHERE at < ? AND {_UNUSED}", (cutoff,)).rowcount
    return runs, rows, judgements


def _uncount(db: Statements, run: str, rows: int, digests: int, scores: int) -> None:
    """Rows of a continuous run do not belong to it any more; those of any other run are pruned from now on."""
    found = db.execute("SELECT info FROM runs WHERE id = ?", (run,)).fetchone()
    if found is None:
        return
    continuous = _is_continuous(found[0])
    count_rows(db, run, -rows if continuous else 0, -digests, -scores)
    if not continuous:
        db.execute("UPDATE runs SET pruned = pruned + ? WHERE id = ?", (rows, run))


def _is_continuous(info: str) -> bool:
    try:
        return bool(json.loads(info).get("continuous"))
    except (ValueError, AttributeError):  # damaged
        return False


def _not_among(column: str, names: Sequence[str]) -> str:
    return f"{column} NOT IN ({', '.join('?' * len(names))})" if names else "1 = 1"


def _cutoff(store: Store, kept: Sequence[str], size: int, most: float) -> float:
    """The end of the hour with which enough of the oldest is gone, if all of it could go."""
    by_hour: dict[int, int] = {}
    hour = f"CAST({{}} / {HOUR} AS BIGINT)"
    rows, judgements = hour.format(_AGE), hour.format("at")
    for sql, values in (
        (f"SELECT {rows}, SUM(LENGTH(body)) FROM rows WHERE {_not_among('run', kept)} GROUP BY 1", kept),
        (f"SELECT {judgements}, SUM(LENGTH(judgement)) FROM judgements GROUP BY 1", ()),
    ):
        for at, held in store.query(sql, *values):
            by_hour[int(at)] = by_hour.get(int(at), 0) + int(held)
    left, cutoff = float(size), 0.0
    for at in sorted(by_hour):
        left -= by_hour[at]  # and what lies around it
        cutoff = (at + 1) * HOUR
        if left <= most:
            break
    return cutoff
