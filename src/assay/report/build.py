"""Reports of runs: what `assay report` and `assay show` tell, put together; `assay.report` has their forms.

from assay.report.write import write_report
from assay.report.build import report_of

write_report(report_of(Result.load("tuesday"), Result.load("monday")), "report.html")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.analysis.comparison.compare import compare
from assay.analysis.comparison.pairing import same_rows
from assay.analysis.diagnosis import Causes, find_causes
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.base import BaseJudge
from assay.report.figures import check_columns, gathered
from assay.report.model import LONG, Report

#: Rows of a metric that are named as moved.
MOVED = 12
CAUSES = 5_000  # rows of a long run whose causes are looked for


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report is asked for.

    Attributes:
        metrics: Names; None: all of the run.
        slices: Columns of the data by which the means are shown as well.
        cluster: A column: rows with one value in it hang together.
        any_judge: Compare runs of different judges, too.
        moved: Rows of each metric that are named as moved.
        judge: The run's judge, looked for where a cause is not read: what the store has of it is looked up.
    """

    metrics: Sequence[str] | None = None
    slices: Sequence[str] = ()
    cluster: str | None = None
    any_judge: bool = False
    moved: int = MOVED
    judge: Callable[[], BaseJudge | None] | None = None


def report_of(result: Result, baseline: Result | None = None, options: ReportOptions | None = None) -> Report:
    """All that a report says. Raises InputError for unknown metrics and columns, and as `compare` for a baseline."""
    options = options or ReportOptions()
    metrics = _metrics(result, options.metrics)
    rows = result.score_columns()
    check_columns(rows, options.slices, options.cluster)
    figures = gathered(rows, metrics, options.slices, options.cluster)
    figures.add_missing(result.rows_without_scores)
    report = Report(result, metrics, figures, causes=_causes(result, options.judge))
    if report.causes is not None and result.rows > LONG:
        report.notes.append(f"Causes are those of {CAUSES:,} of {result.rows:,} rows, spread evenly over the run.")
    return report if baseline is None else _against(report, baseline, options)


def _causes(result: Result, judge: Callable[[], BaseJudge | None] | None) -> Causes | None:
    """Why rows failed; None where no metric of the run says by itself what failed. Asks nothing."""
    limit = CAUSES if result.rows > LONG else None
    try:
        found = find_causes(result, limit=limit)
    except InputError:  # of thresholds, of which none was named
        return None
    reader = judge() if judge is not None and found.reads else None
    return found if reader is None else find_causes(result, judge=reader, limit=limit)


def _against(report: Report, baseline: Result, options: ReportOptions) -> Report:
    """The report with a baseline."""
    names = None if options.metrics is None else report.metrics
    report.baseline = baseline
    report.comparison = compare(
        baseline,
        report.result,
        names,
        cluster=options.cluster,
        by=options.slices,
        moved=options.moved,
        any_judge=options.any_judge,
    )
    report.before = gathered(baseline.score_columns(), report.metrics, options.slices)
    report.before.add_missing(baseline.rows_without_scores)
    report.pairs = same_rows(report.result, baseline)
    return report


def _metrics(result: Result, wanted: Sequence[str] | None) -> list[str]:
    for name in wanted or ():
        if name not in result.metrics:
            raise InputError(f"metrics: {name!r} is not in this run; it has {', '.join(result.metrics) or 'none'}")
    return list(dict.fromkeys(result.metrics if wanted is None else wanted))
