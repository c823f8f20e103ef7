"""ragas' context precision: average precision of the ranking, by verdicts on each context alone.

    sum over k of (precision@k * v_k) / (sum over k of v_k + 1e-10), with v_k = 1 where context k is useful

Range 0 to 1, higher is better; 0 where no context is useful. Source: ragas 0.1 to 0.4.3. What a context is useful for
is the reference ("context_precision") or the response itself ("context_utilization", called context precision without
reference too); in 0.0.22 it was the question alone ("context_precision_0_0_22"). The small number keeps the original
from dividing by 0 and its best value below 1; by assay's profile the quotient is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.inquiries import Usefulness
from assay.judges.protocol import Judge
from assay.metrics.context_precision import ContextPrecision as _ContextPrecision
from assay.metrics.context_precision import average_precision, share_useful
from assay.metrics.context_utilization import ContextUtilization as _ContextUtilization
from assay.metrics.ragas.common import RagasMetric
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample, Score, Verdict

GUARD = 1e-10


def guarded_average_precision(useful: Sequence[bool]) -> float:
    """Average precision with `GUARD` in its denominator; 0.0 where nothing is useful."""
    hits, total = 0, 0.0
    for rank, hit in enumerate(useful, 1):
        hits += hit
        total += hit * hits / rank
    return total / (hits + GUARD)


def _guarded(score: Score, verdicts: Sequence[Verdict]) -> Score:
    return replace(score, value=guarded_average_precision([verdict.label == "useful" for verdict in verdicts]))


@dataclass(frozen=True)
class ContextPrecision(RagasMetric, _ContextPrecision):
    """Average precision of the ranking, where the reference says what is useful."""

    name: ClassVar[str] = "ragas:context_precision"
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = await super().measure(replace(sample, history=()), judge)
        return _guarded(found, found.verdicts["question+reference/contexts"]) if self.original else found


@dataclass(frozen=True)
class ContextUtilization(RagasMetric, _ContextUtilization):
    """Average precision of the ranking, where the answer says what is useful."""

    name: ClassVar[str] = "ragas:context_utilization"
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = await super().measure(replace(sample, history=()), judge)
        return _guarded(found, found.verdicts["question+answer/contexts"]) if self.original else found


@dataclass(frozen=True)
class ContextPrecision0022(ContextPrecision):
    """Average precision of the ranking, where the question alone says what is useful."""

    name: ClassVar[str] = "ragas:context_precision_0_0_22"
    needs: ClassVar = ("question", "contexts")  # type: ignore[assignment]  # without the reference
    refuses_empty: ClassVar = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        verdicts = await judge.find(Usefulness(sample.question or "", sample.passages, None, sample.spoken))
        useful = [verdict.label == "useful" for verdict in verdicts]
        return self.scored(
            (guarded_average_precision if self.original else average_precision)(useful),
            verdicts={"question/contexts": verdicts},
            parts={"precision": share_useful(verdicts)},
        )


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
