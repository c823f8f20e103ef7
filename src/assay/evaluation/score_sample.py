"""Scoring one sample: all metrics at once, within a deadline, every failure a reason in its metric's place.

`evaluate` and the live scorer both use this function and nothing else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Coroutine, Generator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

from assay._util.normalise import well_formed
from assay.errors import Cause
from assay.judges.protocol import Judge, batched_groups_of
from assay.metrics.base import Metric
from assay.metrics.joint_prompts import BatchingJudge
from assay.records import Sample, Score, ScoredSample, ScoreError

_CANCELLED = "the judge's call was cancelled"
GRACE = 1.0  # seconds that a cancelled metric has to put itself away; what ignores that is left behind


async def score_sample(
    sample: Sample,
    metrics: Sequence[Metric],
    judge: Judge,
    *,
    deadline: float | None = None,
    score_partial: bool = False,
) -> ScoredSample:
    """Score one sample with all metrics at the same time.

    An exception in a metric makes its score fail (bug). A cancelled call cancels the metrics, and raises
    CancelledError.

    Args:
        sample: The sample.
        metrics: The metrics, each with a label of its own.
        judge: The judge of all metrics.
        deadline: Seconds for all metrics together. Metrics that are not done by then fail (timeout), and the others
            keep their scores. None: no limit.
        score_partial: Score abandoned, cancelled and failed answers too. False: all metrics skip them (partial).

    Returns:
        The sample with one score per metric, in the order of `metrics`. Without metrics the scores are empty.
    """
    if sample.status != "complete" and not score_partial:
        return skipped_sample(sample, metrics, Cause.PARTIAL, f"the answer is {sample.status}, not complete")
    if groups := batched_groups_of(judge):
        judge = BatchingJudge(judge, sample, sorted(groups))
    begun = {metric.label: _begin(metric, sample, judge) for metric in metrics}
    tasks = [one for one in begun.values() if isinstance(one, asyncio.Task)]
    late: Collection[asyncio.Task[Score]] = ()
    try:
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=deadline)
    except asyncio.CancelledError:
        await _wait_cancelled(tasks)
        raise
    if late:
        await _wait_cancelled(late)
    scores: dict[str, Score] = {}
    for metric in metrics:
        one = begun[metric.label]
        if isinstance(one, Score):
            scores[metric.label] = one
        elif one in late:
            scores[metric.label] = metric.skip(Cause.TIMEOUT, _late(deadline))
        else:
            scores[metric.label] = _outcome(one, metric)
    return ScoredSample(sample=sample, scores=scores)


def _begin(metric: Metric, sample: Sample, judge: Judge) -> Score | asyncio.Task[Score]:
    """The score, where it is computed at once and nothing is waited for; else the task that makes it."""
    if metric.may_ask or not metric.at_once:
        return asyncio.create_task(_guarded(metric, sample, judge))
    context = copy_context()
    work = _guarded(metric, sample, judge)
    try:
        first = context.run(work.send, None)
    except StopIteration as done:
        score: Score = done.value
        return score
    except asyncio.CancelledError:  # which nobody asked for
        return metric.skip(Cause.INTERRUPTED, _CANCELLED)
    return asyncio.create_task(_resumed(work, first), context=context)


async def _resumed(work: Coroutine[Any, Any, Score], first: Any) -> Score:
    """What a coroutine makes that waits for `first` by now."""
    return await _Resumed(work, first)


class _Resumed:
    """Awaits the rest of a coroutine whose first step was taken outside of its task."""

    def __init__(self, work: Coroutine[Any, Any, Score], first: Any) -> None:
        self._work, self._first = work, first

    def __await__(self) -> Generator[Any, Any, Score]:
        waited = self._first
        while True:
            try:
                value = yield waited
            except BaseException as error:  # a cancellation, most of all: it is the coroutine's
                step = partial(self._work.throw, error)
            else:
                step = partial(self._work.send, value)
            try:
                waited = step()
            except StopIteration as done:
                score: Score = done.value
                return score


def skipped_sample(sample: Sample, metrics: Sequence[Metric], cause: Cause, message: str) -> ScoredSample:
    """The sample with every metric skipped for the same reason."""
    scores: Mapping[str, Score] = {metric.label: metric.skip(cause, message) for metric in metrics}
    return ScoredSample(sample=sample, scores=scores)


def late_sample(sample: Sample, metrics: Sequence[Metric], deadline: float | None) -> ScoredSample:
    """The sample with every metric skipped because the judge held its thread beyond the deadline."""
    return skipped_sample(sample, metrics, Cause.TIMEOUT, _late(deadline))


def _late(deadline: float | None) -> str:
    return f"not done within {deadline:g} s" if deadline is not None else ""


def storable(scored: ScoredSample) -> ScoredSample:
    """Replace scores that a store cannot hold.

    Args:
        scored: The sample with its scores.

    Returns:
        A copy with the scores in the same order. A failed score (bug) replaces one that JSON or UTF-8 cannot represent,
        for example with half an emoji in a reason.
    """
    scores = {name: _storable(score) for name, score in scored.scores.items()}
    return ScoredSample(sample=scored.sample, scores=scores)


def _storable(score: Score) -> Score:
    try:
        json.dumps(score.to_dict(), ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        message = well_formed(f"the score of {score.metric} cannot be kept: {type(error).__name__}: {error}")
        reason = ScoreError(cause=Cause.BUG, message=message)
        return Score(
            metric=score.metric, error=reason, low=score.low, high=score.high, direction=score.direction,
            version=score.version, judge=score.judge, usage=score.usage,
        )  # fmt: skip
    return score


async def _guarded(metric: Metric, sample: Sample, judge: Judge) -> Score:
    try:
        return await metric.score(sample, judge)
    except (Exception, SystemExit) as error:  # foreign code: what it breaks is one score, and it is said
        return metric.skip(Cause.BUG, f"{metric.label} raised {type(error).__name__}: {error}")


def _outcome(task: asyncio.Task[Score], metric: Metric) -> Score:
    if task.cancelled():  # by somebody else, while it waited for the judge
        return metric.skip(Cause.INTERRUPTED, _CANCELLED)
    return task.result()


async def _wait_cancelled(tasks: Collection[asyncio.Task[Score]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE)
