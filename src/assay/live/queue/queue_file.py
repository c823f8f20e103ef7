"""The file of a queue: what stands in it, and every step that a sample takes through it, each one transaction.

    waiting -> in_work -> scored -> delivered (forgotten after a while)
                                 -> parked (could not be delivered)

The application appends; workers lease, score and deliver. A lease that is not renewed expires, and what was leased is
taken up by somebody else. Scores are kept in the same transaction that ends the scoring, so a sample is scored once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._util.compression import key_hash, to_json
from assay._util.sqlite import Database
from assay._util.steady_clock import SteadyClock
from assay.live.queue.rows import LeasedSample, PendingDelivery, scored_of
from assay.live.queue.transitions import (
    IN_WORK,
    SCORED,
    Transition,
    count,
    count_by_hour,
    give_back,
    keep,
    leased,
    outcome_of,
    take,
)
from assay.live.queue.transitions import WAITING as WAITING
from assay.records import ScoredSample, migration

FILE_NAME = "spool.db"
SCHEMA_VERSION = 3  # 1 called scores without a value by another name; 2 had no counts by the hour
LONGEST_WAIT = 60.0  # seconds at most before a sample is scored, or a delivery tried, again
PROCESSES = 256  # processes counted apart; the oldest beyond that are counted together
EARLIER = "earlier"

DELIVERED, PARKED = "delivered", "parked"
AMENDED = "amended"  # no state: delivered, and to be delivered again

_HOURS = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;;
INSERT INTO facts VALUES ('queue', lower(hex(randomblob(16))));;
CREATE TABLE hours (
    application TEXT NOT NULL, hour INTEGER NOT NULL, cause TEXT NOT NULL, samples INTEGER NOT NULL,
    PRIMARY KEY (application, hour, cause)
) WITHOUT ROWID
"""

_SCHEMA = (
    """
CREATE TABLE samples (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, appended REAL NOT NULL,
    due REAL NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, returned INTEGER NOT NULL DEFAULT 0,
    worker TEXT, leased_until REAL, scored_at REAL, given_to TEXT NOT NULL DEFAULT '[]',
    tries INTEGER NOT NULL DEFAULT 0, error TEXT
);;
CREATE INDEX samples_by_state ON samples (state, due, number);;
CREATE TABLE contents (number INTEGER PRIMARY KEY, sample TEXT NOT NULL);;
CREATE TABLE results (number INTEGER PRIMARY KEY, scores TEXT NOT NULL);;
CREATE TABLE seen (hash BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;;
CREATE INDEX seen_by_number ON seen (number);;
CREATE TABLE counts (
    process TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (process, name)
) WITHOUT ROWID;;
CREATE TABLE totals (state TEXT PRIMARY KEY, samples INTEGER NOT NULL) WITHOUT ROWID;;
CREATE TRIGGER total_of_new AFTER INSERT ON samples BEGIN
    INSERT INTO totals VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET samples = samples + 1; END;;
CREATE TRIGGER total_of_changed AFTER UPDATE OF state ON samples WHEN OLD.state <> NEW.state BEGIN
    UPDATE totals SET samples = samples - 1 WHERE state = OLD.state;
    INSERT INTO totals VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET samples = samples + 1; END;;
CREATE TRIGGER total_of_gone AFTER DELETE ON samples BEGIN
    UPDATE totals SET samples = samples - 1 WHERE state = OLD.state; END;;
"""
    + _HOURS
)


def _migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a queue of an earlier schema to this one, in the transaction that is open."""
    if version < 2:
        _from_version_1(db)
    for statement in _HOURS.split(";;"):
        db.execute(statement)


def _from_version_1(db: sqlite3.Connection) -> None:
    for old, new in migration.COUNTER_NAMES.items():
        db.execute("UPDATE counts SET name = ? WHERE name = ?", (new, old))
    for number, scores in db.execute("SELECT number, scores FROM results").fetchall():
        scored = {name: migration.rename(score, migration.SCORE_KEYS) for name, score in json.loads(scores).items()}
        db.execute("UPDATE results SET scores = ? WHERE number = ?", (to_json(scored), number))


class QueueFile(Database):
    """The queue in a folder. Methods raise sqlite3.Error.

    All times in it are of one clock, which `now` reads: to set the machine's clock changes none of them.
    """

    _goes_on = True

    def __init__(self, folder: Path, *, timeout: float = 5.0) -> None:
        super().__init__(
            folder / FILE_NAME, _SCHEMA, "samples", version=SCHEMA_VERSION, timeout=timeout, migrate=_migrate
        )
        self._clock = SteadyClock()

    def now(self) -> float:
        """The time on the queue's clock."""
        if not self._clock.is_started:
            with self.write() as db:
                self._clock.start(db, db.execute("SELECT COALESCE(MAX(appended), 0) FROM samples").fetchone()[0])
                self._bring_forward(db, self._clock.now())
        return self._clock.now()

    def time_without_file(self) -> float:
        """The same, where nobody may wait for the file: before the first `now` it is the time of day."""
        return self._clock.now()

    @staticmethod
    def _bring_forward(db: Any, now: float) -> None:
        """What is due after the longest wait got its time from another clock: it is due now."""
        sql = "UPDATE samples SET due = ? WHERE state IN (?, ?) AND due > ?"
        db.execute(sql, (now, WAITING, SCORED, now + LONGEST_WAIT))

    def _lost_with(self, db: sqlite3.Connection) -> str:
        self._clock.stop()
        return f"{self._total(db, WAITING, IN_WORK, SCORED)} samples that were to be scored or delivered"

    # -- the application's side

    def append(
        self,
        items: Sequence[tuple[str, str]],
        counts: Mapping[str, int],
        process: str,
        max_pending: int,
        max_bytes: int,
        application: str | None = None,
    ) -> Counter[str]:
        """Append samples (key and JSON) and add up `counts`, all or nothing; what became of the items, by name."""
        outcome: Counter[str] = Counter()
        now = self.now()
        with self.write() as db:
            pending = self._total(db, WAITING, IN_WORK)
            pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in _PAGES)
            room = max_bytes - (pages - free) * size
            known = _find_keys(db, [key for key, _ in items])
            last = db.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'samples'").fetchone()[0]
            new: list[tuple[int, str, str]] = []
            for key, sample in items:
                stored = len(sample) if sample.isascii() else len(sample.encode())
                if key in known:
                    outcome["duplicates"] += 1
                elif pending >= max_pending:
                    outcome["dropped:max_pending"] += 1
                elif stored > room:
                    outcome["dropped:max_bytes"] += 1
                else:
                    pending, room = pending + 1, room - stored
                    known.add(key)
                    new.append((last + len(new) + 1, key, sample))
                    outcome["appended"] += 1
            sql = "INSERT INTO samples (number, key, state, appended, due) VALUES (?, ?, ?, ?, ?)"
            db.executemany(sql, [(number, key, WAITING, now, now) for number, key, _ in new])
            db.executemany("INSERT INTO contents VALUES (?, ?)", [(number, sample) for number, _, sample in new])
            count(db, process, {**counts, **outcome})
            count_by_hour(db, application, {**counts, **outcome})
        return outcome

    def amend(self, key: str, change: Callable[[str], str]) -> str | None:
        """Change a sample as long as the queue has it; its state, and None where it is not known.

        One that was delivered is delivered again to sinks that keep live runs: AMENDED. Where there is none, or a
        worker is just delivering it, it stays as it is: DELIVERED.
        """
        now = self.now()
        with self.write() as db:
            sql = "SELECT number, state, worker, given_to FROM samples WHERE key = ?"
            row = db.execute(sql, (key,)).fetchone()
            if row is None:
                return DELIVERED if _is_duplicate(db, key) else None
            number, state, worker, given_to = row
            others = [name for name in json.loads(given_to) if not keeps_live_run(name)]
            if state == DELIVERED and len(others) < len(json.loads(given_to)):
                sql = "UPDATE samples SET state = ?, due = ?, given_to = ?, tries = 0 WHERE number = ?"
                db.execute(sql, (SCORED, now, json.dumps(others), number))
                count(db, EARLIER, {"delivered": -1})
                state = AMENDED
            elif state == DELIVERED or (state == SCORED and (worker is not None or others != json.loads(given_to))):
                return DELIVERED
            (text,) = db.execute("SELECT sample FROM contents WHERE number = ?", (number,)).fetchone()
            db.execute("UPDATE contents SET sample = ? WHERE number = ?", (change(text), number))
            return str(state)

    def result(self, key: str) -> ScoredSample | None:
        """The scores of a sample, as long as the queue has them."""
        sql = "SELECT c.sample, r.scores FROM samples s JOIN contents c USING (number) JOIN results r USING (number)"
        found = self.rows(sql + " WHERE s.key = ?", key)
        return scored_of(*found[0]) if found else None

    # -- scoring

    def turn(self, worker: str, turn: Transition, until: float) -> list[LeasedSample]:
        """Keep outcomes, give back and lease, all in one transaction; what is newly leased, until that time."""
        taking = turn.room + turn.ahead > 0 and self._may_lease()
        if turn.outcomes or turn.returns or taking:
            now = self.now()
            with self.write() as db:
                if turn.outcomes:
                    keep(db, worker, turn.outcomes, now)
                give_back(db, worker, turn.returns)
                if taking:
                    take(db, worker, turn.room, turn.ahead, now, until)
        if not taking:
            return []
        with self.read() as db:  # the file is not locked any more
            return leased(db, worker, turn.held)

    def _may_lease(self) -> bool:
        """Looking is cheaper than a transaction that writes."""
        return bool(self.rows("SELECT 1 FROM samples WHERE state IN (?, ?) LIMIT 1", WAITING, IN_WORK))

    def lease(self, worker: str, limit: int, until: float) -> list[LeasedSample]:
        """The oldest samples that wait and are due, or whose lease expired: now this worker's."""
        return self.turn(worker, Transition(room=limit), until)

    def renew(self, worker: str, until: float) -> None:
        """Renew all leases of a worker."""
        with self.write() as db:
            sql = "UPDATE samples SET leased_until = ? WHERE worker = ? AND state IN (?, ?)"
            db.execute(sql, (until, worker, IN_WORK, SCORED))

    def finish(self, worker: str, number: int, scored: ScoredSample) -> bool:
        """Keep the scores and end the lease, in one step. False: the lease was lost, and nothing is kept."""
        now = self.now()
        with self.write() as db:
            return bool(keep(db, worker, [outcome_of(number, scored)], now))

    # -- delivery

    def lease_parcels(self, worker: str, limit: int, until: float) -> list[PendingDelivery]:
        """The oldest scored samples that are due for delivery and nobody else's: now this worker's."""
        now = self.now()
        if not self.rows("SELECT 1 FROM samples WHERE state = ? AND due <= ? LIMIT 1", SCORED, now):
            return []
        with self.write() as db:
            found = db.execute(
                "SELECT number, key, sample, scores, given_to, tries FROM samples JOIN contents USING (number) "
                "JOIN results USING (number) WHERE state = ? AND due <= ? AND (worker IS NULL OR leased_until < ?) "
                "ORDER BY due, number LIMIT ?",
                (SCORED, now, now, limit),
            ).fetchall()
            db.executemany(
                "UPDATE samples SET worker = ?, leased_until = ? WHERE number = ?",
                [(worker, until, row[0]) for row in found],
            )
        return [PendingDelivery(row[0], row[1], row[2], row[3], tuple(json.loads(row[4])), row[5]) for row in found]

    def delivered(
        self, worker: str, numbers: Collection[int], given_to: Iterable[str], counts: Mapping[str, int]
    ) -> None:
        """All sinks have these."""
        names, now = sorted(given_to), self.now()
        with self.write() as db:
            changed = sum(self._set_delivery(db, worker, n, DELIVERED, now, names, 0, None) for n in numbers)
            count(db, worker, {**counts, "delivered": changed})

    def undelivered(
        self,
        worker: str,
        number: int,
        given_to: Iterable[str],
        error: str | None,
        due: float,
        counts: Mapping[str, int],
        *,
        tried: bool = True,
        park: bool = False,
    ) -> None:
        """Some sinks do not have it yet: due again at that time, or parked."""
        with self.write() as db:
            state = PARKED if park else SCORED
            self._set_delivery(db, worker, number, state, due, given_to, int(tried), error)
            count(db, worker, counts)

    def release_parcels(self, worker: str) -> None:
        """End this worker's leases on what it has not delivered."""
        with self.write() as db:
            sql = "UPDATE samples SET worker = NULL, leased_until = NULL WHERE worker = ? AND state = ?"
            db.execute(sql, (worker, SCORED))

    def retry_parked(self) -> int:
        """Everything parked is due for delivery again; how many there are."""
        now = self.now()
        with self.write() as db:
            sql = "UPDATE samples SET state = ?, due = ?, tries = 0 WHERE state = ?"
            return db.execute(sql, (SCORED, now, PARKED)).rowcount

    def forget(self, before: float, keep: int, remember: int, *, limit: int = 500) -> int:
        """Delete samples delivered before that time, or beyond the newest `keep`; only their keys stay known, and of
        these the newest `remember`."""
        with self.write() as db:
            beyond = max(0, self._total(db, DELIVERED) - keep)
            gone = db.execute(
                "SELECT number, key FROM samples WHERE state = ? AND due < ? ORDER BY due LIMIT ?",
                (DELIVERED, before, limit),
            ).fetchall()
            if beyond > len(gone):
                sql = "SELECT number, key FROM samples WHERE state = ? ORDER BY due, number LIMIT ?"
                gone = db.execute(sql, (DELIVERED, min(beyond, limit))).fetchall()
            for table in ("samples", "contents", "results"):
                db.executemany(f"DELETE FROM {table} WHERE number = ?", [(number,) for number, _ in gone])
            rows = [(key_hash(key), number) for number, key in gone]
            db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)
            (known,) = db.execute("SELECT COUNT(*) FROM seen").fetchone() if gone else (0,)
            if known > remember:
                sql = "DELETE FROM seen WHERE hash IN (SELECT hash FROM seen ORDER BY number LIMIT ?)"
                db.execute(sql, (known - remember,))
        return len(gone)

    # -- numbers

    def add_counts(self, process: str, counts: Mapping[str, int], application: str | None = None) -> None:
        """Add to the counts of a process."""
        with self.write() as db:
            count(db, process, counts)
            count_by_hour(db, application, counts)

    def skip_counts(self, since: float) -> tuple[str, dict[tuple[str | None, int, str], int]]:
        """Samples that were heard and are not in the queue, by application, hour and cause, of hours that begin then or
        later; with the name of the queue, which no other has."""
        with self.read() as db:
            ((name,),) = db.execute("SELECT value FROM facts WHERE name = 'queue'").fetchall()
            sql = "SELECT application, hour, cause, samples FROM hours WHERE hour >= ?"
            rows = db.execute(sql, (max(since, 0.0),)).fetchall()
        return name, {(application or None, hour, cause): samples for application, hour, cause, samples in rows}

    def totals(self) -> dict[str, int]:
        """How many samples are in each state."""
        return dict(self.rows("SELECT state, samples FROM totals"))

    def counts(self) -> Counter[str]:
        """The counts of all processes together."""
        return Counter(dict(self.rows("SELECT name, SUM(value) FROM counts GROUP BY name")))

    @staticmethod
    def _total(db: Any, *states: str) -> int:
        marks = ", ".join("?" * len(states))
        sql = f"SELECT COALESCE(SUM(samples), 0) FROM totals WHERE state IN ({marks})"
        return int(db.execute(sql, states).fetchone()[0])

    @staticmethod
    def _set_delivery(
        db: Any,
        worker: str,
        number: int,
        state: str,
        due: float,
        given_to: Iterable[str],
        tried: int,
        error: str | None,
    ) -> int:
        sql = (
            "UPDATE samples SET state = ?, due = ?, given_to = ?, tries = tries + ?, error = ?, worker = NULL, "
            "leased_until = NULL WHERE number = ? AND state = ? AND worker = ?"
        )
        values = (state, due, json.dumps(sorted(given_to)), tried, error, number, SCORED, worker)
        return int(db.execute(sql, values).rowcount)


_AT_ONCE = 500  # keys looked up by one query; some builds of SQLite take no more than 999 values

_PAGES = ("page_count", "freelist_count", "page_size")


def _find_keys(db: Any, keys: Sequence[str]) -> set[str]:
    """Those of these keys that the file has, or had."""
    known: set[str] = set()
    for at in range(0, len(keys), _AT_ONCE):
        some = keys[at : at + _AT_ONCE]
        hashes = {key_hash(key): key for key in some}
        marks = ", ".join("?" * len(some))
        known.update(key for (key,) in db.execute(f"SELECT key FROM samples WHERE key IN ({marks})", some))
        marks = ", ".join("?" * len(hashes))
        gone = db.execute(f"SELECT hash FROM seen WHERE hash IN ({marks})", [*hashes])
        known.update(hashes[hash] for (hash,) in gone)
    return known


def keeps_live_run(name: str) -> bool:
    """Whether a sink keeps a live run, by its name."""
    return name.startswith("store:") or name == "StoreSink"


def _is_duplicate(db: Any, key: str) -> bool:
    if db.execute("SELECT 1 FROM samples WHERE key = ?", (key,)).fetchone():
        return True
    return db.execute("SELECT 1 FROM seen WHERE hash = ?", (key_hash(key),)).fetchone() is not None


def fold_processes(file: QueueFile) -> None:
    """Count the oldest processes beyond `PROCESSES` together. They may live on: counts are only ever added to."""
    with file.write() as db:
        sql = "SELECT process FROM counts WHERE process <> ? GROUP BY process ORDER BY MAX(at) DESC LIMIT -1 OFFSET ?"
        for (process,) in db.execute(sql, (EARLIER, PROCESSES)).fetchall():
            found = db.execute("SELECT name, value FROM counts WHERE process = ?", (process,)).fetchall()
            count(db, EARLIER, dict(found))
            db.execute("DELETE FROM counts WHERE process = ?", (process,))
