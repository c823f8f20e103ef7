"""The alerts of a store, and what was delivered of them: two tables, made when they are first used.

An alert is one row: it waits (only drop rules, which keep the state of their monitor there), is open, or is closed. Of
each rule and slice one row at most is not closed: a unique index sees to that, in SQLite and PostgreSQL alike.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay._util.normalise import well_formed
from assay._util.tabular import Tabular
from assay.store.store import Store
from assay.store.tables import Statements

Event = Literal["opened", "closed"]
#: A column and its value; None: all rows.
Slice = tuple[str, str] | None

_TABLES = (
    """CREATE TABLE IF NOT EXISTS alerts (
        id TEXT PRIMARY KEY, slot TEXT NOT NULL, run TEXT NOT NULL, rule TEXT NOT NULL, slice TEXT NOT NULL,
        slice_hash TEXT NOT NULL, opened DOUBLE PRECISION, closed DOUBLE PRECISION, evidence TEXT, closing TEXT,
        monitor TEXT, version BIGINT NOT NULL
    )""",
    "CREATE UNIQUE INDEX IF NOT EXISTS alerts_not_closed ON alerts (slot) WHERE closed IS NULL",
    "CREATE INDEX IF NOT EXISTS alerts_by_slot ON alerts (slot, opened)",
    """CREATE TABLE IF NOT EXISTS alert_deliveries (
        alert TEXT NOT NULL, event TEXT NOT NULL, target TEXT NOT NULL, attempts BIGINT NOT NULL,
        next_try DOUBLE PRECISION NOT NULL, leased DOUBLE PRECISION NOT NULL, owner TEXT NOT NULL,
        delivered DOUBLE PRECISION, status TEXT NOT NULL, PRIMARY KEY (alert, event, target)
    )""",
    "CREATE INDEX IF NOT EXISTS alert_deliveries_due ON alert_deliveries (next_try) WHERE delivered IS NULL",
)
LONGEST_SLICE = 200  # characters of a slice's value that are kept
LONGEST_STATUS = 300

_SLOT = "SELECT id, opened, closed, monitor, version FROM alerts WHERE slot = ?"
_ALERT = "id, run, rule, slice, opened, closed, evidence, closing"


@dataclass(frozen=True, slots=True)
class Slot:
    """What an alert is about: the run, the name of the rule, and the slice.

    Attributes:
        stored_key: Of a slot that was read from the store its key there: of a long slice only the beginning is known.
        key: Hash of the three.
    """

    run: str
    rule: str
    slice: Slice = None
    stored_key: str = ""

    @property
    def key(self) -> str:
        return self.stored_key or _hash([self.run, self.rule, self.slice])


@dataclass(frozen=True, slots=True)
class SlotState:
    """What the store knows of a slot.

    Attributes:
        version: Rises with each change.
        alert: Id of the open alert; None where none is open.
        opened: When it opened, in seconds since 1970.
        last_opened: When the latest alert of the slot opened; None where none ever did.
        monitor: State of the monitor of a drop rule.
    """

    version: int = 0
    alert: str | None = None
    opened: float | None = None
    last_opened: float | None = None
    monitor: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StoredAlert(Tabular):
    """An alert that opened.

    Attributes:
        id: Its id.
        run: The live run.
        rule: Name of the rule.
        slice: Column and value, the value shortened to 200 characters; None: all rows.
        opened: When it opened, in seconds since 1970.
        closed: When it closed; None while it is open.
        evidence: Evidence of the opening, as JSON values.
        closing: Evidence of the closing; None while it is open.
    """

    _columns = "id run rule slice opened closed"
    _noun = "alert"

    id: str
    run: str
    rule: str
    slice: Slice
    opened: float
    closed: float | None
    evidence: Mapping[str, Any]
    closing: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class AlertDelivery(Tabular):
    """A message that a target is to get, or got.

    Attributes:
        alert: Id of the alert.
        event: "opened" or "closed".
        target: Name of the target.
        attempts: Attempts so far.
        next_try: Time of the next attempt, in seconds since 1970.
        delivered: Time of the delivery; None where there was none yet.
        status: Outcome of the last attempt, in words; "" before the first.
    """

    _columns = "alert event target attempts next_try delivered status"
    _noun = "delivery"

    alert: str
    event: Event
    target: str
    attempts: int
    next_try: float
    delivered: float | None
    status: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a check found for a slot.

    Attributes:
        event: "opened", "closed", or None: neither.
        evidence: Evidence for it, as JSON values.
        monitor: New state of the monitor; None: no monitor.
        targets: Names of the targets that get a message.
    """

    event: Event | None
    evidence: Mapping[str, Any]
    monitor: Mapping[str, Any] | None = None
    targets: Sequence[str] = ()


class AlertStore:
    """The alerts of a store. Safe for threads; several processes may share it. Every method raises StoreError.

    Args:
        store: The store. The tables are made in it where they are missing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        store.write(self._create)

    def _create(self, db: Statements) -> None:
        self._alone(db, "alerts")  # PostgreSQL cannot make a table twice at once
        for statement in _TABLES:
            db.execute(statement)

    def _alone(self, db: Statements, name: str) -> None:
        self._store._tables.alone(db, name)

    # ---- alerts

    def state(self, slot: Slot) -> SlotState:
        """Read what is known of a slot.

        Args:
            slot: The slot.

        Returns:
            Its state; that of version 0 for a slot that nothing is known of.
        """
        return _state(self._store.query(_SLOT, slot.key))

    def apply(self, slot: Slot, seen: SlotState, change: Change, now: float, quiet: float = 0.0) -> str | None:
        """Open or close an alert and note the monitor's state, in one transaction.

        Nothing happens where another process changed the slot since `seen`, where an alert opened within `quiet`
        seconds, or where the transaction that is done again was done before.

        Args:
            slot: The slot.
            seen: The state that the change follows from.
            change: The change.
            now: Time, in seconds since 1970.
            quiet: Seconds between two openings. A clock that was set back does not shorten them, unless by more than
                that.

        Returns:
            Id of the alert that opened or closed; None where nothing did.
        """
        new = uuid.uuid4().hex

        def write(db: Statements) -> str | None:
            self._alone(db, f"alert {slot.key}")
            found = list(iter(db.execute(_SLOT, (slot.key,)).fetchone, None))
            state = _state(found)
            if done := _done_before(found, new, change.event):
                return done
            if state.version != seen.version:
                return None
            return _write(db, slot, state, change, now, quiet, new)

        return self._store.write(write)

    def alerts(self, *, is_open: bool | None = None, limit: int = 1000) -> list[StoredAlert]:
        """List alerts, the latest first.

        Args:
            is_open: Only those that are open, or only those that are closed. None: both.
            limit: The most to list.

        Returns:
            The alerts.
        """
        where = {None: "", True: " AND closed IS NULL", False: " AND closed IS NOT NULL"}[is_open]
        sql = f"SELECT {_ALERT} FROM alerts WHERE opened IS NOT NULL{where} ORDER BY opened DESC, id LIMIT ?"
        return [_alert(*row) for row in self._store.query(sql, limit)]

    def alert(self, name: str) -> StoredAlert | None:
        """Look up an alert.

        Args:
            name: Its id.

        Returns:
            The alert; None where there is none.
        """
        found = self._store.query(f"SELECT {_ALERT} FROM alerts WHERE opened IS NOT NULL AND id = ?", name)
        return _alert(*found[0]) if found else None

    def open_slots(self, run: str, rule: str) -> list[Slot]:
        """List the slots of a rule that have an open alert.

        Args:
            run: The live run.
            rule: Name of the rule.

        Returns:
            The slots.
        """
        sql = "SELECT slice, slot FROM alerts WHERE run = ? AND rule = ? AND opened IS NOT NULL AND closed IS NULL"
        found = self._store.query(sql, well_formed(run), well_formed(rule))
        return [Slot(run, rule, _slice(text), key) for text, key in found]

    def monitors(self, run: str, rule: str) -> list[dict[str, Any]]:
        """List the states of the monitors of a rule, of all its slices.

        Args:
            run: The live run.
            rule: Name of the rule.

        Returns:
            The states, as JSON values.
        """
        sql = "SELECT monitor FROM alerts WHERE run = ? AND rule = ? AND closed IS NULL AND monitor IS NOT NULL"
        return [json.loads(text) for (text,) in self._store.query(sql, well_formed(run), well_formed(rule))]

    def forget_slice(self, column: str, value: str) -> int:
        """Delete the alerts of a slice: those that name a person whose rows are deleted, for one.

        Args:
            column: The column.
            value: The value.

        Returns:
            Number of alerts that were deleted, also of those that only waited.
        """
        digest = _hash([column, value])

        def write(db: Statements) -> int:
            which = "SELECT id FROM alerts WHERE slice_hash = ?"
            db.execute(f"DELETE FROM alert_deliveries WHERE alert IN ({which})", (digest,))
            return db.execute("DELETE FROM alerts WHERE slice_hash = ?", (digest,)).rowcount

        return self._store.write(write)

    # ---- deliveries

    def deliveries(self, alert: str | None = None) -> list[AlertDelivery]:
        """List deliveries.

        Args:
            alert: Id of an alert. None: those of all alerts that are not delivered yet.

        Returns:
            The deliveries.
        """
        where, values = ("alert = ?", (alert,)) if alert is not None else ("delivered IS NULL", ())
        sql = f"SELECT alert, event, target, attempts, next_try, delivered, status FROM alert_deliveries WHERE {where}"
        return [
            AlertDelivery(*row) for row in self._store.query(f"{sql} ORDER BY next_try, alert, event DESC", *values)
        ]

    def claim(
        self, targets: Collection[str], now: float, lease: float, patience: float, owner: str
    ) -> list[AlertDelivery]:
        """Take the deliveries that are due, at most one for each target; nobody else takes them within the lease.

        The message of a closing waits for that of the opening. A time that lies twice as far ahead as it can counts as
        past: the clock was set back. Clocks of machines that share a database may differ by less than the lease.

        Args:
            targets: Names of the targets.
            now: Time, in seconds since 1970.
            lease: Seconds of the lease.
            patience: The longest time between two attempts.
            owner: Name of who takes them.

        Returns:
            The deliveries, with the attempt that begins counted.
        """
        names = sorted(targets)
        due = (
            "delivered IS NULL AND (next_try <= ? OR next_try > ?) AND (leased <= ? OR leased > ?) AND "
            "(event = 'opened' OR NOT EXISTS (SELECT 1 FROM alert_deliveries AS other WHERE "
            "other.alert = alert_deliveries.alert AND other.target = alert_deliveries.target AND "
            "other.event = 'opened' AND other.delivered IS NULL))"
        )
        times = (now, now + 2.0 * patience, now, now + 2.0 * lease)
        some = f"SELECT 1 FROM alert_deliveries WHERE {due} AND target IN ({', '.join('?' * len(names))}) LIMIT 1"
        if not names or not self._store.query(some, *times, *names):
            return []  # without a transaction that writes: this is asked again and again

        def write(db: Statements) -> list[AlertDelivery]:
            self._alone(db, "alert deliveries")
            sql = (
                f"SELECT alert, event, target, attempts, next_try, delivered, status FROM alert_deliveries WHERE {due}"
            )
            found = []
            for name in names:
                row = db.execute(f"{sql} AND target = ? ORDER BY next_try, alert LIMIT 1", (*times, name)).fetchone()
                if row is None:
                    continue
                one = AlertDelivery(*row)
                db.execute(
                    "UPDATE alert_deliveries SET leased = ?, owner = ?, attempts = attempts + 1 "
                    "WHERE alert = ? AND event = ? AND target = ?",
                    (now + lease, owner, one.alert, one.event, one.target),
                )
                found.append(one)
            return found

        return self._store.write(write)

    def note_delivered(self, delivery: AlertDelivery, now: float, status: str) -> None:
        """Note that a target has a message. It is never sent again.

        Args:
            delivery: The delivery.
            now: Time, in seconds since 1970.
            status: Outcome, in words.
        """
        self._note(delivery, "delivered = ?, status = ?, leased = 0", (now, status[:LONGEST_STATUS]))

    def note_failed(self, delivery: AlertDelivery, next_try: float, status: str, owner: str) -> None:
        """Note that an attempt failed. Nothing is noted where somebody else took the delivery meanwhile.

        Args:
            delivery: The delivery.
            next_try: Time of the next attempt, in seconds since 1970.
            status: Outcome, in words.
            owner: Name of who took it.
        """
        self._note(
            delivery,
            "next_try = ?, status = ?, leased = 0",
            (next_try, status[:LONGEST_STATUS]),
            " AND owner = ?",
            owner,
        )

    def _note(self, delivery: AlertDelivery, what: str, values: Sequence[Any], where: str = "", *more: Any) -> None:
        sql = f"UPDATE alert_deliveries SET {what} WHERE alert = ? AND event = ? AND target = ? AND delivered IS NULL"
        key = (delivery.alert, delivery.event, delivery.target)
        self._store.write(lambda db: db.execute(f"{sql}{where}", (*values, *key, *more)).rowcount)


def _hash(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


def _state(rows: Sequence[Sequence[Any]]) -> SlotState:
    """The state of a slot, by the rows of _SLOT."""
    current = next((row for row in rows if row[2] is None), None)
    opened = [float(row[1]) for row in rows if row[1] is not None]
    version, last = max((int(row[4]) for row in rows), default=0), max(opened, default=None)
    if current is None:
        return SlotState(version, None, None, last)
    is_open = current[1] is not None
    monitor = None if current[3] is None else json.loads(current[3])
    return SlotState(version, current[0] if is_open else None, current[1] if is_open else None, last, monitor)


def _done_before(rows: Sequence[Sequence[Any]], new: str, event: Event | None) -> str | None:
    """The alert that this very transaction opened, where nobody knew how it ended and it is done again."""
    return new if event == "opened" and any(row[0] == new for row in rows) else None


def _write(
    db: Statements, slot: Slot, state: SlotState, change: Change, now: float, quiet: float, new: str
) -> str | None:
    event = change.event
    if event == "opened" and (state.alert is not None or _is_quiet(state, now, quiet)):
        event = None
    if event == "closed" and state.alert is None:
        event = None
    monitor = None if change.monitor is None else json.dumps(change.monitor)
    evidence, version = json.dumps(change.evidence), state.version + 1
    if event == "opened":
        db.execute("DELETE FROM alerts WHERE slot = ? AND closed IS NULL", (slot.key,))  # the one that waited
        _insert(db, slot, new, now, evidence, monitor, version)
        _announce(db, new, event, change.targets, now)
        return new
    if event == "closed":
        sql = "UPDATE alerts SET closed = ?, closing = ?, monitor = NULL, version = ? WHERE id = ?"
        db.execute(sql, (now, evidence, version, state.alert))
        if monitor is not None:
            _insert(db, slot, new, None, None, monitor, version)
        _announce(db, str(state.alert), event, change.targets, now)
        return state.alert
    if monitor is not None:
        sql = "UPDATE alerts SET monitor = ?, version = ? WHERE slot = ? AND closed IS NULL"
        if not db.execute(sql, (monitor, version, slot.key)).rowcount:
            _insert(db, slot, new, None, None, monitor, version)
    return None


def _is_quiet(state: SlotState, now: float, quiet: float) -> bool:
    return state.last_opened is not None and abs(now - state.last_opened) < quiet


def _insert(
    db: Statements, slot: Slot, name: str, opened: float | None, evidence: str | None, monitor: str | None, version: int
) -> None:
    shown = "" if slot.slice is None else json.dumps([slot.slice[0], shortened_value(slot.slice[1])])
    digest = "" if slot.slice is None else _hash(list(slot.slice))
    names = (well_formed(slot.run), well_formed(slot.rule), shown, digest)
    db.execute(
        "INSERT INTO alerts (id, slot, run, rule, slice, slice_hash, opened, evidence, monitor, version) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (name, slot.key, *names, opened, evidence, monitor, version),
    )


def shortened_value(value: str) -> str:
    """A slice's value as it is kept and shown: of a long one its beginning and a hash, for it is one of its own."""
    return value if len(value) <= LONGEST_SLICE else f"{value[: LONGEST_SLICE - 10]}…{_hash(value)[:8]}"


def _announce(db: Statements, alert: str, event: Event, targets: Sequence[str], now: float) -> None:
    db.executemany(
        "INSERT INTO alert_deliveries (alert, event, target, attempts, next_try, leased, owner, status) "
        "VALUES (?, ?, ?, 0, ?, 0, '', '') ON CONFLICT DO NOTHING",
        [(alert, event, target, now) for target in dict.fromkeys(targets)],
    )


def _slice(text: str) -> Slice:
    return None if not text else (str((found := json.loads(text))[0]), str(found[1]))


def _alert(
    name: str, run: str, rule: str, slice_: str, opened: float, closed: float | None, evidence: str, closing: str | None
) -> StoredAlert:
    last = None if closing is None else json.loads(closing)
    return StoredAlert(name, run, rule, _slice(slice_), float(opened), closed, json.loads(evidence), last)
