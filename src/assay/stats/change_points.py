"""When a mean changed: the changes of a stream of scores, with the evidence and the region of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from assay._util.tabular import ResultRows
from assay.stats.arrays import Floats
from assay.stats.drop_monitor import SHARPEN, DropMonitor, LevelChange
from assay.stats.weekly_baseline import HOUR


def change_points(
    times: Sequence[float] | Floats,
    values: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    clusters: Sequence[Hashable] | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
    direction: Literal["higher", "lower"] = "higher",
    false_alarms: float = 0.05,
    period_days: float = 84.0,
) -> ResultRows[LevelChange]:
    """Find the changes of a mean, up or down, that a daily and weekly rhythm does not explain.

    The rows are read in the order of time, as a `DropMonitor` sees them: a change is found at the same hour, and with
    the same evidence, however often and however late one looks. After each, the new level is the reference.

    Args:
        times: When each row ended, in seconds since 1970.
        values: Their scores, in [low, high]. Rows with NaN are left out.
        weights: Inverse sampling rates. None: all 1.
        clusters: What rows hang together by. None: all are independent.
        low, high: The range of the scores.
        direction: Which scores are good; it changes nothing but ties.
        false_alarms: Probability of a change of one direction within a period in which nothing changes.
        period_days: Length of a period in days.

    Returns:
        The changes, in the order of time. Empty where there are less than two weeks of rows.

    Raises:
        InputError: An array has another length, a value is out of range, or an option is.
    """
    monitor = DropMonitor(low=low, high=high, direction=direction, false_alarms=false_alarms, period_days=period_days)
    when = np.asarray(times, dtype=float)
    found, scores = np.asarray(values, dtype=float), None if weights is None else np.asarray(weights, dtype=float)
    lengths = {len(one) for one in (when, found, weights, clusters) if one is not None}
    if lengths != {when.size} or not when.size or not np.isfinite(when).all():
        monitor.update(when, found, scores, clusters)  # says what is wrong
        return ResultRows((), LevelChange)
    order = np.argsort(when, kind="stable")
    hours = np.floor(when[order] / HOUR)
    changes: list[LevelChange] = []
    pending: tuple[LevelChange, float] | None = None  # with the hour in which it was found
    for rows in np.split(order, np.flatnonzero(np.diff(hours)) + 1):
        hour = float(np.floor(when[rows[0]] / HOUR))
        if pending is not None and hour - pending[1] > SHARPEN:
            monitor.accept()
        names = None if clusters is None else [clusters[row] for row in rows.tolist()]
        monitor.update(when[rows], found[rows], None if scores is None else scores[rows], names)
        change = monitor.change()
        if change is not None:
            pending = change, hour if pending is None else pending[1]
        elif pending is not None:
            changes.append(pending[0])
            pending = None
    if pending is not None:
        changes.append(pending[0])
    return ResultRows(changes, LevelChange)
