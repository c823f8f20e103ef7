"""Metrics x samples: score a data set, row by row, with everything on disk as it is made.

One implementation, `aevaluate`; `evaluate` is the same for callers without a loop, and works inside one too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from assay._util.normalise import well_formed
from assay._util.sync import facade
from assay.data import ColumnMap, Data, Rows, missing_columns, open_data
from assay.data.column_names import map_of
from assay.errors import Cause, InputError
from assay.evaluation.completeness import NOT_FINISHED
from assay.evaluation.result import Result
from assay.evaluation.run import EvaluationRun, RunOptions
from assay.evaluation.run_names import same_model_at_other_address, start_run
from assay.evaluation.summary import Summary
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, check_budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.no_judge import NoJudge, judge_if_asked
from assay.judges.protocol import BatchedQuestions
from assay.metrics import Metric
from assay.metrics.names import MetricSpec, resolve_metrics
from assay.records import ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import check_sinks
from assay.store.store import Store
from assay.store.temporary import TemporaryStore

#: What is measured when no metrics are named: those of these that the data and the judge allow.
DEFAULT_METRICS = (
    "faithfulness",
    "context_utilization",
    "context_relevance",
    "context_precision",
    "context_recall",
    "answer_relevancy",
    "answer_correctness",
)
IN_FLIGHT = 16  # samples scored at the same time
SAMPLE_DEADLINE = 300.0  # seconds
STOP_AFTER = 20  # rows

P = ParamSpec("P")

#: The results of the runs that started inside the current call of `evaluate`, for its handling of Ctrl-C.
_STARTED: ContextVar[list[Result] | None] = ContextVar("assay_started", default=None)


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `evaluate`. What was scored until then is complete, on disk, and in `result`."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"interrupted after {result.rows} rows; they are in run {result.run} of {result.store.name}")
        self.result = result


async def aevaluate(
    data: Rows,
    metrics: MetricSpec | None = None,
    judge: JudgeSpec = None,
    *,
    store: Store | str | Path | None = ".assay",
    column_map: ColumnMap | None = None,
    language: str | None = None,
    limit: int | None = None,
    concurrency: int = IN_FLIGHT,
    sample_deadline: float | None = SAMPLE_DEADLINE,
    deadline: float | None = None,
    score_partial: bool = False,
    progress: bool | None = None,
    on_score: Callable[[ScoredSample], None] | None = None,
    sinks: Sequence[Sink] = (),
    run: str | None = None,
    replace: bool = False,
    note: str | None = None,
    budget: Budget | None = None,
    stop_after: int | None = STOP_AFTER,
    reading: int = 1,
    batched_questions: BatchedQuestions | None = None,
    detach: bool = False,
    until: Callable[[int, ScoredSample], str | None] | None = None,
) -> Result:
    """Score every row of `data` with every metric.

    Rows scored until an error are in the store. Any failure that is not listed below is a value in its row's place.

    Args:
        data: List of dicts or Samples, dict of columns, path to JSONL / JSON / CSV / TSV / Parquet, pandas or polars
            DataFrame, Hugging Face Dataset, pyarrow Table, or any iterable of rows.
        metrics: Names, Metric objects, or functions whose parameters are fields of a sample. None: those of
            DEFAULT_METRICS that data and judge allow.
        judge: A judge, "embedded" (the default) or "openai:MODEL".
        store: Folder that keeps judgements and rows; a rerun asks only for what is missing. None: a temporary one.
        column_map: Your column for a field whose name is not recognised: {"question": "frage"}. For contexts also
            several columns, each with one or more passages: {"contexts": ["first", "second"]}.
        language: ISO 639-1 code of the rows that do not name theirs. None: detected row by row where the texts leave
            no doubt, else English. Languages that the judge does not read are skipped (language).
        limit: Read at most this many rows.
        concurrency: Samples in flight at the same time; memory grows with this, not with the number of rows. A batch
            judge has its own number, `rows_in_flight`, and the larger one holds.
        sample_deadline: Seconds for one row; metrics that are not measured by then fail (timeout). Does not
            apply to a batch judge.
        deadline: Seconds for the whole run; the result is then partial, and `Result.stopped` says so. Rows that are not
            done by then are gaps (timeout). The run works on a thread of its own then, where data are read and
            `on_score` and `until` are called: a judge that blocks its event loop or ignores cancellation is left
            behind five seconds after the deadline.
        score_partial: Also score answers that were abandoned, cancelled or failed.
        progress: Show a bar on stderr. None: if it is a terminal.
        on_score: Called with each scored row, in order of completion.
        sinks: Where scored rows also go; closed at the end. Failed deliveries are in `Result.deliveries`.
        run: The run's name in the store. None: a new one.
        replace: Delete a run of that name in the store first; its judgements are kept. False: it is an error.
        note: A sentence that is kept with the run, and shown with it.
        budget: Limits on requests to the judge. Rows beyond it are skipped (budget), and a rerun asks for them again.
        stop_after: Rows in a row without one usable reply of the judge after which the run ends. None: never.
        reading: 2 asks the judge again for what reading 1 has stored, and keeps the replies apart: see
            `assay.analysis.judges.noise`.
        batched_questions: Whether an LLM judge is asked related questions in one request: "yes", "no", or "auto", where
            `assay judge batching` found no difference. None: as the judge is configured, by default "auto".
        detach: For a batch judge: submit the batches, and raise Detached in place of waiting for them. The same call
            later continues, and either ends or raises it again.
        until: Called with the number of each row and the row scored, in the order of the data. A text that it returns
            ends the run, and is kept in `Result.stopped`.

    Returns:
        The run's summary: means, failures and costs. Its rows are read from the store.

    Raises:
        InputError: Before the judge is asked: for unknown metrics, a run name that is taken, or missing columns.
        JudgeFailure: The endpoint refuses the key or does not know the model, or `stop_after` rows in a row had no
            usable reply.
        StoreError: The store cannot be written.
        Detached: With `detach`, batches are not finished.
        EvaluationInterrupted: Ctrl-C during `evaluate`; it has the partial result.
    """
    options = RunOptions(
        concurrency=concurrency,
        sample_deadline=sample_deadline,
        deadline=deadline,
        score_partial=score_partial,
        progress=progress,
        on_score=on_score,
        sinks=sinks,
        budget=budget,
        stop_after=stop_after,
        reading=reading,
        batched_questions=batched_questions,
        detach=detach,
        until=until,
    )
    await _check_sinks(options)
    named = (run, replace, note)
    running, source = _begin(data, metrics, judge, store, column_map, language, limit, named, options)
    if (started := _STARTED.get()) is not None:
        started.append(running.result)
    with spending(running.options.budget):
        await running.run(source)
    return running.result


def _interruptible(name: str, function: Callable[P, Awaitable[Result]]) -> Callable[P, Result]:
    """The function for callers without a loop; Ctrl-C raises EvaluationInterrupted once a run has started."""
    run = facade(name, function)

    @wraps(run)
    def sync(*args: P.args, **kwargs: P.kwargs) -> Result:
        started: list[Result] = []
        token = _STARTED.set(started)
        try:
            return run(*args, **kwargs)
        except KeyboardInterrupt:
            if not started:
                raise
            raise EvaluationInterrupted(started[0]) from None
        finally:
            _STARTED.reset(token)

    return sync


#: `aevaluate` for scripts, threads and notebooks; it also works inside a running event loop.
evaluate = _interruptible("evaluate", aevaluate)


def _begin(
    data: Rows,
    metrics: MetricSpec | None,
    judge: JudgeSpec,
    store: Store | str | Path | None,
    column_map: ColumnMap | None,
    language: str | None,
    limit: int | None,
    named: tuple[str | None, bool, str | None],
    options: RunOptions,
) -> tuple[EvaluationRun, Data]:
    """Check everything, and start a run in the store. Asks the judge nothing."""
    metrics = None if metrics is None else resolve_metrics(metrics)
    judge = judge_if_asked(metrics is None or any(metric.may_ask for metric in metrics), judge)
    judge = judge if options.batched_questions is None else judge.with_batched_questions(options.batched_questions)
    source = open_data(data, column_map=column_map, limit=limit, language=language)
    chosen = chosen_for(metrics, source, judge)
    check_budget(options.budget, judge)
    if options.detach and judge.rows_in_flight is None and not isinstance(judge, NoJudge):
        raise InputError("detach: goes with a judge that answers in batches, for example judge='openai-batch:MODEL'")
    for name, value in {
        "concurrency": options.concurrency,
        "stop_after": options.stop_after,
        "reading": options.reading,
    }.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    for name, seconds in {"deadline": options.deadline, "sample_deadline": options.sample_deadline}.items():
        if seconds is not None and not seconds > 0:  # nor is NaN
            raise InputError(f"{name}: expected a positive number of seconds, got {seconds}")
    run, replace, note = named
    if note is not None and not isinstance(note, str):
        raise InputError(f"note: expected a text, got {type(note).__name__}")
    note = note and well_formed(note)
    kept = store if isinstance(store, Store) else Store(store) if store is not None else TemporaryStore()
    result = Result(run="", store=kept, judge=judge.fingerprint, note=note, data=source.name,
                    expected=source.total_for_estimates(), default_metrics=metrics is None)  # fmt: skip
    for metric in chosen:
        result.metrics[metric.label] = Summary(metric.label, metric.low, metric.high, metric.direction)
        result.parameters[metric.label] = repr(metric)
    other = same_model_at_other_address(result.judge, kept) if judge.durable else None
    if other is not None:
        result.notes.append(
            f"the store has judgements of {other} and none of {result.judge}: they differ by address alone, and "
            "everything was asked anew. If both are the same model, give both judges one identity="
        )
    result.notes.extend(source.doubts)
    if (unable := _unable(chosen, judge)) is not None:
        result.notes.append(unable)
    info = {**result.info(), "stopped": NOT_FINISHED}
    result.run, result.started = start_run(kept, run, info, replace=replace)
    judgements = kept.judgements(result.run)
    judgements.writer = kept.group_writer(result.run, result.started)
    cache = JudgementCache(judge.with_store(judgements), judgements, options.reading)
    if cache.batched_groups:
        result.notes.append(f"asked in one request, by groups: {', '.join(sorted(cache.batched_groups))}")
    return EvaluationRun(result, chosen, judge, cache, options, judgements.writer), source


async def _check_sinks(options: RunOptions) -> None:
    """Raises InputError where a sink knows already that it can deliver nothing."""
    if options.sinks:
        await asyncio.to_thread(check_sinks, options.sinks)


def chosen_for(metrics: MetricSpec | None, source: Data, judge: BaseJudge) -> tuple[Metric, ...]:
    """The metrics to run. Reports all that is missing at once, before any call."""
    if metrics is None:
        chosen = tuple(
            metric
            for metric in resolve_metrics(DEFAULT_METRICS)
            if not missing_columns(source.columns, (metric,)) and metric.cannot(judge) is None
        )
        if not chosen:
            raise InputError(
                f"data: no default metric fits. {_columns_text(source)}. `assay metrics` lists what each needs; use "
                "column_map= to name your columns"
            )
        return chosen
    chosen = resolve_metrics(metrics)
    missing = missing_columns(source.columns, chosen)
    if missing:
        lines = "; ".join(f"{label} needs {', '.join(fields)}" for label, fields in missing.items())
        fields = tuple(field for lacking in missing.values() for field in lacking)
        raise InputError(f"data: columns are missing: {lines}. {_columns_text(source)}. {_way_out(source, fields)}")
    return chosen


def _unable(chosen: Sequence[Metric], judge: BaseJudge, most: int = 5) -> str | None:
    """Which metrics this judge cannot do, whatever the rows; None where it can do all."""
    reasons = ((metric.label, metric.cannot(judge)) for metric in chosen)
    labels = [label for label, reason in reasons if reason is not None and reason.cause is Cause.JUDGE_CANNOT]
    if not labels:
        return None
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    which = f"{len(labels)} of {len(chosen)} metrics ask" if len(chosen) > 1 else "this metric asks"
    return f"{which} what this judge cannot answer: {', '.join(labels[:most])}{more}; the failures say which judge can"


def _way_out(source: Data, fields: Iterable[str]) -> str:
    """How to name the columns of fields: with those that may hold them, and with what was found doubtful of them."""
    doubts = [doubt for doubt in source.doubts if "column_map=" in doubt]
    may_hold = {
        field: source.suggestions[field]
        for field in fields
        if field in source.suggestions and not any(f"be the {field}," in doubt for doubt in doubts)
    }
    example = f", for example column_map={map_of(may_hold)}" if may_hold else ""
    return ". ".join([f"Use column_map= to name yours{example}", *doubts])


def _columns_text(source: Data, most: int = 20) -> str:
    """The fields that were found, and the columns that no field was recognised in."""
    present = f"Present: {', '.join(sorted(source.columns)) or 'none that assay knows'}"
    if not source.unknown:
        return present
    more = f" and {len(source.unknown) - most} more" if len(source.unknown) > most else ""
    return f"{present}; not recognised: {', '.join(map(repr, source.unknown[:most]))}{more}"
