"""LlamaIndex' relevancy: one yes or no, whether answer and contexts fit the question.

1.0 for yes, 0.0 for no; higher is better. llama-index-core 0.14, RelevancyEvaluator. Question and answer are read
together against the contexts: no where the answer goes beside the question, and where it is not in line with what was
retrieved. Without contexts the original asks nobody and gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import majority, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Criterion
from assay.records import Sample, Score

ASKED = "Is the ANSWER, as a reply to the QUESTION, in line with what the PASSAGES say?"


@dataclass(frozen=True)
class Relevancy(SystemMetric):
    """Whether the answer to the question is in line with the contexts, yes or no."""

    name: ClassVar[str] = "llamaindex:relevancy"
    needs: ClassVar = ("question", "answer", "contexts")
    asks: ClassVar = (Criterion,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("contexts", "question", "answer"))
        verdict = await judge.find(Criterion(ASKED, material, language=sample.spoken))
        return self.make_score(majority([verdict]), verdicts={"question+answer/contexts": (verdict,)})


ENTRIES = (
    Entry(
        make=Relevancy,
        source="llama_index.core.evaluation.RelevancyEvaluator",
        compared="llama-index-core 0.14.25",
        family="answer relevance",
        steps=Steps("the question and the whole answer", "all contexts together", "yes", "yes or no"),
        empty="0 without contexts",
        also=("RelevanceEvaluator", "QueryResponseEvaluator"),
    ),
)
