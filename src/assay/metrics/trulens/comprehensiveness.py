"""TruLens' comprehensiveness: how fully does a summary hold each key point of its source? The mean over the points.

    sum of (level / 3) / key points

Range 0 to 1, higher is better. trulens 2.16.0, `comprehensiveness_with_cot_reasons`, which also took the place of
`summarization_with_cot_reasons`: that raises there now. The contexts together are the source, the answer is the
summary. The judge lists the points of high importance and sees the summary alone when it rates them. Without points the
original gives 0. It divides the level by max - min without taking min off, which makes no difference on scales from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._summarization_score import text_of
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.context_relevance import mean
from assay.metrics.trulens.scale import ScaleMetric
from assay.prompts import Classification, Extraction
from assay.records import Sample, Score

TASK = "List the key points of the SOURCE: only what is of high importance, one point each."
QUESTION = "How fully does the SUMMARY hold this key point of the text that it sums up?"
LOWEST = "it is not in the summary"
HIGHEST = "all of it is in the summary"


@dataclass(frozen=True)
class Comprehensiveness(ScaleMetric):
    """The mean rating of the key points of the source in the summary."""

    name: ClassVar[str] = "trulens:comprehensiveness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Extraction, Classification)
    conventions: ClassVar[Mapping[Cause, float]] = {Cause.NO_CLAIMS: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        points = await judge.find(Extraction("key points", TASK, (("SOURCE", text_of(sample)),), 0, sample.spoken))
        if not points:
            return self.skip(Cause.NO_CLAIMS, "the source has no key points")
        summary = (("SUMMARY", sample.answer or ""),)
        choices = self.choices(LOWEST, HIGHEST)
        verdicts = await judge.find(Classification("inclusion", QUESTION, points, choices, summary, 0, sample.spoken))
        return self.make_score(
            mean([self.normalized(int(verdict.label)) for verdict in verdicts]),
            verdicts={"key_points/answer": verdicts},
            texts={"key_points": points},
        )


ENTRIES = (
    Entry(
        make=Comprehensiveness,
        source="trulens.feedback.LLMProvider.comprehensiveness_with_cot_reasons",
        compared="trulens 2.16.0",
        family="summarization",
        steps=Steps("key points of the contexts", "the whole answer", "rating 0 to 3", "mean of rating / 3"),
        empty="0",
        also=("comprehensiveness_with_cot_reasons", "summarization_with_cot_reasons"),
    ),
)
