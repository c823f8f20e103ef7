"""The command `assay score`: files of answers, scored, as a table, as JSON or as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.detached_jobs import check_detach
from assay.cli.error_terms import for_the_command_line
from assay.cli.gate_options import Stakes
from assay.cli.help_all import HelpAllOption
from assay.cli.option_groups import grouped
from assay.cli.options import JudgeOptions, MetricsOption, column_map
from assay.cli.output import check_csv, say
from assay.cli.score_options import GateOptions, InputOptions, OutputOptions, RunOptions, ShardOptions
from assay.cli.score_output import check_outputs, print_result, report_finished
from assay.cli.score_run import ScoreJob, check_shards, data_meant, run_job
from assay.errors import Detached

if TYPE_CHECKING:
    from assay.judges import BaseJudge
    from assay.judges.budget.budget import Budget

OK, INTERRUPTED = 0, 130


@grouped
def score(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="JSONL, JSON, CSV, TSV or Parquet files, patterns, '-' for stdin, or traces (otel:spans.jsonl). "
            "Default: data of assay.toml.",
            show_default=False,
        ),
    ] = None,
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    reading: InputOptions,
    run: RunOptions,
    shards: ShardOptions,
    output: OutputOptions,
    gate: GateOptions,
    help_all: HelpAllOption = False,
) -> None:
    """Score files of answers; a rerun asks only for what is missing."""
    from assay.evaluation.evaluate import EvaluationInterrupted

    job = _prepare(data_meant(data), metrics, judge, reading, run, shards, output, gate)
    try:
        result, sequential = run_job(job)
    except Detached as detached:
        _keep_detached(job, detached)
        raise typer.Exit(OK) from None
    except EvaluationInterrupted as interrupted:
        print_result(interrupted.result, output)
        again = "with --replace " if run.name is not None and not run.replace else ""
        say(f"assay: interrupted; the rows above are complete. Run the same command {again}to go on.", aside=True)
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(report_finished(job, result, sequential))


def _prepare(
    data: list[str],
    metrics: str | None,
    judge: JudgeOptions,
    reading: InputOptions,
    run: RunOptions,
    shards: ShardOptions,
    output: OutputOptions,
    gate: GateOptions,
) -> ScoreJob:
    """The job that the options and the configuration mean. Raises InputError before anything is read or asked."""
    from assay.cli.config_defaults import metrics_meant
    from assay.sinks.registry import resolve_sink

    check_csv(output.as_csv)
    check_outputs(data, output)
    measured = metrics_meant(metrics)
    stakes = Stakes.of(gate.fail_below, gate.fail_above, gate.gate, gate.baseline, run.store, measured)
    chosen = judge.resolve()
    if stakes is not None:
        stakes.check_thresholds(chosen)
    batches = None if run.quiet else getattr(chosen, "batches", None)
    if batches is not None:
        batches.say = lambda text: say(f"assay: {text}", aside=True)
    if run.detach:
        check_detach(data)
    sinks = [resolve_sink(spec) for spec in run.sink or ()]
    check_shards(shards, data, run, reading, gate)
    return ScoreJob(
        data=data,
        metrics=measured,
        judge=chosen,
        judge_options=judge,
        reading={"column_map": column_map(reading.columns), "format": reading.format, "language": reading.language},
        limit=reading.limit,
        run=run,
        sinks=sinks,
        budget=_budget(run.budget, chosen),
        shards=shards,
        output=output,
        stakes=stakes,
        sequential=gate.sequential,
        summary=gate.summary,
    )


def _budget(amount: str | None, judge: BaseJudge) -> Budget | None:
    """The budget of the file, with --budget. Raises InputError for an amount that is none, or without prices."""
    from assay.cli.config_defaults import budget_meant

    of_the_file = budget_meant()
    if amount is None:
        return of_the_file
    from assay.cli.amounts import budget_of_amount

    return budget_of_amount(amount, judge, of_the_file)


def _keep_detached(job: ScoreJob, detached: Detached) -> None:
    from assay.cli.detached_jobs import keep_job

    keep_job(job.run.store, detached.run, job.run.name is not None)
    say(f"assay: {for_the_command_line(str(detached))}", aside=True)
