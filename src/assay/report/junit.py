"""JUnit XML of a run (a test case for each sample and metric) and of a gate (one for each rule).

A case of a run fails where the value is worse than its threshold, or than the baseline's. It is skipped where there is
no value and the cause lies in the sample, and an error where judging failed. The form is that of the JUnit schema of
Jenkins' xunit plugin, which GitHub actions, GitLab and Azure read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from assay._util.output_files import write_output
from assay.analysis.gates.decision import GateDecision
from assay.errors import SETTLED, Cause, InputError, printable
from assay.records import BY_CONVENTION
from assay.report.tabular import flat_rows

if TYPE_CHECKING:
    from assay.report.model import Report

#: A value has to be this much worse than the baseline's to be one: what rounding leaves.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: a sample and metric, or a rule of a gate.

    Attributes:
        outcome: "passed", "failure", "error" or "skipped".
        message: One line, shown beside the name.
        text: The whole text; default: the message.
    """

    name: str
    group: str
    outcome: str
    message: str = ""
    text: str = ""


def write_junit(report: Report, path: str | Path, least: Mapping[str, float] | None = None) -> Path:
    """Write the report as JUnit XML. Returns the path. See `cases_of` for `least`."""
    cases: dict[str, list[Case]] = {name: [] for name in report.metrics}
    for case in cases_of(report, least or {}):
        cases[case.group].append(case)
    if report.result.incomplete:
        cases["assay.run"] = [Case("the run is complete", "assay.run", "error", "; ".join(report.result.incomplete))]
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(report.result.started or 0))
    text = _document(
        "assay " + report.result.run, cases, f' time="{report.result.seconds:.3f}"', f' time="0" timestamp="{when}"'
    )
    return write_output(path, text, errors="replace")


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
        settled = row["error"] == BY_CONVENTION or Cause(row["error"]) in SETTLED
        return Case(name, row["metric"], "skipped" if settled else "error", f"{row['error']}: {row['message']}")
    if bound is not None and (row["value"] < bound if higher else row["value"] > bound):
        said = f"{row['value']:.3f} is {'below' if higher else 'above'} {bound:g}"
        return Case(name, row["metric"], "failure", said)
    by = row["difference"]
    if by is not None and (-by if higher else by) > _SAME:
        return Case(name, row["metric"], "failure", f"{row['value']:.3f} was {row['baseline']:.3f} in the baseline")
    return Case(name, row["metric"], "passed")


#: The outcome of a rule's verdict.
_OUTCOMES = {"PASS": "passed", "FAIL": "failure", "INCONCLUSIVE": "error"}


def as_junit(decision: GateDecision) -> str:
    """A gate's decision as JUnit XML: one test case for each rule."""
    cases = [
        Case(
            str(one.rule), "assay.gate", _OUTCOMES[one.verdict], one.because, "" if one.verdict == "PASS" else str(one)
        )
        for one in decision.rulings
    ]
    return _document(f"assay gate {decision.run}", {f"assay gate {decision.run}": cases})


def _document(name: str, suites: Mapping[str, Sequence[Case]], times: str = "", suite_times: str = "") -> str:
    """The XML of suites by name. `times` and `suite_times` are further attributes, each with a space before it."""
    every = [case for cases in suites.values() for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={_quoted(name)} {_counts(every)}{times}>"]
    for suite, cases in suites.items():
        skipped = _count(cases, "skipped")
        lines.append(f'<testsuite name={_quoted(suite)} {_counts(cases)} skipped="{skipped}"{suite_times}>')
        lines += map(_element, cases)
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _element(case: Case) -> str:
    head = f'<testcase classname={_quoted(case.group)} name={_quoted(case.name)} time="0"'
    if case.outcome == "passed":
        return f"{head}><system-out>{_text(case.message)}</system-out></testcase>" if case.message else f"{head}/>"
    if case.outcome == "skipped":
        return f"{head}><skipped message={_quoted(case.message)}/></testcase>"
    inner = f"type={_quoted(case.group)} message={_quoted(case.message)}>{_text(case.text or case.message)}"
    return f"{head}><{case.outcome} {inner}</{case.outcome}></testcase>"


def _counts(cases: Sequence[Case]) -> str:
    return f'tests="{len(cases)}" failures="{_count(cases, "failure")}" errors="{_count(cases, "error")}"'


def _count(cases: Sequence[Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _text(text: str) -> str:
    return escape(_valid(text))


def _quoted(text: str) -> str:
    return quoteattr(_valid(text))


def _valid(text: str) -> str:
    """The text without characters that XML cannot hold: `printable` escapes controls and lone surrogates."""
    return printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
