"""The commands that show what a store has: runs, their worst rows, what has no value, and why a row got its scores."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.config_defaults import configured
from assay.cli.error_terms import for_the_command_line
from assay.cli.options import BedrockOption, ByOption, ClusterOption, CsvOption, JsonOption, StoreOption
from assay.cli.options import opened as opened
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.errors import InputError

RunArgument = Annotated[str, typer.Argument(help="The run's name, or 'last'.")]

runs = typer.Typer(
    add_completion=False, invoke_without_command=True, help="List the runs of a store, or show one of them again."
)


@runs.callback()
@configured
def list_runs(
    context: typer.Context,
    store: StoreOption = Path(".assay"),
    limit: Annotated[int | None, typer.Option("-n", "--limit", help="The latest so many.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a store, the latest first; `assay runs show RUN` shows one again."""
    if context.invoked_subcommand is not None:
        return
    from assay.evaluation.run_names import runs_of
    from assay.report.lists import runs_list

    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, got {limit}")
    lines = runs_of(opened(store), limit)
    if as_json:
        say_json([line.to_dict() for line in lines], indent=2)
    elif lines:
        show(runs_list(lines))
    else:
        say("assay: the store has no runs yet", aside=True)


@runs.command("show")
@configured
def show_run(
    run: RunArgument = "last",
    by: ByOption = None,
    cluster: ClusterOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
    bedrock: BedrockOption = None,
) -> None:
    """Show the table of a run again, as `assay score` printed it; or its rows as CSV."""
    from assay.cli.score import print_result
    from assay.evaluation.result import Result

    check_csv(as_csv)
    print_result(Result.load(run, opened(store)), None, as_csv, as_json, by, bedrock, cluster)


def worst(
    metric: Annotated[str, typer.Argument(help="The metric to go by.")],
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows.")] = 10,
    run: Annotated[str, typer.Option(help="The run's name, or 'last'.")] = "last",
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """Show the rows with the worst values of a metric, and what decided them."""
    from assay.evaluation.result import Result, record_of
    from assay.report.lists import worst_list

    check_csv(as_csv)
    if n < 1:
        raise InputError(f"-n: expected at least 1, got {n}")
    result = Result.load(run, opened(store))
    rows = result.worst(metric, n)
    if as_json:
        say_json([{"row": row.number, **row.scored.to_dict()} for row in rows], indent=2)
    if as_csv is not None:
        write_csv(map(record_of, rows), result.columns, as_csv)
    if not as_json and as_csv != STDOUT:
        show(worst_list(rows, metric)) if rows else say(f"no row of run {result.run} has a value of {metric}")


def failures(
    run: RunArgument = "last",
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """List the scores that have no value: row, id, metric, cause, and what was said of it."""
    from assay.evaluation.result import Result
    from assay.report.lists import failures_list

    check_csv(as_csv)
    result = Result.load(run, opened(store))
    found = result.failures
    if as_json:
        say_json([asdict(one) for one in found], indent=2)
    if as_csv is not None:
        write_csv(map(asdict, found), ("number", "id", "metric", "cause", "message", "raw"), as_csv)
    if as_json or as_csv == STDOUT:
        return
    if found:
        show(failures_list(replace(one, message=for_the_command_line(one.message)) for one in found))
    else:
        say(f"every score of run {result.run} has a value")


def explain(
    run: RunArgument,
    row: Annotated[
        str, typer.Argument(help="Id or number of a row; numbers start at 1. row:3 is the third, whatever the ids.")
    ],
    metric: Annotated[str | None, typer.Option(help="Explain this metric only.")] = None,
    full: Annotated[bool, typer.Option("--full", help="All metrics with all verdicts, however long.")] = False,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Say why a row got its scores: claims, verdicts and the passages that decided them.

    Without --metric in short: of each metric the verdicts that cost it most.
    """
    from assay.evaluation.result import Result

    result = Result.load(run, opened(store))
    if as_json:
        say_json(result.row(row).to_dict(), indent=2)
        return
    explanation = result.explain(row, metric)
    short = metric is None and not full
    show(explanation.rich(short=short))
    if short and explanation.shortened:
        say(f"\nin short; all of it: assay explain {run} {row} --full", aside=True)
