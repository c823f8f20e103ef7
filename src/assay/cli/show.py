"""The command `assay show`: a run in the terminal, or one of its samples with claims and quotes in colour."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import StoreOption
from assay.cli.output import say, show
from assay.cli.run_argument import run_held
from assay.cli.runs import RunArgument
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.report.model import Report


MOVED = 5  # rows of a metric that are shown


def show_sample(
    run: RunArgument = "last",
    row: Annotated[
        str | None,
        typer.Argument(help="Id or number of a row; numbers start at 1. row:3 is the third, whatever the ids."),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="The run that it is held against.")] = None,
    metric: Annotated[str | None, typer.Option(help="This metric only.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Of a sample all verdicts of all metrics, however long.")
    ] = False,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    store: StoreOption = Path(".assay"),
) -> None:
    """Show a run: verdict, means, what got worse. With a ROW that sample: its claims and the quotes that decided them.

    With a baseline the rows that moved for the worse, else those with the worst values. Without --full a sample has of
    each metric the verdicts that cost it most.
    """
    from assay.report.build import ReportOptions, report_of
    from assay.report.sample_view import sample_view

    result = run_held(run, store)
    if metric is not None and metric not in result.metrics:
        raise InputError(f"--metric: {metric!r} is not in this run; it has {', '.join(result.metrics)}")
    if row is not None:
        show(sample_view(result.store.get_row(result.run, row), metric, full=full))
        return
    other = None if baseline is None else run_held(baseline, store)
    _show_run(report_of(result, other, ReportOptions([metric] if metric else None, any_judge=any_judge, moved=MOVED)))


def _show_run(report: Report) -> None:
    from assay.evaluation.display.table import as_rich
    from assay.report.comparison_table import compared_in_colour, headline_in_colour, moved_table
    from assay.report.lists import lowest_list

    if report.comparison is not None:
        show(headline_in_colour(report.comparison), wrapped=False)
        for one in report.comparison.metrics.values():
            show(compared_in_colour(one), wrapped=False)
        for note in report.comparison.notes:
            if note not in report.result.notes:  # which stand below the run's own table
                say(note)
        say("")
    show(as_rich(report.result))
    moved = None if report.comparison is None else moved_table(report.comparison, fallen=True)
    if moved is not None:
        say("\nwhat got worse")
        show(moved)
    elif report.comparison is not None:
        say("\nno row got worse")
    lowest = lowest_list((name, report.figures.of[name].worst(5)) for name in report.metrics)
    if report.comparison is None and lowest is not None:
        say("\nthe rows with the worst values")
        show(lowest)
    say(
        f"\none of them: assay show {report.result.run} ROW; a page of all: assay report {report.result.run}",
        aside=True,
    )
