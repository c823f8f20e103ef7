"""Metrics x samples: score a data set, row by row, with everything on disk as it is made.

One implementation, `aevaluate`; `evaluate` is the same for callers without a loop, and works inside one too.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from assay.budgets.budget import Budget, check_budget, spending
from assay.data import Data, RowError, missing_columns, open_data
from assay.errors import AssayError, Cause, InputError, JudgeFailure
from assay.judges import BaseJudge, resolve_judge
from assay.judges.cache import FindingCache
from assay.metrics import Metric
from assay.metrics.registry import resolve
from assay.progress import progress_for
from assay.records import Sample, Score, ScoredSample, Unscored
from assay.result import Result
from assay.scoring import score_sample
from assay.sinks.base import Sink
from assay.sinks.writing import SinkWriter
from assay.store import Store
from assay.summary import Summary
from assay.sync import run_sync

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
#: Nothing can be scored while these stand: the first one ends the run, unless something was scored before.
HOPELESS = frozenset({Cause.AUTH, Cause.NO_MODEL})
#: These and the hopeless ones say that the judge is gone; after so many rows in a row the run ends.
GONE = HOPELESS | {Cause.CONNECTION}
PATIENCE = 20  # rows

IN_FLIGHT = 16  # samples scored at the same time
SAMPLE_DEADLINE = 300.0  # seconds


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `evaluate`. What was scored until then is complete, on disk, and in `result`."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"interrupted after {result.rows} rows; they are in run {result.run} of {result.store.path}")
        self.result = result


def evaluate(data: Any, metrics: Any = None, judge: BaseJudge | str | None = None, **options: Any) -> Result:
    """Score every row of `data`. See `aevaluate` for the arguments.

    Works in scripts, threads, notebooks and inside a running event loop. On Ctrl-C raises EvaluationInterrupted (a
    KeyboardInterrupt) with the partial result on it.
    """
    partial: list[Result] = []
    try:
        return run_sync(lambda: aevaluate(data, metrics, judge, **options, _started=partial.append))
    except KeyboardInterrupt:
        if not partial:
            raise
        raise EvaluationInterrupted(partial[0]) from None


async def aevaluate(
    data: Any,
    metrics: Any = None,
    judge: BaseJudge | str | None = None,
    *,
    store: Store | str | Path | None = ".assay",
    column_map: dict[str, str] | None = None,
    limit: int | None = None,
    concurrency: int = IN_FLIGHT,
    sample_deadline: float | None = SAMPLE_DEADLINE,
    deadline: float | None = None,
    score_partial: bool = False,
    progress: bool | None = None,
    on_score: Callable[[ScoredSample], None] | None = None,
    sinks: Sequence[Sink] = (),
    run: str | None = None,
    budget: Budget | None = None,
    _started: Callable[[Result], None] | None = None,
) -> Result:
    """Score every row of `data` with every metric.

    data             list of dicts or Samples, dict of columns, path to JSONL / JSON / CSV / TSV / Parquet, pandas or
                     polars DataFrame, Hugging Face Dataset, pyarrow Table, or any iterable of rows
    metrics          names or Metric objects; None takes those of DEFAULT_METRICS that data and judge allow
    judge            a judge, "embedded" (the default) or "openai:MODEL"
    store            folder that keeps findings and rows; a rerun asks only for what is missing. None: a temporary one
    column_map       your column for a field, where the name is not one of the accepted ones: {"question": "frage"}
    limit            read at most this many rows
    concurrency      samples in flight at the same time; memory grows with this, not with the number of rows
    sample_deadline  seconds for one row; what is not measured by then is unscored (timeout)
    deadline         seconds for the whole run; the result is then partial, and says so
    score_partial    also score answers that were abandoned, cancelled or failed
    progress         show a bar on stderr; None: if it is a terminal
    on_score         called with each scored row, in order of completion
    sinks            where scored rows go besides; closed at the end. What did not arrive is in `Result.deliveries`
    budget           what the judge may be asked for at most; what finds no room is unscored (budget), and a rerun asks
                     for it again

    Raises InputError before the judge is asked anything: for unknown metrics, and for all missing columns together.
    Raises JudgeFailure when the endpoint refuses the key or does not know the model, or is gone for 20 rows in a row;
    rows scored until then are in the store. Any other failure is a value in its row's place.
    """
    judge = resolve_judge(judge)
    source = open_data(data, column_map=column_map, limit=limit)
    chosen = _chosen(metrics, source, judge)
    check_budget(budget, judge)
    if concurrency < 1:
        raise InputError(f"concurrency: expected at least 1, got {concurrency}")
    kept = store if isinstance(store, Store) else Store(store) if store is not None else Store.temporary()
    result = Result(run=run or _new_run(), store=kept, judge=judge.fingerprint)
    for metric in chosen:
        result.metrics[metric.label] = Summary(metric.label, metric.low, metric.high, metric.direction)
        result.parameters[metric.label] = repr(metric)
    kept.put_run(result.run, {**result.info(), "stopped": "not finished"})
    if _started is not None:
        _started(result)
    evaluation = _Evaluation(
        result, chosen, judge, FindingCache(judge, kept), concurrency, sample_deadline, score_partial, on_score, sinks
    )
    with spending(budget):
        await evaluation.run(source, deadline, progress)
    return result


class _Evaluation:
    """One run under way."""

    def __init__(
        self,
        result: Result,
        metrics: Sequence[Metric],
        judge: BaseJudge,
        desk: FindingCache,
        concurrency: int,
        sample_deadline: float | None,
        score_partial: bool,
        on_score: Callable[[ScoredSample], None] | None,
        sinks: Sequence[Sink],
    ) -> None:
        self.result = result
        self.writer = SinkWriter(sinks)
        result.deliveries = self.writer.deliveries
        self.metrics = metrics
        self.judge = judge
        self.desk = desk
        self.slots = asyncio.Semaphore(concurrency)
        self.sample_deadline = sample_deadline
        self.score_partial = score_partial
        self.on_score = on_score
        self.fatal: BaseException | None = None
        self.any_scored = False
        self.gone_in_a_row = 0

    async def run(self, source: Data, deadline: float | None, progress: bool | None) -> None:
        began = time.perf_counter()
        self.result.stopped = "interrupted"  # until proven otherwise
        try:
            async with AsyncExitStack() as stack:
                self.bar = stack.enter_context(progress_for(progress, source.total))
                await stack.enter_async_context(asyncio.timeout(deadline))
                await self._rows(source)
            self.result.stopped = None
        except TimeoutError:
            self.result.stopped = f"the deadline of {deadline} s passed"
        except AssayError as error:
            self.result.stopped = str(error)
            raise
        finally:
            await self.writer.close()
            self.result.usage, self.result.reused = self.desk.usage, self.desk.reused
            self.result.seconds = time.perf_counter() - began
            self.result.store.put_run(self.result.run, self.result.info())
            await self.judge.release()

    async def _rows(self, source: Data) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            for number, row in source:
                await self.slots.acquire()
                if self.fatal is not None:
                    break
                task = asyncio.create_task(self._row(number, row))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            while tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if self.fatal is not None:
                    break
        finally:
            pending = list(tasks)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
        if self.fatal is not None:
            raise self.fatal

    async def _row(self, number: int, row: Sample | RowError) -> None:
        try:
            scored = self._unreadable(row) if isinstance(row, RowError) else await self._score(row)
            self._record(number, scored)
            await self.writer.write(scored)
        except Exception as error:  # the store or the user's on_score broke: the run cannot go on, and says so
            self.fatal = self.fatal or error
        finally:
            self.slots.release()

    async def _score(self, sample: Sample) -> ScoredSample:
        return await score_sample(
            sample, self.metrics, self.desk, deadline=self.sample_deadline, score_partial=self.score_partial
        )

    def _unreadable(self, row: RowError) -> ScoredSample:
        reason = Unscored(cause=Cause.BAD_ROW, message=row.message)
        scores = {
            m.label: Score(metric=m.label, unscored=reason, low=m.low, high=m.high, direction=m.direction)
            for m in self.metrics
        }
        return ScoredSample(sample=Sample(id=row.id), scores=scores)

    def _record(self, number: int, scored: ScoredSample) -> None:
        self.result.store.put_row(self.result.run, number, scored)
        self.result.add(scored)
        self.result.usage, self.result.reused = self.desk.usage, self.desk.reused
        self.bar.update(self.result)
        if self.on_score is not None:
            self.on_score(scored)
        self._watch(scored)

    def _watch(self, scored: ScoredSample) -> None:
        """End the run when the judge cannot be used: going on would only collect the same failure."""
        if any(score.value is not None for score in scored.scores.values()):
            self.any_scored, self.gone_in_a_row = True, 0
            return
        gone = next((u for s in scored.scores.values() if (u := s.unscored) is not None and u.cause in GONE), None)
        if gone is None:
            return
        self.gone_in_a_row += 1
        if gone.cause in HOPELESS and not self.any_scored:
            self.fatal = JudgeFailure(gone.cause, gone.message, raw=gone.raw)
        elif self.gone_in_a_row >= PATIENCE:
            message = f"{gone.message}; {PATIENCE} rows in a row failed so. A rerun goes on from here"
            self.fatal = JudgeFailure(gone.cause, message, raw=gone.raw)


def _chosen(metrics: Any, source: Data, judge: BaseJudge) -> tuple[Metric, ...]:
    """The metrics to run. Reports all that is missing at once, before any call."""
    if metrics is None:
        chosen = tuple(
            metric
            for metric in resolve(DEFAULT_METRICS)
            if not missing_columns(source.columns, (metric,)) and metric.cannot(judge) is None
        )
        if not chosen:
            present = ", ".join(sorted(source.columns)) or "no field that assay knows"
            raise InputError(f"data: no default metric fits; it has {present}. `assay metrics` lists what each needs")
        return chosen
    chosen = resolve(metrics)
    missing = missing_columns(source.columns, chosen)
    if missing:
        lines = "; ".join(f"{label} needs {', '.join(fields)}" for label, fields in missing.items())
        present = ", ".join(sorted(source.columns)) or "none that assay knows"
        raise InputError(f"data: columns are missing: {lines}. Present: {present}. Use column_map= to name yours")
    return chosen


def _new_run() -> str:
    """A run id that sorts by time and is easy to type."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)
