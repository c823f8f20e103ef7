"""The command `assay show`: a run, one of its rows, or a row under every system's definition of a metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import width
from assay.cli.config_defaults import from_the_file
from assay.cli.definitions import show_definitions
from assay.cli.option_groups import grouped
from assay.cli.options import JsonOption, JudgeOptions, RunArgument, StoreOption, WhereOption
from assay.cli.output import check_csv, say, say_json
from assay.cli.output import show as render
from assay.cli.run_argument import load_run, quote_run
from assay.cli.score_output import print_result
from assay.cli.show_options import TableOptions
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.evaluation.result import Result
    from assay.report.model import Report


MOVED = 5  # rows of a metric that are shown


@grouped
def show(
    run: RunArgument = "last",
    row: Annotated[
        str | None,
        typer.Argument(help="Id or number of a row; numbers start at 1. row:3 is the third, whatever the ids."),
    ] = None,
    *,
    metric: Annotated[str | None, typer.Option(help="This metric only.")] = None,
    full: Annotated[bool, typer.Option("--full", help="With ROW: all verdicts of all metrics, however long.")] = False,
    definitions: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC", help="With ROW: compare every system's definition of this metric, as 'faithfulness'."
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="RUN", help="Baseline run: show the difference and what got worse.")
    ] = None,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    table: TableOptions,
    where: WhereOption = None,
    as_json: JsonOption = False,
    store: StoreOption = Path(".assay"),
    judge: JudgeOptions,
) -> None:
    """Show a run (means, worst rows) or a row (claims, quotes).

    With --baseline the rows that got worse. Without --full, a row shows of each metric the verdicts that cost it most.
    The options of the judge go with --definitions; what the store knows is not asked again.
    """
    if definitions is not None:
        if row is None:
            raise InputError("--definitions: goes with a run and a row: assay show RUN ROW --definitions METRIC")
        show_definitions(run, row, definitions, judge, store, as_json)
        return
    if judge != JudgeOptions() and not from_the_file("judge"):
        raise InputError("--judge: goes with --definitions; a run has its judge")
    result = load_run(run, store, notes=row is not None, where=where)
    if metric is not None and metric not in result.metrics:
        raise InputError(f"--metric: {metric!r} is not in this run; it has {', '.join(result.metrics)}")
    if row is not None:
        _show_row(result, run, row, metric, full, as_json)
    elif as_json or table.wanted:
        if baseline is not None:
            raise InputError("--baseline: does not go with --json and the options of the table; see `assay compare`")
        check_csv(table.as_csv)
        print_result(result, table.output(as_json), overview=True)
    else:
        before = None if baseline is None else load_run(baseline, store, where=where)
        _show_run(result, before, metric, any_judge, quote_run(run, result))


def _show_row(result: Result, run: str, row: str, metric: str | None, full: bool, as_json: bool) -> None:
    from assay.report.sample_view import sample_view

    if as_json:
        say_json(result.row(row).to_dict(), indent=2)
        return
    render(sample_view(result.get_row(row), metric, full=full))
    if metric is None and not full and result.explain(row).shortened:
        say(f"\nshortened; all verdicts: assay show {run} {row} --full", aside=True)


def _show_run(result: Result, baseline: Result | None, metric: str | None, any_judge: bool, named: str) -> None:
    from assay.report.build import ReportOptions, report_of

    options = ReportOptions([metric] if metric else None, any_judge=any_judge, moved=MOVED)
    _show_report(report_of(result, baseline, options), named)


def _show_report(report: Report, named: str) -> None:
    from assay.evaluation.display.table import as_rich
    from assay.report.comparison_table import moved_lines
    from assay.report.lists import lowest_list

    if report.comparison is not None:
        _show_comparison(report)
    render(as_rich(report.result, overview=True))
    moved = [] if report.comparison is None else list(moved_lines(report.comparison, width(), fallen=True))
    if moved:
        say("\nwhat got worse")
        for line in moved:
            render(line, wrapped=False)
    elif report.comparison is not None:
        say("\nno row got worse")
    lowest = lowest_list((name, report.figures.of[name].worst(5)) for name in report.metrics)
    if report.comparison is None and lowest is not None:
        say("\nthe rows with the worst values")
        render(lowest)
    say(
        f"\none row: assay show {named} ROW; all rows as a page: assay report {named}",
        aside=True,
    )


def _show_comparison(report: Report) -> None:
    from assay.report.comparison_table import comparison_lines

    assert report.comparison is not None
    for line in comparison_lines(report.comparison, width()):
        render(line, wrapped=False)
    for note in report.comparison.notes:
        if note not in report.result.notes:  # which stand below the run's own table
            say(note)
    say("")
