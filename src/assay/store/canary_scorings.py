"""The scorings of canary rows in a store: one table, made when it is first used.

A scoring is one row: its stored verdicts, or what a worker measured. Who scores has a claim with a lease: processes
that share a store score the rows once together, and the claim of one that was killed expires.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay._util.normalise import finite, well_formed
from assay._util.tabular import Tabular
from assay.records import fingerprint
from assay.store.live_runs import LIVE
from assay.store.store import Store
from assay.store.tables import Statements, read_all

_TABLE = (
    """CREATE TABLE IF NOT EXISTS canary_scorings (
        id TEXT PRIMARY KEY, application TEXT NOT NULL, kind TEXT NOT NULL, work TEXT NOT NULL, judge TEXT NOT NULL,
        begun DOUBLE PRECISION NOT NULL, done DOUBLE PRECISION, leased DOUBLE PRECISION NOT NULL, owner TEXT NOT NULL,
        attempts BIGINT NOT NULL, scores TEXT NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS canary_scorings_by_time ON canary_scorings (application, begun)",
)
#: Says in the table `meta` that the table is there: who only reads makes none.
_THERE = "canary_scorings"
STORED, MEASURED = "stored", "measured"
DAY = 86400.0
MOST_ATTEMPTS = 3  # claims of one scoring that may end without an outcome; then nobody tries before the next is due
KEPT = 400  # measured scorings of an application
READ = 100  # the latest ones that are read

#: Metric -> row -> score.
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class CanaryScoring(Tabular):
    """One scoring of a set of canary rows.

    Attributes:
        at: When it ended, in seconds since 1970; of stored verdicts when they were written.
        judge: Fingerprint of the judge; "" where it is not known.
        stored: Whether these are the stored verdicts.
        values: Metric -> row -> score. Rows are named by a hash of their content.
        ranges: Metric -> lowest and highest score; None where there is no end.
    """

    _columns = "at judge stored"
    _noun = "scoring"

    at: float
    judge: str
    stored: bool
    values: Values
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CanaryClaim:
    """The right to do one scoring.

    Attributes:
        id: Id of the scoring.
        owner: Says who has the claim; another claim of the same scoring has another.
    """

    id: str
    owner: str


class CanaryScorings:
    """The canary scorings of an application in a store. Safe for threads. Every method raises StoreError.

    Args:
        store: The store. The table is made in it where it is missing.
        application: Name of the application; "" where it has none.
    """

    def __init__(self, store: Store, application: str = "") -> None:
        self._store = store
        self._application = well_formed(application)
        store.write(self._create)

    def _create(self, db: Statements) -> None:
        self._alone(db, "canary scorings")  # PostgreSQL cannot make a table twice at once
        for statement in _TABLE:
            db.execute(statement)
        db.execute("INSERT INTO meta VALUES (?, '1') ON CONFLICT DO NOTHING", (_THERE,))

    def _alone(self, db: Statements, name: str) -> None:
        self._store._tables.alone(db, name)

    def claim(
        self, work: str, judge: str, now: float, lease: float, *, every: float = DAY, at_once: bool = False
    ) -> CanaryClaim | None:
        """Take the scoring that is due.

        One is due where none with the same `work` began within the last `every` seconds. A time that lies farther
        ahead than that counts as past: the clock was set back.

        Args:
            work: What is scored by whom: rows, metrics and judge.
            judge: Fingerprint of the judge.
            now: Time, in seconds since 1970.
            lease: Seconds after which the claim expires.
            every: Seconds between two scorings.
            at_once: Take one also where none is due, unless somebody is at work on it.

        Returns:
            The claim; None where nothing is due, somebody is at work on it, or it failed too often.
        """
        new, owner = uuid.uuid4().hex, uuid.uuid4().hex
        work, judge = well_formed(work), well_formed(judge)
        sql = (
            "SELECT id, done, leased, owner, attempts FROM canary_scorings WHERE application = ? AND work = ? "
            "AND kind = ? AND begun > ? AND begun <= ? ORDER BY begun DESC"
        )

        def write(db: Statements) -> CanaryClaim | None:
            self._alone(db, f"canary scorings of {self._application}")
            found = read_all(db, sql, (self._application, work, MEASURED, now - every, now + every))
            if any(row[3] == owner for row in found):  # done before
                return next(CanaryClaim(row[0], owner) for row in found if row[3] == owner)
            unfinished = next((row for row in found if row[1] is None), None)
            if unfinished is not None and now < unfinished[2] <= now + every:  # somebody is at work, or it waits
                return None
            if not at_once and any(row[1] is not None or row[4] >= MOST_ATTEMPTS for row in found):
                return None
            if unfinished is not None:
                again = "UPDATE canary_scorings SET owner = ?, leased = ?, attempts = attempts + 1 WHERE id = ?"
                db.execute(again, (owner, now + lease, unfinished[0]))
                return CanaryClaim(unfinished[0], owner)
            self._insert(db, new, MEASURED, work, judge, (now, None, now + lease, owner, 1), "{}")
            return CanaryClaim(new, owner)

        return self._store.write(write)

    def renew(self, claim: CanaryClaim, until: float) -> bool:
        """Keep a claim for longer.

        Args:
            claim: The claim.
            until: When it expires, in seconds since 1970.

        Returns:
            False where somebody else took it meanwhile.
        """
        return self._change(claim, "leased = ?", (until,))

    def give_back(self, claim: CanaryClaim, again: float, *, counted: bool) -> None:
        """Give a claim back without an outcome.

        Args:
            claim: The claim.
            again: When somebody may take it, in seconds since 1970.
            counted: Whether it counts as an attempt.
        """
        self._change(claim, f"leased = ?, owner = ''{'' if counted else ', attempts = attempts - 1'}", (again,))

    def finish(
        self,
        claim: CanaryClaim,
        now: float,
        values: Values,
        ranges: Mapping[str, tuple[float | None, float | None]],
    ) -> bool:
        """Keep an outcome, and delete scorings that are too old.

        Args:
            claim: The claim.
            now: Time, in seconds since 1970.
            values: Metric -> row -> score.
            ranges: See `CanaryScoring`.

        Returns:
            False where somebody else took the claim meanwhile: nothing is kept then.
        """
        kept = self._change(claim, "done = ?, owner = '', scores = ?", (now, _text(values, ranges)))
        if kept:
            latest = "SELECT id FROM canary_scorings WHERE application = ? AND kind = ? ORDER BY begun DESC LIMIT ?"
            sql = f"DELETE FROM canary_scorings WHERE application = ? AND kind = ? AND id NOT IN ({latest})"
            mine = (self._application, MEASURED)
            self._store.write(lambda db: db.execute(sql, (*mine, *mine, KEPT)).rowcount)
        return kept

    def put_stored(
        self, judge: str, at: float, values: Values, ranges: Mapping[str, tuple[float | None, float | None]]
    ) -> None:
        """Keep the stored verdicts, in place of earlier ones that differ. Equal ones keep their time.

        Args:
            judge: Who judged.
            at: When they were written, in seconds since 1970.
            values: Metric -> row -> score.
            ranges: See `CanaryScoring`.
        """
        text = _text(values, ranges)
        work = fingerprint([text, judge])
        name = fingerprint([STORED, self._application, work])

        def write(db: Statements) -> None:
            self._alone(db, f"canary scorings of {self._application}")
            others = "DELETE FROM canary_scorings WHERE application = ? AND kind = ? AND id <> ?"
            db.execute(others, (self._application, STORED, name))
            self._insert(db, name, STORED, work, well_formed(judge), (at, at, 0.0, "", 0), text)

        self._store.write(write)

    def _insert(
        self, db: Statements, name: str, kind: str, work: str, judge: str, figures: Sequence[Any], text: str
    ) -> None:
        columns = "id, application, kind, work, judge, begun, done, leased, owner, attempts, scores"
        sql = f"INSERT INTO canary_scorings ({columns}) VALUES ({', '.join('?' * 11)}) ON CONFLICT (id) DO NOTHING"
        db.execute(sql, (name, self._application, kind, work, judge, *figures, text))

    def _change(self, claim: CanaryClaim, what: str, values: Sequence[Any]) -> bool:
        sql = f"UPDATE canary_scorings SET {what} WHERE id = ? AND owner = ? AND done IS NULL"
        return self._store.write(lambda db: db.execute(sql, (*values, claim.id, claim.owner)).rowcount) > 0


def read_scorings(store: Store, application: str, limit: int = READ) -> list[CanaryScoring]:
    """Read the scorings of an application: the stored verdicts, and the latest ones that were measured.

    Args:
        store: The store. Nothing is written.
        application: Name of the application; "" where it has none.
        limit: The most that were measured.

    Returns:
        The scorings in the order of time; empty where there are none.

    Raises:
        StoreError: The store cannot be read.
    """
    if not store.query("SELECT 1 FROM meta WHERE key = ?", _THERE):
        return []
    sql = (
        "SELECT done, judge, kind, scores FROM canary_scorings WHERE application = ? AND kind = ? AND done IS NOT NULL"
    )
    found = [
        row
        for kind in (STORED, MEASURED)
        for row in store.query(f"{sql} ORDER BY done DESC LIMIT ?", well_formed(application), kind, limit)
    ]
    return sorted((_scoring(*row) for row in found), key=lambda one: (one.at, not one.stored))


def scorings_of_run(store: Store, run: str, limit: int = READ) -> list[CanaryScoring]:
    """Read the scorings that tell of a live run's judge.

    Args:
        store: The store.
        run: Name of the run.
        limit: The most that were measured.

    Returns:
        Those of its application, else those of workers that name no application; empty where there are none.

    Raises:
        StoreError: The store cannot be read.
    """
    own = "" if run == LIVE else run.removeprefix(f"{LIVE}/")
    return read_scorings(store, own, limit) or (read_scorings(store, "", limit) if own else [])


def _text(values: Values, ranges: Mapping[str, tuple[float | None, float | None]]) -> str:
    bounds = {name: [None if end is None else finite(end) for end in ranges.get(name, (None, None))] for name in values}
    return json.dumps({"values": {name: dict(found) for name, found in values.items()}, "ranges": bounds})


def _scoring(done: float, judge: str, kind: str, text: str) -> CanaryScoring:
    found = json.loads(text)
    ranges = {name: (low, high) for name, (low, high) in found["ranges"].items()}
    return CanaryScoring(float(done), judge, kind == STORED, found["values"], ranges)
