"""One shard, scored: what every engine's workers do."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from pathlib import Path
from typing import Any, TypeAlias, cast

from assay.data import RowError
from assay.errors import SETTLED, Cause, JudgeFailure
from assay.evaluation.run import JudgeMonitor
from assay.evaluation.score_sample import score_sample, skipped_sample, storable
from assay.evaluation.sharded.manifest import Folder
from assay.evaluation.sharded.shards import Shard, ShardedData
from assay.evaluation.summary import Summary
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, spending
from assay.judges.budget.sharing import SharedAllowance
from assay.judges.cache import JudgementCache
from assay.judges.resolve import resolve_judge
from assay.metrics import Metric
from assay.records import Sample, Score, ScoredSample, Usage
from assay.store.store import Store

#: A judge, its name, or a function (of a module, so that it can be pickled) that makes one.
JudgeMaker: TypeAlias = "JudgeSpec | Callable[[], BaseJudge]"


@dataclass(frozen=True, kw_only=True)
class ShardRecipe:
    """Settings of a job for its workers. It can be pickled where the judge, the metrics and the data can.

    Attributes:
        files: The data of the job.
        metrics: The metrics.
        judge: Judge, its name, or a function of a module that makes one. None: the embedded judge.
        out: Folder of the job, or its address in an object store.
        store: Store that keeps judgements. None: judgements are not stored.
        run: Name of the run in the store.
        concurrency: Samples in flight in one worker.
        sample_deadline: Seconds for one row. None: no limit.
        score_partial: Whether abandoned, cancelled and failed answers are scored too.
        lean: Keep id, values and causes of each row, without texts and evidence.
        budget: Limits on requests to the judge. None: no limit.
        stop_after: Consecutive rows without a usable reply of the judge after which the job ends. None: never.
        threads: Threads of the embedded judge in one process. None: its own default.
    """

    files: ShardedData
    metrics: Sequence[Metric]
    judge: JudgeMaker
    out: str | Path
    store: str | Path | None
    run: str
    concurrency: int
    sample_deadline: float | None
    score_partial: bool
    lean: bool
    budget: Budget | None
    stop_after: int | None
    threads: int | None = None

    def among(self, processes: int) -> ShardRecipe:
        """Divide the cores of this machine among the processes of a job.

        Args:
            processes: Number of processes on this machine, at least 1.

        Returns:
            A copy with `threads` as the share of one process, at least 1.
        """
        return dataclasses.replace(self, threads=max(1, cores() // processes))


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_judge(judge: JudgeMaker, threads: int | None = None) -> BaseJudge:
    """The judge that is meant. `threads` goes to the embedded one. Raises InputError."""
    if judge is None or judge == "embedded":
        return resolve_judge("embedded") if threads is None else resolve_judge("embedded", threads=threads)
    if isroutine(judge) or isinstance(judge, partial):  # models of frameworks can be called, too
        return resolve_judge(judge())
    return resolve_judge(cast(JudgeSpec, judge))


class ShardScorer:
    """Scorer of shards in one process, one shard after the other, with one judge.

    Its count of consecutive rows without a usable reply continues from shard to shard.

    Args:
        recipe: Settings of the job.

    Raises:
        InputError: The judge is unknown, or the job's folder does not exist on this machine.
        MissingExtra: A package for the judge or the address is not installed.
        StoreError: The store or the job's folder cannot be opened.
    """

    def __init__(self, recipe: ShardRecipe) -> None:
        self._recipe = recipe
        self._judge = make_judge(recipe.judge, recipe.threads)
        self._reader = recipe.files.reader()
        self._folder = Folder(recipe.out)
        self._folder.check()
        self._store = None if recipe.store is None else Store(recipe.store)
        self._watch = JudgeMonitor(recipe.metrics, recipe.stop_after)

    def score(
        self, shard: Shard, guilty: Collection[int] = (), alone: Callable[[int], None] | None = None
    ) -> dict[str, Any]:
        """Score a shard, and write its rows and its manifest entry into the job's folder.

        Args:
            shard: The shard.
            guilty: Numbers of rows in quarantine. They fail (bug), and no metric reads them.
            alone: Called with the number of each row before it is scored. Rows are then scored one at a time. None: as
                many at the same time as the recipe's `concurrency` and the judge allow.

        Returns:
            The manifest entry. `shard` identifies the shard, and `rows` counts its rows. `waiting` counts the rows that
            another try may score. `summaries` has one summary per metric, and `usage` and `cache_hits` are the costs.
            Where another worker has finished the shard, the entry is that worker's.

        Raises:
            JudgeFailure: The endpoint refuses the key or does not know the model, or `stop_after` consecutive rows had
                no usable reply.
            InputError: The file has changed since the shard was planned.
            StoreError: The store or the job's folder cannot be read or written.
        """
        budget = self._recipe.budget
        try:
            with spending(budget):
                return asyncio.run(self._score(shard, guilty, alone))
        finally:
            if budget is not None and isinstance(budget.ledger, SharedAllowance):
                budget.ledger.give_back()

    async def _score(
        self, shard: Shard, guilty: Collection[int], alone: Callable[[int], None] | None
    ) -> dict[str, Any]:
        recipe, judge = self._recipe, self._judge
        judgements = None if self._store is None else self._store.judgements(recipe.run)
        cache = JudgementCache(judge.with_store(judgements) if judgements is not None else judge, judgements)
        at_once = 1 if alone is not None else min(recipe.concurrency, judge.samples_at_once or recipe.concurrency)
        slots = asyncio.Semaphore(at_once)
        fatal: list[JudgeFailure] = []

        async def one(number: int, row: Sample | RowError) -> ScoredSample:
            async with slots:
                if fatal:
                    raise fatal[0]
                if isinstance(row, RowError):
                    scored = skipped_sample(Sample(id=row.id), recipe.metrics, row.cause, row.message)
                elif number in guilty:
                    said = f"row {number} of {shard.name} is in quarantine: its worker died over it twice"
                    scored = skipped_sample(row, recipe.metrics, Cause.BUG, said)
                else:
                    if alone is not None:
                        alone(number)
                    deadline, partial = recipe.sample_deadline, recipe.score_partial
                    scored = await score_sample(row, recipe.metrics, cache, deadline=deadline, score_partial=partial)
                    if (failure := self._watch.look(scored)) is not None:
                        fatal.append(failure)
                return storable(_lean(scored) if recipe.lean else scored)

        try:
            rows = self._reader.rows(shard)
            tasks = [asyncio.ensure_future(one(number, row)) for number, row in rows]
            try:
                scored = await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
        finally:
            await judge.release()
        if fatal:
            raise fatal[0]
        entry = entry_of(shard, scored, cache)
        lines = ({"row": number, **found.to_dict()} for (number, _), found in zip(rows, scored, strict=True))
        return dict(self._folder.finish(shard, lines, entry))


def entry_of(shard: Shard, scored: Sequence[ScoredSample], cache: JudgementCache) -> dict[str, Any]:
    """What the manifest says of a shard: which it is, its summaries, what it cost."""
    summaries: dict[str, Summary] = {}
    by_metric: dict[str, Usage] = {}
    waiting = 0
    for one in scored:
        for name, score in one.scores.items():
            summaries.setdefault(name, Summary(metric=name)).add(score)
            if score.usage.calls:
                by_metric[name] = by_metric.get(name, Usage()) + score.usage
        waiting += any(map(_may_pass, one.scores.values()))
    return {
        "shard": shard.to_dict(),
        "rows": len(scored),
        "waiting": waiting,
        "summaries": {name: summary.state() for name, summary in summaries.items()},
        "usage": cache.usage.to_dict(),
        "metric_usage": {name: usage.to_dict() for name, usage in by_metric.items()},
        "cache_hits": cache.cache_hits,
    }


#: Causes that another try may find gone. What lies in the row, or in code, it will not.
_STAYING = SETTLED | {Cause.BAD_ROW, Cause.TOO_LARGE, Cause.BUG, Cause.TOO_LONG}


def _may_pass(score: Score) -> bool:
    return score.error is not None and score.error.cause not in _STAYING


def _lean(scored: ScoredSample) -> ScoredSample:
    scores: Mapping[str, Score] = {
        name: dataclasses.replace(score, verdicts={}, parts={}, texts={}) for name, score in scored.scores.items()
    }
    return ScoredSample(sample=Sample(id=scored.sample.id), scores=scores)
