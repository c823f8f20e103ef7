"""DeepEval's contextual relevancy: relevant statements of all contexts / statements of all contexts.

Range 0 to 1, higher is better: one share over all contexts, not a mean of their shares. DeepEval 4.3.1,
`ContextualRelevancyMetric`. There the judge says what the statements are; here they are the sentences of the contexts,
as in assay's context relevance. Without statements DeepEval gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_precision import share_useful
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import UsefulSentences
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextualRelevancy(DeepEvalMetric):
    """Sentences of the contexts that are relevant to the question / sentences of the contexts."""

    name: ClassVar[str] = "deepeval:contextual_relevancy"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (UsefulSentences,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        prompt = UsefulSentences.of(sample.question or "", sample.passages, sample.spoken, sample.earlier_question)
        verdicts = await judge.find(prompt)
        return self.make_graded_score(
            share_useful(verdicts),
            verdicts={"question/sentences": verdicts},
            texts={"sentences": tuple(sentence.text for sentence in prompt.sentences)},
        )


ENTRIES = (
    Entry(
        make=ContextualRelevancy,
        source="deepeval.metrics.ContextualRelevancyMetric",
        compared="deepeval 4.3.1",
        family="context relevance",
        steps=Steps("sentences of all contexts", "the question", "useful", "share"),
        empty="0",
    ),
)
