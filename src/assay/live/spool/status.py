"""What stands in a spool, in numbers that add up after any crash."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay._util.sqlite import as_store_error
from assay.live.spool.file import PARKED, SpoolFile
from assay.live.spool.transitions import IN_WORK, SCORED, WAITING
from assay.records import Record

SHOWN = 20  # parked samples that a report names


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked(Record):
    """Scores that could not be delivered, and why."""

    key: str
    tries: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolReport(Record):
    """The counts of a spool, of all processes that ever used it. Numbers are samples where nothing else is said.

    submitted     calls of `submit`, as far as they were written
    appended      of those, the ones in the file; duplicates had a key that was known, sampled_out were left out by
                  sampling, skipped were no samples, dropped were refused, by reason
    unwritten     submitted, and none of these: in the memory of a running process, or lost with one that has ended
    waiting, in_work    to be scored, being scored
    scored        have at least one score with a value; no_value: samples that have none
    scores, causes      scores with a value; those without one, by cause
    delivered     all sinks have them; undelivered: on the way; parked: could not be delivered, the first ones are in
                  `parked_samples`
    confirmed, unconfirmed    scores that a sink read back from its store; those it sent and could not read back
    oldest        seconds that the oldest sample which is due has waited; None when none waits
    """

    submitted: int = 0
    appended: int = 0
    duplicates: int = 0
    sampled_out: int = 0
    skipped: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    unwritten: int = 0
    waiting: int = 0
    in_work: int = 0
    scored: int = 0
    no_value: int = 0
    scores: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    delivered: int = 0
    undelivered: int = 0
    parked: int = 0
    parked_samples: tuple[Parked, ...] = ()
    confirmed: int = 0
    unconfirmed: int = 0
    oldest: float | None = None

    @property
    def pending(self) -> int:
        """Samples that have no outcome yet."""
        return self.waiting + self.in_work


def report_of(file: SpoolFile) -> SpoolReport:
    """The report of a spool, read in one transaction. Raises StoreError."""
    # one moment for all numbers
    with as_store_error(f"spool {str(file.path)!r} cannot be read"), file.read() as db:
        counts = dict(db.execute("SELECT name, SUM(value) FROM counts GROUP BY name").fetchall())
        totals = dict(db.execute("SELECT state, samples FROM totals").fetchall())
        sql = "SELECT key, tries, COALESCE(error, '') FROM samples WHERE state = ? ORDER BY number LIMIT ?"
        parked = [Parked(key=key, tries=tries, error=error) for key, tries, error in db.execute(sql, (PARKED, SHOWN))]
        sql = "SELECT MIN(due) FROM samples WHERE state = ?"
        (oldest,) = db.execute(sql, (WAITING,)).fetchone()
    dropped = _with_prefix(counts, "dropped:")
    names = ("submitted", "appended", "duplicates", "sampled_out", "skipped")
    numbers = {name: counts.get(name, 0) for name in names}
    return SpoolReport(
        **numbers,
        dropped=dropped,
        unwritten=2 * numbers["submitted"] - sum(numbers.values()) - sum(dropped.values()),
        waiting=totals.get(WAITING, 0),
        in_work=totals.get(IN_WORK, 0),
        scored=counts.get("scored", 0),
        no_value=counts.get("no_value", 0),
        scores=counts.get("scores", 0),
        causes=_with_prefix(counts, "cause:"),
        delivered=counts.get("delivered", 0),
        undelivered=totals.get(SCORED, 0),
        parked=totals.get(PARKED, 0),
        parked_samples=tuple(parked),
        confirmed=counts.get("confirmed", 0),
        unconfirmed=counts.get("unconfirmed", 0),
        oldest=None if oldest is None else max(0.0, round(time.time() - oldest, 3)),
    )


def _with_prefix(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): n for name, n in sorted(counts.items()) if name.startswith(prefix) and n}
