"""The steps of scoring in a queue's file, for many samples at a time; each within a transaction that its caller opened.

Each is a statement or two, whatever the number of samples: between two statements Python may keep the thread waiting
for its turn, and other processes with it, as long as the file is locked.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from assay._util.compression import to_json
from assay.live.queue.rows import LeasedSample
from assay.records import ScoredSample
from assay.store.live_counts import CLOSED, DROPPED, NO_SAMPLE, SAMPLED_OUT, hour_of

WAITING, IN_WORK, SCORED = "waiting", "in_work", "scored"

#: Why a sample that was counted under this name is not in the queue.
_CAUSES = {"sampled_out": SAMPLED_OUT, "skipped": NO_SAMPLE, "dropped:closed": CLOSED}

_LISTED = "number IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the scoring of a leased sample came to: its scores as JSON, and what they add to the counts."""

    number: int
    scores: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Return:
    """A leased sample that is given back without an outcome, due again at that time.

    counted: this is one of its returns, not the end of a worker's work.
    """

    number: int
    due: float = 0.0
    counted: bool = False


@dataclass(slots=True)
class Transition:
    """One transaction of a worker: what it is done with, and how many samples more it takes.

    Attributes:
        room: Samples that it can begin at once.
        ahead: Samples that are to lie ready besides; only such as were never in work when a worker died.
    """

    outcomes: Sequence[Outcome] = ()
    returns: Sequence[Return] = ()
    room: int = 0
    ahead: int = 0
    held: Collection[int] = field(default_factory=tuple)  # numbers that it has already


def outcome_of(number: int, scored: ScoredSample) -> Outcome:
    """The outcome of a sample, ready to be kept. Raises what records raise that are no JSON."""
    value = any(score.value is not None for score in scored.scores.values())
    causes = Counter(s.error.cause.value for s in scored.scores.values() if s.error is not None)
    counts = {"scored" if value else "no_value": 1, **{f"cause:{cause}": n for cause, n in causes.items()}}
    counts["scores"] = len(scored.scores) - causes.total()
    return Outcome(number, to_json({name: score.to_dict() for name, score in scored.scores.items()}), counts)


def keep(db: sqlite3.Connection, worker: str, outcomes: Sequence[Outcome], now: float) -> int:
    """Keep the outcomes of samples that are this worker's, and end their leases; how many."""
    numbers = json.dumps([outcome.number for outcome in outcomes])
    sql = f"SELECT json_group_array(number) FROM samples WHERE {_LISTED} AND state = ? AND worker = ?"
    held = set(json.loads(db.execute(sql, (numbers, IN_WORK, worker)).fetchone()[0]))
    kept = [outcome for outcome in outcomes if outcome.number in held]
    if not kept:
        return 0
    sql = "INSERT OR REPLACE INTO results SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') "
    db.execute(sql + "FROM json_each(?)", (to_json([[outcome.number, outcome.scores] for outcome in kept]),))
    sql = "UPDATE samples SET state = ?, scored_at = ?, due = ?, worker = NULL, leased_until = NULL WHERE "
    db.execute(sql + _LISTED, (SCORED, now, now, json.dumps([outcome.number for outcome in kept])))
    counts: Counter[str] = Counter()
    for outcome in kept:
        counts.update(outcome.counts)
    count(db, worker, counts)
    return len(kept)


def give_back(db: sqlite3.Connection, worker: str, returns: Sequence[Return]) -> None:
    """End leases without an outcome, through no fault of the samples."""
    for due, counted in {(one.due, one.counted) for one in returns}:
        numbers = json.dumps([one.number for one in returns if (one.due, one.counted) == (due, counted)])
        db.execute(
            "UPDATE samples SET state = ?, due = MAX(due, ?), attempts = attempts - 1, returned = returned + ?, "
            f"worker = NULL, leased_until = NULL WHERE {_LISTED} AND state = ? AND worker = ?",
            (WAITING, due, int(counted), numbers, IN_WORK, worker),
        )


def take(db: sqlite3.Connection, worker: str, room: int, ahead: int, now: float, until: float) -> None:
    """Lease the oldest samples that wait and are due, or whose lease expired."""
    free = "UPDATE samples SET state = ?, worker = NULL, leased_until = NULL WHERE state = ? AND leased_until < ?"
    db.execute(free, (WAITING, IN_WORK, now))
    lease = (
        "UPDATE samples SET state = ?, worker = ?, leased_until = ?, attempts = attempts + 1 WHERE number IN "
        "(SELECT number FROM samples WHERE state = ? AND due <= ?{} ORDER BY due, number LIMIT ?)"
    )
    # one that may have killed its worker is not to take others with it: it is leased only to be begun at once
    for limit, condition in ((room, ""), (ahead, " AND attempts = 0")):
        if limit > 0:
            db.execute(lease.format(condition), (IN_WORK, worker, until, WAITING, now, limit))


def leased(db: sqlite3.Connection, worker: str, held: Collection[int]) -> list[LeasedSample]:
    """What is this worker's, besides what it holds already."""
    sql = (
        "SELECT number, key, sample, appended, attempts - 1, returned FROM samples JOIN contents USING (number) "
        f"WHERE state = ? AND worker = ? AND NOT {_LISTED} ORDER BY due, number"
    )
    return [LeasedSample(*row) for row in db.execute(sql, (IN_WORK, worker, json.dumps(list(held))))]


def count(db: sqlite3.Connection, process: str, counts: Mapping[str, int]) -> None:
    """Add to the counts of a process."""
    db.execute(
        "INSERT INTO counts SELECT ?, key, value, ? FROM json_each(?) WHERE value <> 0 "
        "ON CONFLICT (process, name) DO UPDATE SET value = value + excluded.value, at = excluded.at",
        (process, time.time(), json.dumps(counts)),
    )


def count_by_hour(db: sqlite3.Connection, application: str | None, counts: Mapping[str, int]) -> None:
    """Count samples that got no place in the queue, for the live run of their application."""
    skipped: Counter[str] = Counter()
    for name, number in counts.items():
        cause = _CAUSES.get(name) or (DROPPED if name.startswith("dropped:") else None)
        if cause is not None:
            skipped[cause] += number
    rows = [(application or "", hour_of(time.time()), cause, number) for cause, number in skipped.items() if number]
    if rows:
        sql = "INSERT INTO hours VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET samples = samples + excluded.samples"
        db.executemany(sql, rows)
