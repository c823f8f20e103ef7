"""One check of all rules: read the scores, evaluate each rule and slice, open and close alerts in the store."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from assay._util.error_counter import Errors
from assay._util.tabular import Tabular
from assay.errors import AssayError, InputError, StoreError, printable
from assay.live.alerts.columns import (
    CachedColumns,
    ScoreColumns,
    live_run,
    rows_since,
    rows_where,
    run_columns,
    slices_of,
    values_of,
)
from assay.live.alerts.drop_monitor import rows_from
from assay.live.alerts.evidence import AlertEvidence, evaluate
from assay.live.alerts.rules import AlertRule, ResolvedTarget
from assay.live.canaries.drift import attribute_drop
from assay.store.alerts import AlertStore, Change, Event, Slice, Slot, SlotState
from assay.store.canary_scorings import scorings_of_run

if TYPE_CHECKING:
    from assay.stats.canaries import Verdict
    from assay.stats.drop_monitor import DropState
    from assay.store.store import Store

log = logging.getLogger("assay.alerts")

MOST_SLICES = 100  # of a column, the largest
#: Seconds between two evaluations of a drop rule by one process: its monitors, of up to 70 kB each, are stored anew.
DROP_PAUSE = 600.0
_EVENTS: Mapping[str, Event] = {"open": "opened", "close": "closed"}

#: Reads the scores of a run: store, run, time from which on.
ReadColumns = Callable[["Store", str, float | None], ScoreColumns]


@dataclass(frozen=True, slots=True)
class SlotCheck(Tabular):
    """What a check found of one rule and slice.

    Attributes:
        rule: The rule.
        slice: Column and value; None: all rows.
        evidence: The evidence.
        is_open: Whether an alert is open after the check.
        event: What happened: "opened", "closed" or None.
        alert: Id of the alert that is open, or just closed.
    """

    _columns = (
        "rule=rule.name run=rule.run metric=rule.metric column=slice.0 value=slice.1 is_open event mean=evidence.mean "
        "low=evidence.low high=evidence.high scored=evidence.scored reason=evidence.reason alert"
    )
    _noun = "check"

    rule: AlertRule
    slice: Slice
    evidence: AlertEvidence
    is_open: bool
    event: Event | None = None
    alert: str | None = None


@dataclass(frozen=True, slots=True)
class AlertCheck(Tabular):
    """Outcome of one check of all rules.

    Attributes:
        at: Time of the check, in seconds since 1970.
        slots: What was found of each rule and slice.
        problems: Rules that could not be checked, each with the reason. The others were.
    """

    _item_type = SlotCheck

    at: float
    slots: tuple[SlotCheck, ...] = ()
    problems: tuple[str, ...] = ()

    def _items(self) -> Collection[SlotCheck]:
        return self.slots

    @property
    def notes(self) -> tuple[str, ...]:
        """The problems, below a table."""
        return self.problems

    @property
    def open(self) -> tuple[SlotCheck, ...]:
        """Rules and slices with an open alert."""
        return tuple(slot for slot in self.slots if slot.is_open)


@dataclass
class AlertChecker:
    """Checks rules against the live runs of a store. Any number of processes may check the same rules.

    Args:
        store: The store of the runs; the alerts are kept there.
        rules: The rules.
        read: Reads scores. None: `assay.store.columns.RunColumns`.

    Raises:
        InputError: A target's environment variable is not set, or holds no address.
        StoreError: The store cannot be written.
    """

    store: Store
    rules: Sequence[AlertRule]
    read: ReadColumns | None = None
    targets: Mapping[str, ResolvedTarget] = field(init=False)

    def __post_init__(self) -> None:
        self.alerts = AlertStore(self.store)
        self._of_rule = {rule.name: targets_of(rule) for rule in self.rules}
        self._errors = Errors()  # of canary rows
        self._drops: dict[str, tuple[float, list[SlotCheck]]] = {}  # the last evaluation of drop rules
        self.targets = {one.name: one for some in self._of_rule.values() for one in some}

    def check(self, now: float) -> AlertCheck:
        """Check all rules. A rule that cannot be checked is a problem; the others are checked all the same.

        Args:
            now: Time, in seconds since 1970.

        Returns:
            The outcome.
        """
        found: list[SlotCheck] = []
        problems: list[str] = []
        columns: dict[tuple[str, float | None], ScoreColumns] = {}
        for rule in self.rules:
            try:
                found += self._recent(rule, now) or self._rule(rule, now, columns, problems)
            except (AssayError, ImportError) as error:
                problems.append(_problem(rule, error))
            except Exception as error:  # a bug, or a column that cannot be: the other rules go on
                log.warning("assay: alert rule %s cannot be checked", printable(rule.name), exc_info=True)
                problems.append(str(rule.error(None, f"it cannot be checked: {type(error).__name__}: {error}")))
        return AlertCheck(now, tuple(found), tuple(dict.fromkeys(problems)))

    def _rule(
        self,
        rule: AlertRule,
        now: float,
        columns: dict[tuple[str, float | None], ScoreColumns],
        problems: list[str],
    ) -> list[SlotCheck]:
        rule = replace(rule, run=live_run(self.store, rule.run))
        since = self._since(rule, now)
        if (rule.run, since) not in columns:
            columns[rule.run, since] = CachedColumns((self.read or run_columns)(self.store, rule.run, since))
        rows = rows_where(columns[rule.run, since], rule.where)
        found = [self._slot(rule, part, chosen, now) for part, chosen in _parts(rule, rows, problems)]
        found += self._without_rows(rule, rows, {_slot_of(rule, one.slice).key for one in found}, now)
        if rule.kind == "drop":
            self._drops[rule.name] = now, [replace(one, event=None) for one in found]
        return found

    def _without_rows(
        self, rule: AlertRule, rows: ScoreColumns, checked: Collection[str], now: float
    ) -> list[SlotCheck]:
        """Close the alerts of slices that have no rows any more, while others have, or that the rule left out."""
        left = [slot for slot in self.alerts.open_slots(rule.run, rule.name) if slot.key not in checked]
        if not left:
            return []
        inside = rows_since(rows, now - rule.window)
        there = {_slot_of(rule, (name, value)).key for name in rule.slices for value in values_of(inside, name)}
        found = []
        for slot in left:
            watched = slot.slice is not None and slot.slice[0] in rule.slices
            if slot.key in there or (watched and not len(inside.numbers)):
                continue
            said = "no rows of it in the window" if watched else "the rule does not check it any more"
            evidence = AlertEvidence("close", said, now, now - rule.window, 0, 0, None, None, None, None, rule.limit)
            names = [target.name for target in self._of_rule[rule.name]]
            change = Change("closed", evidence.to_dict(), None, names)
            if alert := self.alerts.apply(slot, self.alerts.state(slot), change, now):
                found.append(SlotCheck(rule, slot.slice, evidence, False, "closed", alert))
        return found

    def _recent(self, rule: AlertRule, now: float) -> list[SlotCheck] | None:
        """What a drop rule gave a short while ago; None where it is to be evaluated."""
        at, found = self._drops.get(rule.name, (-math.inf, []))
        return found if 0.0 <= now - at < DROP_PAUSE else None

    def _since(self, rule: AlertRule, now: float) -> float | None:
        since = now - rule.window
        if rule.kind != "drop":
            return since
        unseen = rows_from(self.alerts.monitors(rule.run, rule.name))
        return None if unseen is None else min(since, unseen)

    def _slot(self, rule: AlertRule, part: Slice, columns: ScoreColumns, now: float) -> SlotCheck:
        slot = _slot_of(rule, part)
        state = self.alerts.state(slot)
        evidence = evaluate(rule, columns, now, state, partial(self._attribution, rule))
        event = _EVENTS.get(evidence.decision)
        if event is None and evidence.monitor is None:
            return _unchanged(rule, part, evidence, state)
        names = [target.name for target in self._of_rule[rule.name]]
        change = Change(event, evidence.to_dict(), evidence.monitor, names)
        alert = self.alerts.apply(slot, state, change, now, rule.quiet)
        if event is None or alert is None:
            return _unchanged(rule, part, evidence, self.alerts.state(slot) if event is not None else state)
        return SlotCheck(rule, part, evidence, event == "opened", event, alert)

    def _attribution(self, rule: AlertRule, state: DropState) -> Verdict | None:
        """Whose change an open drop is. What is wrong with canary rows never keeps an alert back."""
        try:
            found = attribute_drop(rule.metric, scorings_of_run(self.store, rule.run), state)
        except Exception as error:
            self._errors.add(error, "canaries")
            return None
        return None if found is None else found.verdict


def targets_of(rule: AlertRule) -> list[ResolvedTarget]:
    """The targets that get messages of a rule, with their addresses.

    Args:
        rule: The rule.

    Returns:
        The targets.

    Raises:
        InputError: An environment variable is not set, or holds no address.
    """
    found = []
    for target in rule.messages:
        try:
            found.append(target.resolve())
        except InputError as error:
            raise rule.error("to", str(error).removeprefix("to: ")) from None
    return found


def _slot_of(rule: AlertRule, part: Slice) -> Slot:
    return Slot(rule.run, rule.name, part)


def _parts(rule: AlertRule, rows: ScoreColumns, problems: list[str]) -> Iterator[tuple[Slice, ScoreColumns]]:
    if not rule.slices:
        yield None, rows
    for column in rule.slices:
        found, left_out = slices_of(rows, column, MOST_SLICES)
        if left_out:
            said = f"column {column!r} has {len(found) + left_out:,} values; the {len(found)} largest are checked"
            problems.append(str(rule.error("slices", said)))
        if len(rows.numbers) and not found:
            problems.append(str(rule.error("slices", f"no row of run {rule.run!r} has a value in column {column!r}")))
        for value, chosen in found.items():
            yield (column, value), chosen


def _unchanged(rule: AlertRule, part: Slice, evidence: AlertEvidence, state: SlotState) -> SlotCheck:
    return SlotCheck(rule, part, evidence, state.alert is not None, None, state.alert)


def _problem(rule: AlertRule, error: Exception) -> str:
    """The error with file and line of the rule, where it does not name them."""
    if isinstance(error, StoreError):
        return str(error)
    text = str(error)
    prefix = str(rule.error(None, "")).partition(":")[0]
    if text.startswith(f"{prefix}:"):
        return text
    key, _, rest = text.partition(": ")
    return str(rule.error(key, rest)) if key == "run" else str(rule.error(None, text))
