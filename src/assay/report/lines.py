"""The lines of a report's tables, in words and numbers as they are shown, for every format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.report.figures import Figures, largest
from assay.summary import Summary

if TYPE_CHECKING:
    from assay.compared import Compared
    from assay.report.model import Report

NOTHING = "–"
GROUPS = 25  # values of a column that are shown
_ARROW = {"higher": "↑", "lower": "↓"}
_LEFT, _RIGHT = 4.0, 196.0  # ends of the drawn scale


@dataclass(frozen=True, slots=True)
class Line:
    """One metric as it is shown. `at`, `ends`, `was` are places on a scale of 200; None and () where there are none."""

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
    difference: str = NOTHING
    p: str = NOTHING
    verdict: str = ""
    detectable: str = ""
    moved: str = ""


def line_of(summary: Summary, compared: Compared | None = None) -> Line:
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
        **_compared(compared),
    }
    if found is not None and math.isfinite(low) and math.isfinite(high) and low < high:
        line |= {"at": _place(found.mean, low, high)}
        line |= {"ends": (_place(found.low, low, high), _place(found.high, low, high))}
        if compared is not None and compared.difference is not None:
            line["was"] = _place(compared.difference.first, low, high)
    return Line(**line)


def _place(value: float, low: float, high: float) -> float:
    """Where a value stands on the drawn scale."""
    return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 2)


def _compared(one: Compared | None) -> dict[str, str]:
    if one is None:
        return {}
    if one.difference is None:
        return {"verdict": one.verdict, "detectable": "no row has a value in both runs"}
    by, least = one.difference.estimate, one.difference.detectable
    found = {
        "before": f"{one.difference.first:.3f}",
        "difference": f"{by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f})",
        "p": NOTHING if one.p is None else f"{one.p:.2g}",
        "verdict": one.verdict,
        "moved": {"better": "up", "worse": "down"}.get(one.verdict, ""),
    }
    if one.verdict == "cannot tell":
        found["detectable"] = "so few rows show nothing" if least is None else f"{least:.2f} would have shown"
    return found


def lines_of(report: Report) -> list[Line]:
    """A line for each metric of a report, those that are worse first."""
    compared = {} if report.comparison is None else report.comparison.metrics
    lines = [line_of(report.figures.of[name].summary, compared.get(name)) for name in report.metrics]
    return sorted(lines, key=lambda line: line.verdict != "worse")


def slices_of(report: Report) -> list[dict[str, Any]]:
    """The groups of each column: value, rows, and of each metric mean, interval and the baseline's mean."""
    found = []
    for column in report.figures.columns:
        groups = list(largest(report.figures.slices[column]))
        before = {} if report.before is None else report.before.slices[column]
        verdicts = {} if report.comparison is None else report.comparison.slices.get(column, {})
        shown = [
            {
                "value": value,
                "rows": max((one.summary.total for one in of.values()), default=0),
                "cells": [
                    _cell(of.get(name), before.get(value, {}).get(name), verdicts.get(value, {}).get(name))
                    for name in report.metrics
                ],
            }
            for value, of in groups[:GROUPS]
        ]
        found.append({"column": column, "groups": shown, "more": max(0, len(groups) - GROUPS)})
    return found


def _cell(now: Figures | None, before: Figures | None, compared: Compared | None) -> dict[str, str]:
    line = None if now is None else line_of(now.summary)
    mean = None if before is None else before.summary.mean
    return {
        "mean": NOTHING if line is None else line.mean,
        "interval": "" if line is None or line.mean == NOTHING else line.interval,
        "before": "" if mean is None else f"{mean:.3f}",
        "verdict": "" if compared is None or compared.verdict == "cannot tell" else compared.verdict,
    }
