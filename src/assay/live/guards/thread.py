"""Where a guard's judge works: on a thread of the guard's own, apart from whoever waits for a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from assay._util.loop_threads import END_GRACE, LoopThread, Service
from assay.evaluation.score_sample import score_sample
from assay.judges.base import BaseJudge
from assay.judges.rotating_cache import RenewedCache
from assay.metrics.base import Metric
from assay.records import Sample, Score


@dataclass(slots=True, eq=False)
class GuardJob:
    """One sample to score. `scores` fills up as metrics are done, and may be read at any time."""

    sample: Sample
    metrics: Sequence[Metric]
    scores: dict[str, Score] = field(default_factory=dict)
    failure: Exception | None = None


class GuardThread:
    """Scores jobs on the thread in service. One that a judge holds is left behind. Not safe for threads."""

    def __init__(self, judge: BaseJudge, failed: Callable[[BaseException], None]) -> None:
        """`failed` is told what a judge throws into the loop itself; the loop goes on."""
        self._judge = judge
        self._service = Service(lambda: LoopThread("assay-guard", failed, judge.release))
        self._cache: tuple[LoopThread, RenewedCache] | None = None

    def submit(self, job: GuardJob) -> Future[None]:
        """Score in the background. The future is done when all metrics are; cancelling it cancels them.

        Raises RuntimeError where the process cannot start a thread.
        """
        thread = self._service.start()
        if self._cache is None or self._cache[0] is not thread:
            self._cache = (thread, RenewedCache(self._judge))
        cache = self._cache[1]
        return thread.soon(lambda: _score(job, self._judge, cache))

    def leave_behind(self) -> bool:
        """Give up the thread in service where it has fallen silent."""
        return self._service.leave_behind(END_GRACE)

    def retire(self, wait: float = 0.0) -> None:
        """End the thread in service; wait for it, at most so many seconds."""
        self._service.retire(END_GRACE, wait)


async def _score(job: GuardJob, judge: BaseJudge, cache: RenewedCache) -> None:
    one_cache = cache.next()

    async def one(metric: Metric) -> None:
        scored = await score_sample(job.sample, [metric], one_cache)
        job.scores.update(scored.scores)

    try:
        with suppress(Exception):  # what cannot be loaded is said by the scores
            await judge.prepare()
        await asyncio.gather(*map(one, job.metrics))
    except Exception as error:
        job.failure = error
