"""The one place that knows the sequential monitor behind drop rules: what it is fed, and how its state is kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from assay.live.alerts.rules import AlertRule

if TYPE_CHECKING:
    from assay.live.alerts.columns import Floats, ScoreColumns

#: Seconds before the last row fed from which on rows are read again: scores may come late.
LATE = 172_800.0


class DropState(Protocol):
    """What a monitor knows: see `assay.stats.monitoring`."""

    @property
    def open(self) -> bool: ...
    @property
    def mean(self) -> float | None: ...
    @property
    def reference(self) -> float | None: ...
    @property
    def difference(self) -> float | None: ...
    @property
    def evidence(self) -> float | None: ...
    @property
    def effective_n(self) -> float: ...


class Monitor(Protocol):
    """The interface of `assay.stats.monitoring.DropMonitor`."""

    def update(
        self,
        times: Floats,
        values: Floats,
        weights: Floats | None = None,
        clusters: Sequence[Hashable] | None = None,
    ) -> DropState:
        """Take in values, and say whether they dropped."""

    def state(self) -> dict[str, Any]:
        """The state as JSON values."""


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

    settings = _settings(rule)
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


def _settings(rule: AlertRule) -> dict[str, Any]:
    names = ("limit", "false_alarms", "period_days", "low", "high", "direction")
    return {"metric": rule.metric, **{name: getattr(rule, name) for name in names}}


def _monitor(settings: Mapping[str, Any], known: Mapping[str, Any] | None) -> Monitor:
    kind = monitor_class()
    if known is not None:
        restored: Monitor = kind.from_state(known["monitor"])
        return restored
    names = ("false_alarms", "period_days", "low", "high", "direction")
    made: Monitor = kind(drop=settings["limit"], **{name: settings[name] for name in names})
    return made


def monitor_class() -> Any:
    """The class of monitors, imported when a drop rule is first checked."""
    from importlib import import_module

    return import_module("assay.stats.monitoring").DropMonitor
