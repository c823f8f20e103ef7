"""ragas' context precision: average precision of the ranking, by verdicts on each context alone.

    sum over k of (precision@k * v_k) / (sum over k of v_k + 1e-10), with v_k = 1 where context k is useful

Range 0 to 1, higher is better; 0 where no context is useful. Source: ragas 0.1 to 0.4.3. What a context is useful for
is the reference ("context_precision") or the response itself ("context_utilization", called context precision without
reference too); in 0.0.22 it was the question alone ("context_precision_0_0_22"). The small number keeps the original
from dividing by 0 and its best value below 1; by assay's profile the quotient is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics.ragas.common import REFUSES_NO_CONTEXTS
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Usefulness
from assay.records import Sample, Score

GUARD = 1e-10


def guarded_average_precision(useful: Sequence[bool]) -> float:
    """Compute average precision with `GUARD` in its denominator: ragas' formula.

    Args:
        useful: Whether each passage is useful, in the order of the ranking.

    Returns:
        0 to just below 1, higher is better; 0.0 where nothing is useful.
    """
    hits, total = 0, 0.0
    for rank, hit in enumerate(useful, 1):
        hits += hit
        total += hit * hits / rank
    return total / (hits + GUARD)


async def score_ranking(metric: SystemMetric, prompt: Usefulness, reading: str, judge: Judge) -> Score:
    """Score the order of the passages: ragas' formula with the profile "original", else the exact one.

    Args:
        metric: The metric, which has the profile.
        prompt: What a passage has to be useful for.
        reading: The name of its verdicts in the score.
        judge: The judge.

    Returns:
        Average precision, 0 to 1, higher is better; `parts["precision"]` is the share of useful passages.

    Raises:
        JudgeFailure: If the judge does not answer.
    """
    verdicts = await judge.find(prompt)
    useful = [verdict.label == "useful" for verdict in verdicts]
    value = guarded_average_precision(useful) if metric.original else average_precision(useful)
    return metric.make_score(value, verdicts={reading: verdicts}, parts={"precision": share_useful(verdicts)})


@dataclass(frozen=True)
class ContextPrecision(SystemMetric):
    """Average precision of the ranking, where the reference says what is useful."""

    name: ClassVar[str] = "ragas:context_precision"
    needs: ClassVar = ("question", "contexts", "reference")
    asks: ClassVar = (Usefulness,)
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        prompt = Usefulness(sample.question or "", sample.passages, sample.reference, sample.spoken)
        return await score_ranking(self, prompt, "question+reference/contexts", judge)


@dataclass(frozen=True)
class ContextUtilization(SystemMetric):
    """Average precision of the ranking, where the answer says what is useful."""

    name: ClassVar[str] = "ragas:context_utilization"
    needs: ClassVar = ("question", "contexts", "answer")
    asks: ClassVar = (Usefulness,)
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        prompt = Usefulness(sample.question or "", sample.passages, sample.answer, sample.spoken)
        return await score_ranking(self, prompt, "question+answer/contexts", judge)


@dataclass(frozen=True)
class ContextPrecision0022(SystemMetric):
    """Average precision of the ranking, where the question alone says what is useful."""

    name: ClassVar[str] = "ragas:context_precision_0_0_22"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Usefulness,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        prompt = Usefulness(sample.question or "", sample.passages, None, sample.spoken)
        return await score_ranking(self, prompt, "question/contexts", judge)


ENTRIES = (
    Entry(
        make=ContextPrecision,
        source="ragas.metrics.collections.ContextPrecisionWithReference",
        compared="ragas 0.4.3",
        family="context precision",
        ordered=True,
        steps=Steps("passages", "the question and the reference", "useful", "average precision"),
        empty="an error for an empty list, 0 for blank contexts",
        also=("ContextPrecision", "LLMContextPrecisionWithReference"),
    ),
    Entry(
        make=ContextUtilization,
        source="ragas.metrics.collections.ContextPrecisionWithoutReference",
        compared="ragas 0.4.3",
        family="context utilization",
        ordered=True,
        steps=Steps("passages", "the question and the answer", "useful", "average precision"),
        empty="an error for an empty list, 0 for blank contexts",
        also=("ContextUtilization", "LLMContextPrecisionWithoutReference"),
    ),
    Entry(
        make=ContextPrecision0022,
        source="ragas.metrics.ContextPrecision, of 0.0.22",
        compared="ragas 0.0.22",
        family="context precision",
        ordered=True,
        steps=Steps("passages", "the question", "useful", "average precision"),
        empty="0",
    ),
)
