"""The one place that knows the sequential monitor behind drop rules: what it is fed, and how its state is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.live.alerts.rules import AlertRule

if TYPE_CHECKING:
    from assay.live.alerts.columns import ScoreColumns
    from assay.stats.drop_monitor import DropMonitor, DropState
    from assay.store.columns import MetricRange

#: Seconds before the last row fed from which on rows are read again: scores may come late.
LATE = 172_800.0


@dataclass(frozen=True, slots=True)
class DropReading:
    """What the monitor of a drop rule says of a slice.

    Attributes:
        state: The monitor's own words.
        new_rows: Scored rows that were fed this time.
        kept: State to keep, as JSON values.
    """

    state: DropState
    new_rows: int
    kept: Mapping[str, Any]


def read_drop(rule: AlertRule, columns: ScoreColumns, kept: Mapping[str, Any] | None) -> DropReading:
    """Feed a monitor the rows that it has not seen.

    A rule whose condition changed starts a monitor of its own.

    Args:
        rule: The drop rule.
        columns: Scores of the slice.
        kept: The state that was kept. None: a new monitor.

    Returns:
        What the monitor says.
    """
    import numpy as np

    settings = _settings(rule, columns.metrics[rule.metric])
    known = kept if kept is not None and kept.get("settings") == settings else None
    monitor, fed = _monitor(settings, known), -1 if known is None else int(known["fed"])
    values, weights = columns.values(rule.metric), columns.weights
    usable = (columns.numbers > fed) & np.isfinite(values) & np.isfinite(weights) & (weights > 0.0)
    new = np.flatnonzero(usable)
    new = new[np.lexsort((columns.numbers[new], columns.times[new]))]
    clusters = None
    if rule.cluster is not None:
        names = columns.column(rule.cluster)
        clusters = [names[place] or f"row {columns.numbers[place]}" for place in new.tolist()]
    state = monitor.update(columns.times[new], values[new], weights[new], clusters)
    last = int(max(fed, columns.numbers[new].max(initial=-1)))
    at = max(float(known["at"]) if known else 0.0, float(columns.times[new].max(initial=0.0)))
    return DropReading(state, len(new), {"settings": settings, "fed": last, "at": at, "monitor": monitor.state()})


def rows_from(kept: Iterable[Mapping[str, Any]]) -> float | None:
    """The time from which on rows are to be read.

    Args:
        kept: States of the monitors of a rule, of all its slices.

    Returns:
        Seconds since 1970. None: all rows, for there is no monitor yet.
    """
    latest = max((float(one["at"]) for one in kept), default=None)
    return None if latest is None else latest - LATE


def _settings(rule: AlertRule, scale: MetricRange) -> dict[str, Any]:
    names = ("metric", "limit", "false_alarms", "period_days")
    return {name: getattr(rule, name) for name in names} | scale._asdict()


def _monitor(settings: Mapping[str, Any], known: Mapping[str, Any] | None) -> DropMonitor:
    kind = monitor_class()
    if known is not None:
        return kind.from_state(known["monitor"])
    names = ("false_alarms", "period_days", "low", "high", "direction")
    return kind(drop=settings["limit"], **{name: settings[name] for name in names})


def monitor_class() -> type[DropMonitor]:
    """The class of monitors, imported when a drop rule is first checked."""
    from assay.stats.drop_monitor import DropMonitor

    return DropMonitor
