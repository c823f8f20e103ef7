"""One line of a result table: metric, mean, interval and number of scored rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from assay.evaluation.summary import Summary

NOTHING = "–"


_ARROW = {"higher": "↑", "lower": "↓"}


_LEFT, _RIGHT = 4.0, 196.0  # ends of the drawn scale


@dataclass(frozen=True, slots=True)
class Line:
    """One metric as it is shown. `at`, `ends`, `was` are places on a scale of 200; None and () where there are none.

    `before`, `now` and what follows are of a comparison, on the `pairs` rows with a value in both runs.
    """

    name: str
    arrow: str
    scored: int
    total: int
    mean: str
    interval: str
    bounds: str
    causes: str
    at: float | None = None
    ends: tuple[float, float] | tuple[()] = ()
    was: float | None = None
    before: str = NOTHING
    now: str = NOTHING
    pairs: str = NOTHING
    difference: str = NOTHING
    p: str = NOTHING
    verdict: str = ""
    detectable: str = ""
    moved: str = ""


def line_of(summary: Summary) -> Line:
    """The line of one metric."""
    found = summary.interval
    low, high = summary.low, summary.high
    bounds = summary.bounds if summary.scored < summary.total else None
    line: dict[str, Any] = {
        "name": summary.metric,
        "arrow": _ARROW[summary.direction],
        "scored": summary.scored,
        "total": summary.total,
        "mean": NOTHING if found is None else f"{found.mean:.3f}",
        "interval": NOTHING if found is None else f"{found.low:.3f} to {found.high:.3f}",
        "bounds": "" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}",
        "causes": ", ".join(f"{cause} {count}" for cause, count in summary.causes.most_common()),
    }
    if found is not None and math.isfinite(low) and math.isfinite(high) and low < high:
        line |= {"at": place(found.mean, low, high)}
        line |= {"ends": (place(found.low, low, high), place(found.high, low, high))}
    return Line(**line)


def place(value: float, low: float, high: float) -> float:
    """Where a value stands on the drawn scale."""
    return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 2)
