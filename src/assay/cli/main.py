"""The command line: score, explain, metrics, doctor, demo, worker, cascade, ingest, forget.

Exit codes: 0 all went well; 1 finished, but some scores are missing because judging failed; 2 wrong usage or input, or
a file or store that cannot be read or written; 3 the judge cannot be used (missing extra, key refused, endpoint
unreachable); 4 a fault in assay; 130 interrupted.
Results go to stdout, everything else to stderr; an error is one line with the way out. `assay --debug COMMAND`, or
ASSAY_DEBUG=1 in the environment, shows where it came from.
"""

from __future__ import annotations

import os
import sqlite3
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from assay.cli.cascade import cascade
from assay.cli.forget import forget
from assay.cli.groups import grouped
from assay.cli.ingest import ingest
from assay.cli.live import worker
from assay.cli.options import ColumnsOption, JudgeOptions, MetricsOption, column_map
from assay.cli.output import say, say_json, width
from assay.errors import SETTLED, AssayError, Cause, InputError, JudgeFailure, MissingExtra, StoreError

if TYPE_CHECKING:
    from assay.metrics import Metric
    from assay.result import Result

OK, UNSCORED, USAGE, JUDGE, FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130

#: Exit codes of errors; the first that fits. What is none of these is a fault in assay.
EXITS: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((InputError, StoreError), USAGE),
    ((MissingExtra, JudgeFailure), JUDGE),
    ((AssayError,), UNSCORED),
    ((OSError, sqlite3.Error), USAGE),
)
DEBUG = "ASSAY_DEBUG"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Score retrieval-augmented answers with located evidence.",
    epilog="Exit codes: 0 fine, 1 some judging or delivery failed, 2 wrong input, 3 judge unusable, 4 a fault "
    "in assay, 130 interrupted.",
)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Options of all commands."""
    if debug:
        os.environ[DEBUG] = "1"


StoreOption = Annotated[Path, typer.Option(help="Folder that keeps findings and runs.")]


@app.command()
@grouped
def score(
    data: Annotated[
        str, typer.Argument(help="JSONL, JSON, CSV, TSV or Parquet; or traces: NAME:ADDRESS, as otel:spans.jsonl.")
    ],
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    out: Annotated[Path | None, typer.Option(help="Write every row with scores and evidence as JSONL.")] = None,
    store: StoreOption = Path(".assay"),
    sink: Annotated[
        list[str] | None, typer.Option(help="NAME:ADDRESS of a trace store to write scores to; may be repeated.")
    ] = None,
    columns: ColumnsOption = None,
    language: Annotated[
        str | None,
        typer.Option(help="Code of the rows that do not say theirs, as 'en'. Default: found out row by row."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    concurrency: Annotated[int, typer.Option(help="Rows in flight at the same time.")] = 16,
    deadline: Annotated[float | None, typer.Option(help="Seconds for the whole run.")] = None,
) -> None:
    """Score a file of answers and print the table of means. A rerun asks only for what is missing."""
    from assay.evaluation import EvaluationInterrupted, evaluate
    from assay.judges.cascade.judge import CascadeJudge
    from assay.sinks.registry import resolve_sink

    chosen = judge.resolve()
    sinks = [resolve_sink(spec) for spec in sink or ()]
    try:
        result = evaluate(
            data,
            metrics,
            chosen,
            store=store,
            column_map=column_map(columns),
            language=language,
            limit=limit,
            concurrency=concurrency,
            deadline=deadline,
            sinks=sinks,
        )
    except EvaluationInterrupted as interrupted:
        _print_result(interrupted.result, out)
        say("assay: interrupted; the rows above are complete. Run the same command to go on.", aside=True)
        raise typer.Exit(INTERRUPTED) from None
    _print_result(result, out)
    if isinstance(chosen, CascadeJudge):
        say(chosen.report().text(), aside=True)
    raise typer.Exit(_verdict(result))


@app.command()
def explain(
    run: Annotated[str, typer.Argument(help="Id of a run, or 'last'.")],
    row: Annotated[str, typer.Argument(help="Id or number of a row; numbers start at 1.")],
    metric: Annotated[str | None, typer.Option(help="Explain this metric only.")] = None,
    store: StoreOption = Path(".assay"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the row with all its evidence as JSON.")] = False,
) -> None:
    """Say why a row got its scores: claims, verdicts and the passages that decided them."""
    from assay.result import Result

    if not (store / "assay.db").exists():
        raise InputError(f"store: there is none in {str(store)!r}; name yours with --store, or score something first")
    result = Result.load(run, store)
    if as_json:
        say_json(result.row(row).to_dict(), indent=2)
    else:
        say(result.explain(row, metric).text(width()))


@app.command()
def metrics() -> None:
    """List the metrics: what each needs, its range and direction, and which judges can do it."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from assay.metrics.registry import names, resolve

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("metric", "needs", "range", "better", "judges"):
        table.add_column(title, no_wrap=title != "needs")
    for name in names():
        try:
            (metric,) = resolve(name)
        except InputError as error:  # of another package, which is broken; the others are there
            say(f"assay: {error}", aside=True)
            continue
        table.add_row(
            name,
            ", ".join(metric.needs),
            f"{metric.low:g} to {metric.high:g}",
            metric.direction,
            _judges_for(metric),
        )
    Console(width=width()).print(table)


@app.command()
@grouped
def doctor(
    judge: JudgeOptions,
) -> None:
    """Check what works here: installed parts, the embedded judge, and what a judge endpoint supports."""
    from assay.doctor import examine

    fine = True
    for check in examine(None if judge == JudgeOptions() else judge.resolve()):
        fine = fine and check.fine is not False
        mark = {True: "ok  ", False: "FAIL", None: "–   "}[check.fine]
        say(f"{mark} {check.name}: {check.text}")
    raise typer.Exit(OK if fine else JUDGE)


@app.command()
def demo(store: StoreOption = Path(".assay")) -> None:
    """Score 22 real answers with the embedded judge, and show the worst one and what decided it."""
    from assay.demo import answers
    from assay.evaluation import evaluate

    result = evaluate(answers(), store=store)
    say(result)
    worst = result.worst("faithfulness")
    if worst is not None:
        said = worst.scored.sample.metadata["human"]
        say(f"\nThe least faithful answer, row {worst.number} (people said: {said})\n")
        say(result.explain(worst.number, "faithfulness").text(width()))
    say(f"\nMore: assay explain last ROW --store {store}")


# the commands that have files of their own
for command in (worker, cascade, ingest, forget):
    app.command()(command)


def _print_result(result: Result, out: Path | None) -> None:
    from assay.report.table import as_text

    say(as_text(result, width()))
    if out is not None:
        result.to_jsonl(out)
        say(f"rows with evidence: {out}", aside=True)


def _verdict(result: Result) -> int:
    """1 when judging or delivery failed somewhere or the run was cut short; what lies in the samples is no failure."""
    causes = {Cause(cause) for summary in result.metrics.values() for cause in summary.causes}
    arrived = not any(found.undelivered for found in result.deliveries.values())
    return OK if result.complete and arrived and causes <= SETTLED else UNSCORED


def _judges_for(metric: Metric) -> str:
    from assay.judges.embedded.judge import INQUIRIES

    if not metric.asks:  # of another package: it asks nothing, or does not say what
        return "any" if metric.consults else "none"
    return "embedded, LLM" if set(metric.asks) <= set(INQUIRIES) else "LLM"


def main() -> None:
    """Entry point: turns errors into one line and an exit code."""
    try:
        app()
    except KeyboardInterrupt:
        _fail(INTERRUPTED, "interrupted")
    except Exception as error:
        code = next((code for kinds, code in EXITS if isinstance(error, kinds)), FAULT)
        message = str(error)
        if not isinstance(error, (AssayError, OSError)):
            message = f"{type(error).__name__}: {message}"
        if code == FAULT:
            message = f"a fault in assay: {message}; with {DEBUG}=1 in the environment it shows where"
        _fail(code, message)


def _fail(code: int, message: str) -> NoReturn:
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        say(traceback.format_exc(), aside=True)
    say(f"assay: error: {' '.join(message.split())}", aside=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
