"""Ledgers: what was spent in the last minute and the last day, in memory or in a SQLite file that processes share.

Spending is added up in buckets of a second (for minutes) and of a minute (for days). A bucket counts until all of it
has left the window, so that no window, wherever it begins, holds more than its limit.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from assay.database import Database

MINUTE, DAY = 60, 86_400
BUCKETS: Mapping[int, int] = {MINUTE: 1, DAY: 60}

Unit = Literal["calls", "tokens", "nanodollars"]


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls, tokens and money; 10**9 nanodollars are a dollar. A correction may be negative."""

    calls: int = 0
    tokens: int = 0
    nanodollars: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.nanodollars + other.nanodollars)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.calls - other.calls, self.tokens - other.tokens, self.nanodollars - other.nanodollars)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `amount` of `unit` in any `window` seconds."""

    unit: Unit
    window: int
    amount: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """There is no room: `spent` of the limit is used, and in `wait` seconds there may be room. None: there never is."""

    limit: Limit
    spent: int
    wait: float | None


class Ledger(Protocol):
    """Adds up spending. Safe for threads."""

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | Refusal:
        """Add `spend` if no limit is exceeded by it, in one step; the time under which it stands, for `correct`."""

    def correct(self, at: float, change: Spend) -> None:
        """Change what was taken at that time."""

    def spent(self, limits: Sequence[Limit]) -> list[int]:
        """What counts against each limit now."""


#: Spending by bucket, oldest first.
Rows = Sequence[tuple[int, Spend]]


def oldest(window: int, now: float) -> int:
    """The number of the oldest bucket that still lies in the window, if only in part."""
    return int((now - window) // BUCKETS[window])


def refusal(spend: Spend, limits: Sequence[Limit], rows: Mapping[int, Rows], now: float) -> Refusal | None:
    """The refusal that lasts longest; None when there is room for `spend`."""
    found: list[Refusal] = []
    for limit in limits:
        wanted = getattr(spend, limit.unit)
        held = [(bucket, getattr(taken, limit.unit)) for bucket, taken in rows[limit.window]]
        spent = sum(amount for _, amount in held)
        if spent + wanted <= limit.amount or not wanted:
            continue
        if wanted > limit.amount:
            return Refusal(limit, spent, None)
        over, wait = spent + wanted - limit.amount, 0.0
        for bucket, amount in held:
            if over <= 0:
                break
            over -= amount
            wait = (bucket + 1) * BUCKETS[limit.window] + limit.window - now
        found.append(Refusal(limit, spent, max(0.001, wait)))
    return max(found, key=lambda one: one.wait or 0.0, default=None)


class MemoryLedger:
    """A ledger of one process. A forked child goes on with a copy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, dict[int, Spend]] = {window: {} for window in BUCKETS}
        _LEDGERS.add(self)

    def now(self) -> float:
        """Seconds on the clock of this ledger."""
        return time.monotonic()

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | Refusal:
        """See `Ledger.take`."""
        with self._lock:
            now = self.now()
            refused = refusal(spend, limits, self._current(now), now)
            if refused is not None:
                return refused
            self._add(now, spend)
            return now

    def correct(self, at: float, change: Spend) -> None:
        """See `Ledger.correct`."""
        with self._lock:
            self._add(at, change)

    def spent(self, limits: Sequence[Limit]) -> list[int]:
        """See `Ledger.spent`."""
        with self._lock:
            rows = self._current(self.now())
        return [sum(getattr(taken, limit.unit) for _, taken in rows[limit.window]) for limit in limits]

    def _add(self, at: float, spend: Spend) -> None:
        for window, size in BUCKETS.items():
            buckets, bucket = self._rows[window], int(at // size)
            buckets[bucket] = buckets.get(bucket, Spend()) + spend

    def _current(self, now: float) -> dict[int, Rows]:
        for window, buckets in self._rows.items():
            for bucket in [bucket for bucket in buckets if bucket < oldest(window, now)]:
                del buckets[bucket]
        return {window: sorted(buckets.items()) for window, buckets in self._rows.items()}


_LEDGERS: weakref.WeakSet[MemoryLedger] = weakref.WeakSet()


def _after_fork() -> None:
    for ledger in list(_LEDGERS):
        ledger._lock = threading.Lock()  # a thread that did not come along may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

_SCHEMA = """
CREATE TABLE spending (
    "window" INTEGER NOT NULL, bucket INTEGER NOT NULL,
    calls INTEGER NOT NULL, tokens INTEGER NOT NULL, nanodollars INTEGER NOT NULL, PRIMARY KEY ("window", bucket)
) WITHOUT ROWID
"""


#: One row: the clock of the ledger is the machine's steady one plus `offset`, for as long as it runs (`boot`).
_CLOCK = "CREATE TABLE IF NOT EXISTS clock (one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, offset REAL)"


class FileLedger:
    """A ledger in a SQLite file (made if needed): every process that names the file shares it, and it outlives them.

    Goes by a clock that nobody sets: the seconds since the machine was started, counted on from the time of day at
    their first use. A clock that is set ahead or back loses no spending and frees none; after a restart of the machine
    the time of day is believed again, except where it is behind what was counted before.
    """

    def __init__(self, path: str | Path) -> None:
        self._db = Database(Path(path), _SCHEMA, "spending")
        self._db.create()
        self._offset: float | None = None

    def __reduce__(self) -> tuple[type[FileLedger], tuple[Path]]:
        """In another process it is the same file."""
        return FileLedger, (self._db.path,)

    def now(self) -> float:
        """Seconds on the clock of this ledger: near those since 1970. Raises sqlite3.Error at its first use."""
        if self._offset is None:
            with self._db.write() as db:
                self._offset = _offset(db)
        return self._offset + steady()

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | Refusal:
        """See `Ledger.take`."""
        self.now()  # where it is read for the first time, that is a transaction of its own
        with self._db.write() as db:
            now = self.now()
            rows: dict[int, Rows] = {}
            for window in {limit.window for limit in limits}:
                sql = 'SELECT bucket, calls, tokens, nanodollars FROM spending WHERE "window" = ? AND bucket >= ?'
                found = db.execute(sql + " ORDER BY bucket", (window, oldest(window, now))).fetchall()
                rows[window] = [(bucket, Spend(*amounts)) for bucket, *amounts in found]
            refused = refusal(spend, limits, rows, now)
            if refused is not None:
                return refused
            for window, size in BUCKETS.items():
                db.execute('DELETE FROM spending WHERE "window" = ? AND bucket < ?', (window, oldest(window, now)))
                values = (window, int(now // size), spend.calls, spend.tokens, spend.nanodollars)
                db.execute(
                    'INSERT INTO spending VALUES (?, ?, ?, ?, ?) ON CONFLICT ("window", bucket) DO UPDATE SET '
                    "calls = calls + excluded.calls, tokens = tokens + excluded.tokens, "
                    "nanodollars = nanodollars + excluded.nanodollars",
                    values,
                )
            return now

    def correct(self, at: float, change: Spend) -> None:
        """See `Ledger.correct`."""
        with self._db.write() as db:
            for window, size in BUCKETS.items():
                db.execute(
                    "UPDATE spending SET calls = calls + ?, tokens = tokens + ?, nanodollars = nanodollars + ? "
                    'WHERE "window" = ? AND bucket = ?',
                    (change.calls, change.tokens, change.nanodollars, window, int(at // size)),
                )

    def spent(self, limits: Sequence[Limit]) -> list[int]:
        """See `Ledger.spent`."""
        now = self.now()
        return [
            self._db.rows(
                f'SELECT COALESCE(SUM({limit.unit}), 0) FROM spending WHERE "window" = ? AND bucket >= ?',
                limit.window,
                oldest(limit.window, now),
            )[0][0]
            for limit in limits
        ]

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._db.close()


def steady() -> float:
    """Seconds on a clock that no one sets and all processes of this machine share, asleep or not where it tells."""
    return time.clock_gettime(_BOOT_CLOCK) if _BOOT_CLOCK is not None else time.monotonic()


_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def boot_id() -> str:
    """What tells this run of the machine from others; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _offset(db: sqlite3.Connection) -> float:
    """What is added to the steady clock, as all processes agree since the machine was started."""
    db.execute(_CLOCK)
    (latest,) = db.execute(f'SELECT MAX(bucket) FROM spending WHERE "window" = {MINUTE}').fetchone()
    latest = -math.inf if latest is None else float(latest * BUCKETS[MINUTE])
    boot, now = boot_id(), steady()
    found = db.execute("SELECT offset FROM clock WHERE boot = ?", (boot,)).fetchone()
    if found is not None and (boot or found[0] + now >= latest):  # without a name, a restart shows by its low count
        return float(found[0])
    offset = max(time.time(), latest) - now
    db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (boot, offset))
    return offset
