"""Context utilization: do the passages that are useful for the answer given stand at the top of the ranking?

Context precision without a reference: the same average precision over usefulness verdicts, with the system's own
answer in the place of the reference. Range 0 to 1, higher is better; 0 when no passage is useful. Source: ragas 0.1.
`parts["precision"]` is the plain share of useful passages. An empty retrieval is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics.base import Metric
from assay.prompts import Usefulness
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextUtilization(Metric):
    """Average precision of the ranking, where the answer says what is useful."""

    name: ClassVar[str] = "context_utilization"
    needs: ClassVar = ("question", "contexts", "answer")
    asks: ClassVar = (Usefulness,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question, earlier = sample.question or "", sample.earlier_question
        prompt = Usefulness(question, sample.passages, sample.answer, sample.spoken, earlier)
        verdicts = await judge.find(prompt)
        return self.make_score(
            average_precision([verdict.label == "useful" for verdict in verdicts]),
            verdicts={"question+answer/contexts": verdicts},
            parts={"precision": share_useful(verdicts)},
        )
