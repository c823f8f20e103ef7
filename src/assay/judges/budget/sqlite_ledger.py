"""A ledger in a SQLite file that processes share."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from assay._util.call_repr import call_repr
from assay._util.sqlite import Database
from assay._util.steady_clock import SteadyClock
from assay.judges.budget.ledger import (
    BUCKETS,
    LONGEST,
    MINUTE,
    Advance,
    BudgetRefusal,
    Limit,
    Rows,
    Spend,
    oldest,
    refusal,
    times,
)

_SCHEMA = """
CREATE TABLE spending (
    "window" INTEGER NOT NULL, bucket INTEGER NOT NULL,
    calls INTEGER NOT NULL, tokens INTEGER NOT NULL, nanodollars INTEGER NOT NULL, PRIMARY KEY ("window", bucket)
) WITHOUT ROWID
"""


class FileLedger:
    """Ledger in a SQLite file, shared by every process that names the file. It outlives them.

    The clock is steady: seconds since the machine was started, counted on from the time of day at their first use.
    Setting the machine's clock ahead or back loses no spending and frees none. After a restart of the machine the
    time of day is used again, except where it is behind what was counted before.

    Args:
        path: The file; made if needed.
    """

    def __init__(self, path: str | Path) -> None:
        self._db = Database(Path(path), _SCHEMA, "spending", version=None)  # it may be the file of a queue
        self._db.create()
        self._clock = SteadyClock()

    def __reduce__(self) -> tuple[type[FileLedger], tuple[Path]]:
        """In another process it is the same file."""
        return FileLedger, (self._db.path,)

    def __repr__(self) -> str:
        return call_repr(self, str(self.path))

    @property
    def path(self) -> Path:
        """The file."""
        return self._db.path

    def now(self) -> float:
        """Read the clock of this ledger.

        Returns:
            Seconds, close to the seconds since 1970.

        Raises:
            sqlite3.Error: The file cannot be read or written, at the first use.
        """
        if not self._clock.is_started:
            with self._db.write() as db:
                self._clock.start(db, _latest(db))
        return self._clock.now()

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | BudgetRefusal:
        """Add spending, in one step, unless it exceeds a limit.

        Args:
            spend: Calls, tokens and nanodollars to add.
            limits: The limits to check.

        Returns:
            The time under which the spending is recorded, for `correct`; or the refusal.
        """
        found = self.advance(spend, limits)
        return found.at if isinstance(found, Advance) else found

    def advance(
        self, spend: Spend, limits: Sequence[Limit], most: int = 1, lasts: float = 0.0
    ) -> Advance | BudgetRefusal:
        """Take an advance for a process: up to `most` times `spend`, in one step.

        It takes `spend` once, and more of it as long as that is no more than a hundredth of what is left of every
        limit. The advance counts as spent at once, and stays so after it ends, until `settle`.

        Args:
            spend: Calls, tokens and nanodollars of one request.
            limits: The limits to check.
            most: Greatest multiple of `spend`.
            lasts: Seconds for which the advance may be spent, at most 60.

        Returns:
            The advance, or the refusal.
        """
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
            for window in BUCKETS:
                db.execute('DELETE FROM spending WHERE "window" = ? AND bucket < ?', (window, oldest(window, now)))
            advance = Advance(spend * times(spend, limits, rows, most), now + min(lasts, LONGEST))
            _add(db, advance.at, advance.spend)
            return advance

    def settle(self, advance: Advance, used: Spend) -> float:
        """Replace an advance with what was used of it; the rest is free again.

        Args:
            advance: The advance.
            used: What was used.

        Returns:
            The time under which the spending is recorded now.
        """
        at = min(advance.at, self.now())
        with self._db.write() as db:
            _change(db, advance.at, Spend() - advance.spend)
            _add(db, at, used)
        return at

    def correct(self, at: float, change: Spend) -> None:
        """Correct recorded spending. Spending that no longer counts in any window is not changed.

        Args:
            at: The time under which the spending is recorded.
            change: What is added; it may be negative.
        """
        with self._db.write() as db:
            _change(db, at, change)

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """Sum the spending that counts against each limit now.

        Args:
            limits: The limits.

        Returns:
            One amount for each limit, in its unit, advances included.
        """
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


def _add(db: sqlite3.Connection, at: float, spend: Spend) -> None:
    for window, size in BUCKETS.items():
        db.execute(
            "INSERT INTO spending VALUES (?, ?, ?, ?, ?) "
            'ON CONFLICT ("window", bucket) DO UPDATE SET calls = calls + excluded.calls, '
            "tokens = tokens + excluded.tokens, nanodollars = nanodollars + excluded.nanodollars",
            (window, int(at // size), spend.calls, spend.tokens, spend.nanodollars),
        )


def _change(db: sqlite3.Connection, at: float, change: Spend) -> None:
    """Change a bucket that still counts; one that does not is gone."""
    for window, size in BUCKETS.items():
        db.execute(
            "UPDATE spending SET calls = calls + ?, tokens = tokens + ?, nanodollars = nanodollars + ? "
            'WHERE "window" = ? AND bucket = ?',
            (change.calls, change.tokens, change.nanodollars, window, int(at // size)),
        )


def _latest(db: sqlite3.Connection) -> float:
    """The latest time under which spending is recorded; advances stand under one to come."""
    (latest,) = db.execute(f'SELECT MAX(bucket) FROM spending WHERE "window" = {MINUTE}').fetchone()
    return -math.inf if latest is None else float(latest * BUCKETS[MINUTE])
