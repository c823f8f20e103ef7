"""Samples of a live run that have no row, counted by the hour and the cause: sampled out, dropped, lost at the end.

Each process, and each queue, is a source with totals of its own, which it writes over and over. A total that is written
twice is the same, so counts are exact after a lost connection or a kill, and with any number of processes.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping

from assay.store.store import Store
from assay.store.tables import Statements

HOUR = 3600
FINAL = 48 * HOUR  # seconds after which no process writes totals of an hour any more
QUEUE = "queue:"  # how the sources that are queues begin: what stands in them may be written at any time

#: Why a sample that was heard has no row.
SAMPLED_OUT, DROPPED, NO_SAMPLE, UNDELIVERED, CLOSED = (
    "sampled_out", "dropped", "no_sample", "undelivered", "closed",
)  # fmt: skip

#: Hour (seconds since 1970 at its beginning) and cause -> number of samples.
HourlyCounts = Mapping[tuple[int, str], int]


def _hours_from(at: float | None) -> int | None:
    """The bound of hours that begin then or later: PostgreSQL compares its whole numbers with no other ones."""
    return None if at is None else math.ceil(at)


def hour_of(at: float) -> int:
    """The beginning of an hour.

    Args:
        at: A moment in it, in seconds since 1970.

    Returns:
        Seconds since 1970.
    """
    return int(at // HOUR) * HOUR


def write_counts(store: Store, run: str, source: str, totals: HourlyCounts) -> None:
    """Write the totals of a source, in one transaction. Earlier totals of it for the same hours are replaced.

    Args:
        store: The store.
        run: Name of the live run.
        source: Name of the process that counts, or QUEUE and that of a queue; no other may have it.
        totals: Totals since the source began.

    Raises:
        StoreError: The store cannot be written.
    """
    if not totals:
        return
    rows = [(run, hour, cause, source, samples) for (hour, cause), samples in sorted(totals.items())]
    sql = (
        "INSERT INTO live_counts (run, hour, cause, source, samples) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (run, hour, cause, source) DO UPDATE SET samples = excluded.samples"
    )
    store.write(lambda db: db.executemany(sql, rows))


def read_counts(store: Store, run: str, since: float | None = None, until: float | None = None) -> dict[str, int]:
    """Count the samples of a live run that have no row.

    Args:
        store: The store.
        run: Name of the live run.
        since: Hours that begin then or later, in seconds since 1970. None: from the first.
        until: Hours that begin before then. None: to the last. An hour is in one of two adjacent windows.

    Returns:
        Cause -> number of samples, in the order of their names; empty where nothing was counted.

    Raises:
        StoreError: The store cannot be read.
    """
    counts: Counter[str] = Counter()
    for found in read_hourly_counts(store, run, since, until).values():
        counts.update(found)
    return dict(sorted(counts.items()))


def read_hourly_counts(
    store: Store, run: str, since: float | None = None, until: float | None = None
) -> dict[int, dict[str, int]]:
    """Count the samples of a live run that have no row, by the hour.

    Args:
        store: The store.
        run: Name of the live run.
        since: See `read_counts`.
        until: See `read_counts`.

    Returns:
        Beginning of an hour, in seconds since 1970 -> cause -> number of samples. Hours without any are left out.

    Raises:
        StoreError: The store cannot be read.
    """
    bounds = [("hour >= ?", _hours_from(since)), ("hour < ?", _hours_from(until))]
    where = "".join(f" AND {condition}" for condition, value in bounds if value is not None)
    sql = f"SELECT hour, cause, SUM(samples) FROM live_counts WHERE run = ?{where} GROUP BY hour, cause"
    values = [value for _, value in bounds if value is not None]
    found: dict[int, dict[str, int]] = {}
    for hour, cause, samples in store.query(f"{sql} ORDER BY hour, cause", run, *values):
        if samples:
            found.setdefault(int(hour), {})[str(cause)] = int(samples)
    return found


def tidy_counts(store: Store, run: str, before: float, now: float | None = None) -> None:
    """Delete counts of hours before a time, and add up the processes of hours that are final.

    Args:
        store: The store.
        run: Name of the live run.
        before: Seconds since 1970.
        now: The present. None: the clock's.

    Raises:
        StoreError: The store cannot be written.
    """
    final = _hours_from((time.time() if now is None else now) - FINAL)

    def tidy(db: Statements) -> None:
        db.execute("DELETE FROM live_counts WHERE run = ? AND hour < ?", (run, _hours_from(before)))
        apart = f"run = ? AND hour < ? AND source <> '' AND source NOT LIKE '{QUEUE}%'"
        db.execute(
            "INSERT INTO live_counts (run, hour, cause, source, samples) "
            f"SELECT run, hour, cause, '', SUM(samples) FROM live_counts WHERE {apart} GROUP BY run, hour, cause "
            "ON CONFLICT (run, hour, cause, source) DO UPDATE SET samples = live_counts.samples + excluded.samples",
            (run, final),
        )
        db.execute(f"DELETE FROM live_counts WHERE {apart}", (run, final))

    store.write(tidy)


def delete_counts(store: Store, run: str) -> None:
    """Delete all counts of a live run.

    Args:
        store: The store.
        run: Name of the live run.

    Raises:
        StoreError: The store cannot be written.
    """
    store.write(lambda db: db.execute("DELETE FROM live_counts WHERE run = ?", (run,)))
