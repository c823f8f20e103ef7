"""The lines of a report's tables, in words and numbers as they are shown, for every format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.evaluation.display.lines import NOTHING, Line, line_of, place
from assay.evaluation.summary import Summary
from assay.report.figures import Figures, largest

if TYPE_CHECKING:
    from assay.analysis.comparison.metric_diff import MetricDiff
    from assay.report.model import Report

GROUPS = 25  # values of a column that are shown


def _compared_line(summary: Summary, compared: MetricDiff | None) -> Line:
    """The line of one metric beside the baseline's value."""
    line = line_of(summary)
    if compared is None:
        return line
    difference = compared.difference
    was = None if difference is None or line.at is None else place(difference.first, summary.low, summary.high)
    return replace(line, was=was, **_compared(compared))


def _compared(one: MetricDiff) -> dict[str, Any]:
    if one.difference is None:
        return {"verdict": one.verdict, "pairs": "0", "detectable": "no row has a value in both runs"}
    by, least = one.difference.estimate, one.difference.detectable
    known = one.verdict != "unchanged"
    found = {
        "before": f"{one.difference.first:.3f}",
        "now": f"{one.difference.second:.3f}",
        "pairs": str(one.pairs),
        "difference": f"{by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f})" if known else "0.000",
        "p": NOTHING if one.p is None or not known else f"{one.p:.2g}",
        "verdict": one.verdict,
        "moved": {"better": "up", "worse": "down"}.get(one.verdict, ""),
    }
    if one.verdict == "inconclusive":
        found["detectable"] = (
            "too few rows for any difference" if least is None else f"minimum detectable effect {least:.2f}"
        )
    return found


def lines_of(report: Report) -> list[Line]:
    """A line for each metric of a report; of a comparison in its order, and those that are worse first."""
    compared = {} if report.comparison is None else report.comparison.metrics
    names = dict.fromkeys((*compared, *report.metrics))
    lines = [_compared_line(report.figures.of[name].summary, compared.get(name)) for name in names]
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


def _cell(now: Figures | None, before: Figures | None, compared: MetricDiff | None) -> dict[str, str]:
    line = None if now is None else line_of(now.summary)
    mean = None if before is None else before.summary.mean
    return {
        "mean": NOTHING if line is None else line.mean,
        "interval": "" if line is None or line.mean == NOTHING else line.interval,
        "before": "" if mean is None else f"{mean:.3f}",
        "verdict": compared.verdict if compared is not None and compared.verdict in ("better", "worse") else "",
    }
