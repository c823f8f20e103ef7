"""The command `assay score`: files of answers, scored, as a table, as JSON or as CSV."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay._util.terminal import pluralize
from assay.cli.config_defaults import budget_meant, configuration_in_use, metrics_meant
from assay.cli.detached_jobs import check_detach, end_job, keep_job
from assay.cli.error_terms import for_the_command_line
from assay.cli.gate_options import BaselineOption, FailOverOption, FailUnderOption, Stakes, SummaryOption, watch
from assay.cli.option_groups import grouped
from assay.cli.options import (
    BedrockOption,
    ByOption,
    ClusterOption,
    ColumnsOption,
    CsvOption,
    JsonOption,
    JudgeOptions,
    MetricsOption,
    StoreOption,
    column_map,
    named_again,
)
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.errors import SETTLED, Cause, Detached, InputError

if TYPE_CHECKING:
    from assay.evaluation.result import Result
    from assay.evaluation.summary import Summary

OK, UNSCORED, INTERRUPTED = 0, 1, 130


@grouped
def score(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="JSONL, JSON, CSV, TSV or Parquet: one file, several, or a pattern as 'answers/*.jsonl'; '-' for "
            "standard input; or traces: NAME:ADDRESS, as otel:spans.jsonl. Without it, the data of the configuration.",
            show_default=False,
        ),
    ] = None,
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    out: Annotated[Path | None, typer.Option(help="Write every row with scores and evidence as JSONL.")] = None,
    bedrock: BedrockOption = None,
    as_csv: CsvOption = None,
    as_json: JsonOption = False,
    by: ByOption = None,
    cluster: ClusterOption = None,
    run: Annotated[
        str | None, typer.Option("--run", "--name", help="A name for the run; it gets one of its own without.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="A sentence to keep with the run.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the run of that name, if there is one, and all its rows.")
    ] = False,
    store: StoreOption = Path(".assay"),
    sink: Annotated[
        list[str] | None, typer.Option(help="NAME:ADDRESS of a trace store to write scores to; may be repeated.")
    ] = None,
    columns: ColumnsOption = None,
    format: Annotated[
        str | None, typer.Option(help="jsonl, json, csv, tsv or parquet, where the name of a file does not say it.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Code of the rows that do not say theirs, as 'en'. Default: found out row by row."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    concurrency: Annotated[int, typer.Option(help="Rows in flight at the same time.")] = 16,
    deadline: Annotated[float | None, typer.Option(help="Seconds for the whole run.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Score files in this many processes, in pieces; a rerun goes on where the last one stopped."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="Where the pieces are scored: processes, or ray, a cluster; --jobs is then its workers."),
    ] = None,
    job_folder: Annotated[
        str | None,
        typer.Option(help="Folder of the pieces, or s3://BUCKET/PREFIX. Default: one in the store's folder."),
    ] = None,
    lean: Annotated[
        bool,
        typer.Option(
            "--lean", help="With --jobs or --engine: keep of each row id, values and causes, and no judgements."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Submit batches and end; `assay batch collect` goes on. Batch judges only.")
    ] = False,
    fail_under: FailUnderOption = None,
    fail_over: FailOverOption = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Hold the run against the gates of the configuration, as `assay gate` does.")
    ] = False,
    baseline: BaselineOption = None,
    early: Annotated[
        bool, typer.Option("--early", help="End as soon as the gate is decided; rows are read in an order by chance.")
    ] = False,
    summary: SummaryOption = None,
) -> None:
    """Score files of answers and print the table of means. A rerun asks only for what is missing."""
    from assay.data import open_data
    from assay.data.named_sources import is_source_name
    from assay.evaluation.evaluate import EvaluationInterrupted, evaluate
    from assay.evaluation.sharded.engines import engine_by_name
    from assay.evaluation.sharded.job import evaluate_in_shards
    from assay.evaluation.sharded.storage import is_address
    from assay.judges.cascade.judge import CascadeJudge
    from assay.sinks.registry import resolve_sink

    data = _data(data)
    check_csv(as_csv)
    _check_outputs(data, out, as_csv, as_json)
    if bedrock is not None:
        check_target("--bedrock", bedrock, data)
    measured = metrics_meant(metrics)
    stakes = Stakes.of(fail_under, fail_over, gate, baseline, store, measured)
    chosen = judge.resolve()
    if stakes is not None:
        stakes.check_thresholds(chosen)
    batches = None if quiet else getattr(chosen, "batches", None)
    if batches is not None:
        batches.say = lambda text: say(f"assay: {text}", aside=True)
    if detach:
        check_detach(data)
    sinks = [resolve_sink(spec) for spec in sink or ()]
    named = (
        data[0]
        if len(data) == 1
        else [name if is_source_name(name) or is_address(name) else Path(name) for name in data]
    )
    where = None
    if engine is not None or jobs is not None:
        where = engine_by_name(engine or "processes", jobs)
        _check_jobs(
            "--jobs" if engine is None else f"--engine {engine}",
            data,
            {"--sink": sink, "--limit": limit, "--deadline": deadline, "--detach": detach or None,
             "--early": early or None},
        )  # fmt: skip
    elif lean or job_folder is not None:
        raise InputError(f"{'--lean' if lean else '--job-folder'}: goes with --jobs and --engine")
    how: dict[str, Any] = {
        "store": store, "concurrency": concurrency, "run": run, "replace": replace, "note": note,
        "progress": not quiet, "budget": budget_meant(),
    }  # fmt: skip
    reading: dict[str, Any] = {"column_map": column_map(columns), "format": format, "language": language}
    watched = None
    try:
        if where is None:
            rows = open_data(named, limit=limit, **reading)
            if early:
                rows, watched = watch(stakes, rows, measured, chosen)
            until = None if watched is None else watched.take
            result = evaluate(rows, measured, chosen, deadline=deadline, sinks=sinks, detach=detach, until=until, **how)
        else:
            # the embedded judge reads on one thread in each process where it is named
            one = "embedded" if judge == JudgeOptions() else judge.resolve
            result = evaluate_in_shards(named, measured, one, engine=where, lean=lean, out=job_folder, **reading, **how)
    except Detached as detached:
        keep_job(store, detached.run, run is not None)
        say(f"assay: {for_the_command_line(str(detached))}", aside=True)
        raise typer.Exit(OK) from None
    except EvaluationInterrupted as interrupted:
        print_result(interrupted.result, out, as_csv, as_json, by, bedrock, cluster)
        again = "with --replace " if run is not None and not replace else ""
        say(f"assay: interrupted; the rows above are complete. Run the same command {again}to go on.", aside=True)
        raise typer.Exit(INTERRUPTED) from None
    end_job(store, result.run)
    print_result(result, out, as_csv, as_json, by, bedrock, cluster)
    if not as_json and as_csv != STDOUT and (told := _where_told(result, store)):
        say(told, aside=True)
    if isinstance(chosen, CascadeJudge) and where is None:
        say(chosen.report().text(), aside=True)
    code = 0 if stakes is None else stakes.settle(result, summary, watched, aside=as_json or as_csv == STDOUT)
    raise typer.Exit(code or (OK if watched is not None and watched.verdict else _verdict(result)))


def _data(given: list[str] | None) -> list[str]:
    """The files that are named, or those of the configuration. Raises InputError where there are none."""
    from assay.config.keys import check_source_keys

    config = configuration_in_use()
    if not given and config is not None:
        check_source_keys(config)
    found = given or (None if config is None else list(config.data))
    if not found:
        raise InputError("data: name a file of answers, or one in the configuration (`assay init` writes one)")
    return found


def _check_jobs(how: str, data: list[str], options: dict[str, object]) -> None:
    """Raises InputError for what a job of many workers does not do."""
    from assay.data.named_sources import is_source_name

    for option, given in options.items():
        if given:
            raise InputError(f"{how}: does not go with {option}")
    if any(is_source_name(name) for name in data):
        raise InputError(f"{how}: goes with files, not with sources of traces")


def _check_outputs(data: list[str], out: Path | None, as_csv: str | None, as_json: bool) -> None:
    """Before anything is read: nothing is written over that or into no folder, and stdout has room for one thing."""
    for option, file in (("--out", out), ("--csv", as_csv)):
        if file is not None and str(file) != STDOUT:
            check_target(option, Path(file), data)
    if as_json and as_csv == STDOUT:
        raise InputError("--csv, --json: only one of them can go to stdout; name a file, --csv FILE")


def check_target(option: str, file: Path, data: list[str]) -> None:
    """Raises InputError for a file that is read as data, and for one in a folder that is not there."""
    from assay.data.paths import paths_of

    if any(_same_file(file, path) for name in data for path in paths_of(name) or ()):
        raise InputError(f"{option}: {str(file)!r} is read as data; write to another file")
    if not file.parent.is_dir():
        raise InputError(f"{option}: there is no folder {str(file.parent)!r} to write {file.name!r} into")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.expanduser().resolve() == other.expanduser().resolve()
    except OSError:
        return False


def print_result(
    result: Result,
    out: Path | None,
    as_csv: str | None,
    as_json: bool,
    by: str | None,
    bedrock: Path | None = None,
    cluster: str | None = None,
) -> None:
    """The result as it was asked for: one kind of thing on stdout, with the table beside it where that is CSV.

    Raises InputError for a column, to group or to cluster by, that no row has; everything else has been printed and
    written by then.
    """
    from assay.evaluation.display.table import as_rich, as_text, groups_table

    groups, unknown = None, None
    try:
        result = result if cluster is None else result.clustered(cluster)
        groups = None if by is None else result.by(by)
    except InputError as error:
        unknown = error
    if as_json:
        found = result.to_dict()
        if groups is not None:
            found["by"] = {by: {value: _dicts(summaries) for value, summaries in groups.items()}}
        say_json(found, indent=2)
    elif as_csv == STDOUT:
        say(as_text(result), aside=True)
    else:
        show(as_rich(result))
        if groups is not None:
            say("")
            show(groups_table(groups, by or ""))
    if as_csv is not None:
        write_csv(result.records(), result.columns, as_csv)
    if out is not None:
        result.to_jsonl(out)
        say(f"rows with evidence: {out}", aside=True)
    if bedrock is not None:
        result.to_bedrock(bedrock)
        say(f"rows as Bedrock's results: {bedrock}", aside=True)
    if unknown is not None:
        raise unknown


def _dicts(summaries: dict[str, Summary]) -> dict[str, object]:
    return {name: summary.to_dict() for name, summary in summaries.items()}


def _where_told(result: Result, store: str | Path) -> str:
    """The command that says why scores have no value; empty where all have one."""
    missing = sum(sum(summary.causes.values()) for summary in result.metrics.values())
    if not missing:
        return ""
    have = "has" if missing == 1 else "have"
    command = f"assay failures {shlex.quote(result.run)}{named_again(store)}"
    return f"why {pluralize(missing, 'score')} {have} no value: {command}"


def _verdict(result: Result) -> int:
    """1 when judging or delivery failed somewhere or the run was cut short; what lies in the samples is no failure."""
    causes = {Cause(cause) for summary in result.metrics.values() for cause in summary.causes}
    arrived = not any(found.undelivered for found in result.deliveries.values())
    return OK if result.complete and arrived and causes <= SETTLED else UNSCORED
