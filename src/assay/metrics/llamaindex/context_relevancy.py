"""LlamaIndex' context relevancy: two questions on the contexts, up to two points for each, by four.

    (points for the subject + points for a full answer) / score_threshold, which is 4

Range 0 to 1, higher is better. llama-index-core 0.14, ContextRelevancyEvaluator: do the contexts match the subject of
the question, and can they alone answer it fully? There one reply names the sum, with parts of points; here each of the
two is rated 0, 1 or 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_PASSAGES
from assay.prompts import Rating
from assay.records import Sample, Score

LEVELS = ((0, "no"), (1, "in part"), (2, "yes"))
SUBJECT = "Are the PASSAGES about the subject that the QUESTION is about?"
ANSWERING = "Can the QUESTION be answered in full from the PASSAGES alone?"
#: What is given for all points.
FULL = 4.0


def points_share(subject: float, answering: float) -> float:
    """The points for both questions, by the points there are."""
    return (subject + answering) / FULL


@dataclass(frozen=True)
class ContextRelevancy(SystemMetric):
    """Points for the subject and for a full answer / 4."""

    name: ClassVar[str] = "llamaindex:context_relevancy"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Rating,)
    input_rules: ClassVar = TAKES_BLANK_PASSAGES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("contexts", "question"))
        subject, answering = await ask(
            judge,
            Rating(SUBJECT, LEVELS, material, language=sample.spoken),
            Rating(ANSWERING, LEVELS, material, language=sample.spoken),
        )
        parts = {"subject": float(subject.level), "answering": float(answering.level)}
        reasons = tuple(reason for reason in (subject.reason, answering.reason) if reason)
        return self.make_score(points_share(**parts), parts=parts, texts={"reasons": reasons} if reasons else {})


ENTRIES = (
    Entry(
        make=ContextRelevancy,
        source="llama_index.core.evaluation.ContextRelevancyEvaluator",
        compared="llama-index-core 0.14.25",
        family="context relevance",
        steps=Steps("all contexts together", "the question", "two ratings 0 to 2", "the points / 4"),
        empty="none: nothing is asked without contexts, and the result is invalid",
    ),
)
