"""LlamaIndex' answer relevancy: two questions on the answer, a point for each yes, by two.

    points / score_threshold, which is 2

Range 0 to 1, higher is better. llama-index-core 0.14, AnswerRelevancyEvaluator: does the answer match the subject of
the question, and does it take up the question's focus or point of view? There one reply names the sum of both points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Checklist
from assay.records import Sample, Score, Verdict

ASKED = (
    "Is the ANSWER about the subject that the QUESTION is about?",
    "Does the ANSWER take up what the QUESTION wants to know of its subject, or from which side it looks at it?",
)
#: What is given for all points.
FULL = 2.0


def points_share(verdicts: Sequence[Verdict]) -> float:
    """A point for each yes, by the points there are."""
    return sum(verdict.label == "yes" for verdict in verdicts) / FULL


@dataclass(frozen=True)
class AnswerRelevancy(SystemMetric):
    """Points for subject and focus / 2."""

    name: ClassVar[str] = "llamaindex:answer_relevancy"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Checklist,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("question", "answer"))
        verdicts = await judge.find(Checklist(ASKED, material, sample.spoken))
        value = points_share(verdicts)
        parts = {"points": value * FULL}
        return self.make_score(value, verdicts={"question/answer": verdicts}, parts=parts, texts={"asked": ASKED})


ENTRIES = (
    Entry(
        make=AnswerRelevancy,
        source="llama_index.core.evaluation.AnswerRelevancyEvaluator",
        compared="llama-index-core 0.14.25",
        family="answer relevance",
        steps=Steps("the whole answer", "the question", "a point for each of two questions", "the points / 2"),
        empty="none: a reply without a number is an invalid result",
    ),
)
