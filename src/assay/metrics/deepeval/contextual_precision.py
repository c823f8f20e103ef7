"""DeepEval's contextual precision: average precision of the ranking, where the reference says what is useful.

    sum over ranks k of (useful up to k / k) where k is useful, / useful

Range 0 to 1, higher is better; 0 where no context is useful, and in DeepEval also where nothing was retrieved.
DeepEval 4.3.1, `ContextualPrecisionMetric`. Our sum is exact; theirs is one of floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Usefulness
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextualPrecision(DeepEvalMetric):
    """Average precision over the retrieved contexts."""

    name: ClassVar[str] = "deepeval:contextual_precision"
    needs: ClassVar = ("question", "contexts", "reference")
    asks: ClassVar = (Usefulness,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        prompt = Usefulness(
            sample.question or "", sample.passages, sample.reference, sample.spoken, sample.earlier_question
        )
        verdicts = await judge.find(prompt)
        return self.make_graded_score(
            average_precision([verdict.label == "useful" for verdict in verdicts]),
            verdicts={"question+reference/contexts": verdicts},
            parts={"precision": share_useful(verdicts)},
        )


ENTRIES = (
    Entry(
        make=ContextualPrecision,
        source="deepeval.metrics.ContextualPrecisionMetric",
        compared="deepeval 4.3.1",
        family="context precision",
        ordered=True,
        steps=Steps("passages", "the question and the reference", "useful", "average precision"),
        empty="0",
    ),
)
