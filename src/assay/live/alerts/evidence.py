"""The evidence for or against an alert: a pure function of a rule, the scores of a window, and what was known before.

A threshold rule opens where the whole 95% interval of the weighted mean lies beyond the threshold, and closes where
the mean is back on the good side. The gap between the two, half an interval, keeps an alert from opening and closing
again and again. To close by the whole interval would keep alerts open after a recovery to just the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay._util.durations import duration_in_words
from assay._util.normalise import finite
from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.errors import InputError
from assay.live.alerts.drop_monitor import read_drop
from assay.live.alerts.estimates import WindowMean, window_mean
from assay.live.alerts.rules import AlertRule
from assay.live.canaries.drift import IN_WORDS
from assay.store.alerts import SlotState

if TYPE_CHECKING:
    from assay.live.alerts.columns import Floats, Places, ScoreColumns
    from assay.stats.canaries import Verdict
    from assay.stats.drop_monitor import DropState

#: Says whose change an open drop is; None where nothing is known of it.
Attribute = Callable[["DropState"], "Verdict | None"]
Decision = Literal["open", "close", "stay"]
WORST = 5  # rows that an alert names


@dataclass(frozen=True, slots=True)
class AlertEvidence(Tabular):
    """What a check found of one rule and slice.

    Attributes:
        decision: "open", "close" or "stay".
        reason: Why, in one sentence.
        at: Time of the check, in seconds since 1970.
        since: Beginning of the window, in seconds since 1970.
        rows: Rows in the window.
        scored: Rows among them that have a value.
        effective_n: Number of independent rows of equal weight that would leave the mean as uncertain; None without
            values.
        mean: Weighted mean of the window; None without values.
        low: Lower end of its 95% interval.
        high: Upper end.
        limit: The threshold, or the size of the drop.
        reference: Of a drop rule the mean before; None: not known yet.
        difference: Of a drop rule the difference from it.
        evidence: Of a drop rule the monitor's e-value.
        dropped_at: Of a drop rule the most likely time of the drop, in seconds since 1970.
        attribution: Of an open drop rule whose change canary rows find it to be: "judge", "application", "both" or
            "inconclusive"; None without canary rows.
        worst: Number and value of the worst rows of the window, the worst first.
        monitor: State of the monitor to keep; None: there is none.
    """

    _columns = "decision reason mean low high scored rows effective_n reference difference"
    _noun = "check"

    decision: Decision
    reason: str
    at: float
    since: float
    rows: int
    scored: int
    effective_n: float | None
    mean: float | None
    low: float | None
    high: float | None
    limit: float
    reference: float | None = None
    difference: float | None = None
    evidence: float | None = None
    dropped_at: float | None = None
    attribution: Verdict | None = None
    worst: tuple[tuple[int, float], ...] = ()
    monitor: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values, without the state of the monitor.

        Returns:
            A dict by the names of the attributes.
        """
        names = ("decision", "reason", "at", "since", "rows", "scored", "effective_n", "mean", "low", "high", "limit")
        of_drop = ("reference", "difference", "evidence", "dropped_at", "attribution")
        worst = [[number, value] for number, value in self.worst]
        return {name: getattr(self, name) for name in (*names, *of_drop)} | {"worst": worst}


def evaluate(
    rule: AlertRule, columns: ScoreColumns, now: float, state: SlotState, attribute: Attribute | None = None
) -> AlertEvidence:
    """Decide whether an alert opens, closes or stays as it is.

    Rows whose time lies ahead of `now` count as present: a clock was set back, or differs. Nothing changes where a
    window has fewer than `min_rows` scored rows.

    Args:
        rule: The rule.
        columns: Scores of the rows that the rule is about; of a drop rule also those before the window.
        now: Time, in seconds since 1970.
        state: What is known of the slot.
        attribute: Says whose change an open drop is, or None. It changes no decision.

    Returns:
        The evidence.

    Raises:
        InputError: The run has no such metric, or a range that a drop rule cannot take.
    """
    import numpy as np

    if rule.metric not in columns.metrics:
        there = ", ".join(list(columns.metrics)[:10]) or "none"
        raise rule.error("metric", f"run {rule.run!r} has no metric {rule.metric!r}; it has {there}")
    since = now - rule.window
    inside = np.flatnonzero(columns.times > since)
    values, scale = columns.values(rule.metric), columns.metrics[rule.metric]
    usable = inside[_usable(values[inside], columns.weights[inside])]
    clusters = None if rule.cluster is None else _clusters(rule.cluster, columns, usable)
    mean = window_mean(values[usable], columns.weights[usable], scale, clusters)
    common: dict[str, Any] = {
        "at": now,
        "since": since,
        "rows": len(inside),
        "scored": len(usable),
        "limit": rule.limit,
        "effective_n": None if mean is None else mean.effective_n,
        "mean": None if mean is None else mean.mean,
        "low": None if mean is None else finite(mean.low),
        "high": None if mean is None else finite(mean.high),
        "worst": _worst(columns.numbers[usable], values[usable], scale.direction),
    }
    if rule.kind == "drop":
        return _drop(rule, columns, state, common, attribute)
    decision, reason = _threshold(rule, mean, len(usable), state.alert is not None)
    return AlertEvidence(decision, reason, **common)


def _threshold(rule: AlertRule, mean: WindowMean | None, scored: int, is_open: bool) -> tuple[Decision, str]:
    window = f"in the last {duration_in_words(rule.window)}"
    if mean is None:
        return "stay", f"no scored rows {window}"
    if scored < rule.min_rows:
        return "stay", f"{pluralize(scored, 'scored row')} {window}; the rule needs {rule.min_rows:,}"
    shown = f"{rule.metric} {mean.mean:.3f} (95% CI {mean.low:.3f} to {mean.high:.3f}) {window}"
    below = rule.kind == "below"
    beyond = mean.high < rule.limit if below else mean.low > rule.limit
    back = mean.mean >= rule.limit if below else mean.mean <= rule.limit
    side, limit = rule.kind, f"{rule.limit:g}"
    if is_open:
        return (
            ("close", f"{shown}: the mean is back at {limit}") if back else ("stay", f"{shown}: still {side} {limit}")
        )
    if beyond:
        return "open", f"{shown}: the whole interval is {side} {limit}"
    return "stay", f"{shown}: " + ("within the threshold" if back else f"the interval includes {limit}")


def _drop(
    rule: AlertRule, columns: ScoreColumns, state: SlotState, common: dict[str, Any], attribute: Attribute | None
) -> AlertEvidence:
    try:
        reading = read_drop(rule, columns, state.monitor)
    except InputError as error:
        raise rule.error("drop", str(error)) from None
    found, window = reading.state, f"in the last {duration_in_words(rule.window)}"
    reference, difference = finite(found.reference), finite(found.difference)
    # without new rows the state is what it was
    monitor = reading.kept if reading.new_rows else None
    said = _difference(rule, reference, difference)
    decision: Decision = "stay"
    if found.open and state.alert is None:
        enough = common["scored"] >= rule.min_rows
        decision = "open" if enough else "stay"
        said = (
            said
            if enough
            else f"{pluralize(common['scored'], 'scored row')} {window}; the rule needs {rule.min_rows:,}"
        )
    elif state.alert is not None and not found.open:
        decision, said = "close", f"{said}: no drop by {rule.limit:g} any more"
    details: dict[str, Any] = {"reference": reference, "difference": difference, "evidence": finite(found.evidence)}
    details["dropped_at"] = finite(found.since)
    whose = attribute(found) if attribute is not None and found.open else None
    if whose is not None:
        said, details["attribution"] = f"{said}; {IN_WORDS[whose]}", whose
    return AlertEvidence(decision, said, monitor=monitor, **common, **details)


def _difference(rule: AlertRule, reference: float | None, difference: float | None) -> str:
    if reference is None or difference is None:
        return f"{rule.metric}: too few rows for a reference yet"
    return f"{rule.metric} differs by {difference:+.3f} from its reference {reference:.3f}"


def _usable(values: Floats, weights: Floats) -> Any:
    import numpy as np

    return np.isfinite(values) & np.isfinite(weights) & (weights > 0.0)


def _clusters(column: str, columns: ScoreColumns, places: Places) -> list[str]:
    """What each row is correlated with; a row without a value with itself alone."""
    names, numbers = columns.column(column), columns.numbers
    return [names[place] or f"row {numbers[place]}" for place in places.tolist()]


def _worst(numbers: Any, values: Floats, direction: str) -> tuple[tuple[int, float], ...]:
    import numpy as np

    bad = values if direction == "higher" else -values
    first = np.lexsort((-numbers, bad))[:WORST]  # of equal ones the latest
    return tuple((int(numbers[place]), float(values[place])) for place in first)
