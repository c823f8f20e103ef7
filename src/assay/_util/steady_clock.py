"""A clock that all processes of a machine share, and that nobody sets ahead or back: it stands in a SQLite file.

It is the machine's steady clock plus what was added to it at its first use since the machine was started, so that it
is close to the seconds since 1970.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

SLACK = 60.0  # seconds by which what is noted in a file may lie ahead

#: One row: what is added for as long as the machine runs (`boot`).
_CLOCK = "CREATE TABLE IF NOT EXISTS clock (one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, offset REAL)"


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


class SteadyClock:
    """The clock of one file. `start` reads it, within a transaction that writes."""

    def __init__(self) -> None:
        self._offset: float | None = None

    @property
    def is_started(self) -> bool:
        """Whether the time can be read without the file."""
        return self._offset is not None

    def start(self, db: sqlite3.Connection, latest: float) -> None:
        """Agree with all processes on the time, as it was first read since the machine was started.

        Args:
            db: The file, in a transaction.
            latest: The latest time that is noted in the file; the clock does not begin before it.
        """
        db.execute(_CLOCK)
        boot, now = boot_id(), steady()
        found = db.execute("SELECT offset FROM clock WHERE boot = ?", (boot,)).fetchone()
        # without a name, a restart shows by its low count
        if found is not None and (boot or found[0] + now >= latest - SLACK):
            self._offset = float(found[0])
            return
        self._offset = max(time.time(), latest) - now
        db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (boot, self._offset))

    def stop(self) -> None:
        """Read it anew: the file is another one."""
        self._offset = None

    def now(self) -> float:
        """Seconds, close to the seconds since 1970; the time of day before `start`."""
        return time.time() if self._offset is None else self._offset + steady()
