"""The command line: score, explain, metrics, doctor, demo, worker, ingest.

Exit codes: 0 all went well; 1 finished, but some scores are missing because judging failed; 2 wrong usage or input;
3 the judge cannot be used (missing extra, key refused, endpoint unreachable); 130 interrupted.
Results go to stdout, everything else to stderr; an error is one line with the way out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from assay.cli.cascade import cascade
from assay.cli.ingest import ingest
from assay.cli.live import worker
from assay.cli.options import BaseUrlOption, EmbeddingOption, JudgeOption, KeyOption, WindowOption, column_map, judge_of
from assay.errors import SETTLED, AssayError, Cause, InputError, JudgeFailure, MissingExtra, StoreError

if TYPE_CHECKING:
    from assay.metrics import Metric
    from assay.result import Result

OK, UNSCORED, USAGE, JUDGE, INTERRUPTED = 0, 1, 2, 3, 130

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Score retrieval-augmented answers with located evidence.",
    epilog="Exit codes: 0 fine, 1 some judging or delivery failed, 2 wrong input, 3 judge unusable, 130 interrupted.",
)

StoreOption = Annotated[Path, typer.Option(help="Folder that keeps findings and runs.")]


@app.command()
def score(
    data: Annotated[
        str, typer.Argument(help="JSONL, JSON, CSV, TSV or Parquet; or traces: NAME:ADDRESS, as otel:spans.jsonl.")
    ],
    metrics: Annotated[str | None, typer.Option(help="Names, separated by commas; `assay metrics` lists them.")] = None,
    judge: JudgeOption = "embedded",
    base_url: BaseUrlOption = None,
    api_key_env: KeyOption = None,
    embedding_model: EmbeddingOption = None,
    window_tokens: WindowOption = None,
    out: Annotated[Path | None, typer.Option(help="Write every row with scores and evidence as JSONL.")] = None,
    store: StoreOption = Path(".assay"),
    sink: Annotated[
        list[str] | None, typer.Option(help="NAME:ADDRESS of a trace store to write scores to; may be repeated.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--map", help="FIELD=COLUMN, where a column has a name of your own.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    concurrency: Annotated[int, typer.Option(help="Rows in flight at the same time.")] = 16,
    deadline: Annotated[float | None, typer.Option(help="Seconds for the whole run.")] = None,
) -> None:
    """Score a file of answers and print the table of means. A rerun asks only for what is missing."""
    from assay.evaluation import EvaluationInterrupted, evaluate
    from assay.judges.cascade.judge import CascadeJudge
    from assay.sinks.registry import resolve_sink

    chosen = judge_of(judge, base_url, api_key_env, embedding_model, window_tokens)
    sinks = [resolve_sink(spec) for spec in sink or ()]
    try:
        result = evaluate(
            data,
            metrics,
            chosen,
            store=store,
            column_map=column_map(columns),
            limit=limit,
            concurrency=concurrency,
            deadline=deadline,
            sinks=sinks,
        )
    except EvaluationInterrupted as interrupted:
        _print_result(interrupted.result, out)
        print("assay: interrupted; the rows above are complete. Run the same command to go on.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _print_result(result, out)
    if isinstance(chosen, CascadeJudge):
        print(chosen.report().text(), file=sys.stderr)
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
        print(json.dumps(result.row(row).to_dict(), ensure_ascii=False, indent=2))
    else:
        print(result.explain(row, metric).text(_width()))


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
            print(f"assay: {error}", file=sys.stderr)
            continue
        table.add_row(
            name,
            ", ".join(metric.needs),
            f"{metric.low:g} to {metric.high:g}",
            metric.direction,
            _judges_for(metric),
        )
    Console(width=_width()).print(table)


@app.command()
def doctor(
    judge: JudgeOption = "embedded",
    base_url: BaseUrlOption = None,
    api_key_env: KeyOption = None,
    embedding_model: EmbeddingOption = None,
    window_tokens: WindowOption = None,
) -> None:
    """Check what works here: installed parts, the embedded judge, and what a judge endpoint supports."""
    from assay.doctor import examine

    options = (base_url, api_key_env, embedding_model, window_tokens)
    chosen = None if judge == "embedded" and not any(options) else judge_of(judge, *options)
    fine = True
    for check in examine(chosen):
        fine = fine and check.fine is not False
        mark = {True: "ok  ", False: "FAIL", None: "–   "}[check.fine]
        print(f"{mark} {check.name}: {check.text}")
    raise typer.Exit(OK if fine else JUDGE)


@app.command()
def demo(store: StoreOption = Path(".assay")) -> None:
    """Score 22 real answers with the embedded judge, and show the worst one and what decided it."""
    from assay.demo import answers
    from assay.evaluation import evaluate

    result = evaluate(answers(), store=store)
    print(result)
    worst = result.worst("faithfulness")
    if worst is not None:
        print(
            f"\nThe least faithful answer, row {worst.number} (people said: {worst.scored.sample.metadata['human']})\n"
        )
        print(result.explain(worst.number, "faithfulness").text(_width()))
    print("\nMore: assay explain last ROW --store", store)


app.command()(worker)
app.command()(cascade)
app.command()(ingest)


def _print_result(result: Result, out: Path | None) -> None:
    from assay.report.table import as_text

    print(as_text(result, _width()))
    if out is not None:
        result.to_jsonl(out)
        print(f"rows with evidence: {out}", file=sys.stderr)


def _verdict(result: Result) -> int:
    """1 when judging or delivery failed somewhere or the run was cut short; what lies in the samples is no failure."""
    causes = {Cause(cause) for summary in result.metrics.values() for cause in summary.causes}
    arrived = not any(found.undelivered for found in result.deliveries.values())
    return OK if result.complete and arrived and causes <= SETTLED else UNSCORED


def _judges_for(metric: Metric) -> str:
    from assay.judges.embedded.judge import INQUIRIES

    if not metric.asks:  # of another package: it asks nothing, or does not say what
        return "any" if metric.consults else "none"
    return "embedded, LLM" if set(metric.asks) <= set(INQUIRIES) and not metric.needs_contradiction else "LLM"


def _width() -> int:
    from shutil import get_terminal_size

    return max(80, min(140, get_terminal_size((110, 24)).columns))


def _fail(code: int, error: BaseException) -> NoReturn:
    message = " ".join(str(error).split())
    print(f"assay: error: {message}", file=sys.stderr)
    raise SystemExit(code)


def main() -> None:
    """Entry point: turns assay's errors into one line and an exit code."""
    try:
        app()
    except (InputError, StoreError) as error:
        _fail(USAGE, error)
    except (MissingExtra, JudgeFailure) as error:
        _fail(JUDGE, error)
    except AssayError as error:
        _fail(UNSCORED, error)
    except KeyboardInterrupt as error:
        _fail(INTERRUPTED, error)


if __name__ == "__main__":
    main()
