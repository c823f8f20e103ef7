"""Where a guard's judge works: on a thread of the guard's own, apart from whoever waits for a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from assay.evaluation.score_sample import score_sample
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.judge_thread import JudgeThread
from assay.metrics.base import Metric
from assay.records import Sample, Score


@dataclass(slots=True, eq=False)
class GuardJob:
    """One sample to score. `scores` fills up as metrics are done, and may be read at any time."""

    sample: Sample
    metrics: Sequence[Metric]
    scores: dict[str, Score] = field(default_factory=dict)
    failure: Exception | None = None


def submit_job(thread: JudgeThread, judge: BaseJudge, job: GuardJob) -> Future[None]:
    """Score in the background. The future is done when all metrics are; cancelling it cancels them.

    Raises RuntimeError where the process cannot start a thread.
    """
    work, _ = thread.submit(lambda cache: _score(job, judge, cache))
    return work


async def _score(job: GuardJob, judge: BaseJudge, cache: JudgementCache) -> None:
    async def one(metric: Metric) -> None:
        scored = await score_sample(job.sample, [metric], cache)
        job.scores.update(scored.scores)

    try:
        with suppress(Exception):  # what cannot be loaded is said by the scores
            await judge.prepare()
        await asyncio.gather(*map(one, job.metrics))
    except Exception as error:
        job.failure = error
