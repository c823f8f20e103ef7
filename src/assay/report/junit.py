"""A run as JUnit XML, which CI systems show beside tests: a test case for each sample and metric.

A case fails where the value is worse than its threshold, or than the baseline's; it is skipped where there is no value
and the cause lies in the sample, and an error where judging failed. The form is that of the JUnit schema of Jenkins'
xunit plugin, which GitHub actions, GitLab and Azure read: testsuites, testsuite, testcase, failure, error, skipped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from assay.errors import SETTLED, Cause, InputError
from assay.records import BY_CONVENTION
from assay.report.flat import flat_rows
from assay.terminal import printable

if TYPE_CHECKING:
    from assay.report.model import Report

#: A value has to be this much worse than the baseline's to be one: what rounding leaves.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Case:
    """One sample and metric. `outcome` is "passed", "failure", "error" or "skipped"."""

    name: str
    metric: str
    outcome: str
    message: str = ""


def write_junit(report: Report, path: str | Path, least: Mapping[str, float] | None = None) -> Path:
    """Write the report as JUnit XML. Returns the path. See `cases_of` for `least`."""
    path = Path(path)
    cases: dict[str, list[Case]] = {name: [] for name in report.metrics}
    for case in cases_of(report, least or {}):
        cases[case.metric].append(case)
    path.write_text("\n".join(_document(report, cases)) + "\n", encoding="utf-8", errors="replace")
    return path


def cases_of(report: Report, least: Mapping[str, float]) -> Iterator[Case]:
    """A case for each sample and metric. `least` has thresholds by metric; of metrics where lower is better, the most.

    Raises InputError for a threshold of a metric that the report has not.
    """
    for name in least:
        if name not in report.metrics:
            raise InputError(f"fail-under: {name!r} is not in this run; it has {', '.join(report.metrics)}")
    for row in flat_rows(report):
        yield _case(row, least.get(row["metric"]))


def _case(row: Mapping[str, Any], bound: float | None) -> Case:
    name = f"row {row['row']}" + ("" if row["id"] is None else f" ({row['id']})")
    higher = row["direction"] == "higher"
    if row["value"] is None:
        settled = row["unscored"] == BY_CONVENTION or Cause(row["unscored"]) in SETTLED
        return Case(name, row["metric"], "skipped" if settled else "error", f"{row['unscored']}: {row['why']}")
    if bound is not None and (row["value"] < bound if higher else row["value"] > bound):
        said = f"{row['value']:.3f} is {'below' if higher else 'above'} {bound:g}"
        return Case(name, row["metric"], "failure", said)
    by = row["difference"]
    if by is not None and (-by if higher else by) > _SAME:
        return Case(name, row["metric"], "failure", f"{row['value']:.3f} was {row['baseline']:.3f} in the baseline")
    return Case(name, row["metric"], "passed")


def _document(report: Report, cases: Mapping[str, list[Case]]) -> Iterator[str]:
    every = [case for some in cases.values() for case in some]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    head = f"name={_quoted('assay ' + report.result.run)} {_counts(every)}"
    yield f'<testsuites {head} time="{report.result.seconds:.3f}">'
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(report.result.started or 0))
    for metric, some in cases.items():
        head = f'name={_quoted(metric)} {_counts(some)} skipped="{_count(some, "skipped")}"'
        yield f'<testsuite {head} time="0" timestamp="{when}">'
        yield from map(_element, some)
        yield "</testsuite>"
    yield "</testsuites>"


def _element(case: Case) -> str:
    head = f'<testcase classname={_quoted(case.metric)} name={_quoted(case.name)} time="0"'
    if case.outcome == "passed":
        return f"{head}/>"
    if case.outcome == "skipped":
        return f"{head}><skipped message={_quoted(case.message)}/></testcase>"
    inner = f"<{case.outcome} type={_quoted(case.metric)} message={_quoted(case.message)}>{_text(case.message)}"
    return f"{head}>{inner}</{case.outcome}></testcase>"


def _counts(cases: list[Case]) -> str:
    return f'tests="{len(cases)}" failures="{_count(cases, "failure")}" errors="{_count(cases, "error")}"'


def _count(cases: list[Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _text(text: str) -> str:
    """Escaped, and without characters that XML cannot hold (`printable` spells controls and half characters out)."""
    return escape(printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff"))


def _quoted(text: str) -> str:
    return quoteattr(printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff"))
