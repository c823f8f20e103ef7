"""What stands in a queue, in numbers that add up after any crash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay._util.sqlite import as_store_error
from assay._util.tabular import Tabular
from assay.live.queue.queue_file import PARKED, QueueFile
from assay.live.queue.transitions import IN_WORK, SCORED, WAITING
from assay.records import Record

SHOWN = 20  # parked samples that a report names


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedScores(Tabular, Record):
    """Scores that could not be delivered, and why."""

    key: str
    tries: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReport(Tabular, Record):
    """Counts of a queue, of all processes that ever used it. Numbers are samples unless stated otherwise.

    Attributes:
        submitted: Calls of `submit`, as far as they were written.
        appended: Submissions that are in the file.
        duplicates: Submissions whose key was known.
        sampled_out: Submissions left out by sampling.
        skipped: Submissions that were no samples.
        dropped: Submissions refused, by reason.
        unwritten: Submissions that are none of these: in the memory of a running process, or lost with one that ended.
        waiting: Samples to be scored.
        in_work: Samples being scored.
        scored: Samples with at least one score that has a value.
        no_value: Samples without such a score.
        scores: Scores with a value.
        causes: Scores without a value, by cause.
        delivered: Samples that all sinks have.
        undelivered: Samples on the way to the sinks.
        parked: Samples that could not be delivered.
        parked_samples: The first of the parked samples.
        confirmed: Scores that a sink read back from its store.
        unconfirmed: Scores that a sink sent and could not read back.
        oldest: Seconds that the oldest due sample has waited. None when none waits.
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
    parked_samples: tuple[ParkedScores, ...] = ()
    confirmed: int = 0
    unconfirmed: int = 0
    oldest: float | None = None

    @property
    def pending(self) -> int:
        """Samples that have no outcome yet."""
        return self.waiting + self.in_work


def report_of(file: QueueFile) -> QueueReport:
    """The report of a queue, read in one transaction. Raises StoreError."""
    # one moment for all numbers
    with as_store_error(f"queue {str(file.path)!r} cannot be read"), file.read() as db:
        counts = dict(db.execute("SELECT name, SUM(value) FROM counts GROUP BY name").fetchall())
        totals = dict(db.execute("SELECT state, samples FROM totals").fetchall())
        sql = "SELECT key, tries, COALESCE(error, '') FROM samples WHERE state = ? ORDER BY number LIMIT ?"
        parked = [
            ParkedScores(key=key, tries=tries, error=error) for key, tries, error in db.execute(sql, (PARKED, SHOWN))
        ]
        sql = "SELECT MIN(due) FROM samples WHERE state = ?"
        (oldest,) = db.execute(sql, (WAITING,)).fetchone()
    dropped = _with_prefix(counts, "dropped:")
    names = ("submitted", "appended", "duplicates", "sampled_out", "skipped")
    numbers = {name: counts.get(name, 0) for name in names}
    return QueueReport(
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
        oldest=None if oldest is None else max(0.0, round(file.time_without_file() - oldest, 3)),
    )


def _with_prefix(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): n for name, n in sorted(counts.items()) if name.startswith(prefix) and n}
