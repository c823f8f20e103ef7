"""Scoring one sample: all metrics at once, within a deadline, every failure a reason in its metric's place.

`evaluate` and the live scorer both use this function and nothing else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence

from assay._util.normalise import well_formed
from assay.errors import Cause
from assay.judges.protocol import Judge, batched_groups_of
from assay.metrics.base import Metric
from assay.metrics.joint_prompts import BatchingJudge
from assay.records import Sample, Score, ScoredSample, ScoreError

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
    tasks = {metric.label: asyncio.create_task(_guarded(metric, sample, judge)) for metric in metrics}
    if not tasks:
        return ScoredSample(sample=sample, scores={})
    try:
        _, late = await asyncio.wait(tasks.values(), timeout=deadline)
    except asyncio.CancelledError:
        await _wait_cancelled(tasks.values())
        raise
    await _wait_cancelled(late)
    scores = {
        metric.label: metric.skip(Cause.TIMEOUT, _late(deadline))
        if tasks[metric.label] in late
        else _outcome(tasks[metric.label], metric)
        for metric in metrics
    }
    return ScoredSample(sample=sample, scores=scores)


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
        return metric.skip(Cause.INTERRUPTED, "the judge's call was cancelled")
    return task.result()


async def _wait_cancelled(tasks: Collection[asyncio.Task[Score]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE)
