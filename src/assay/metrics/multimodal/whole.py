"""One yes or no on the whole answer, with texts and pictures: ragas 0.4.3 and LlamaIndex 0.14.

    ragas_faithfulness, llamaindex_faithfulness   1 where everything that the answer says follows from the contexts
    ragas_relevance, llamaindex_relevancy         1 where the answer meets the question and agrees with the contexts

1.0 for yes and 0.0 for no. The two systems ask the same, and so are asked once here. LlamaIndex takes every reply with
the letters "yes" in it for a yes; here the label counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.inquiries import Criterion
from assay.judges.protocol import Judge
from assay.metrics.aspect_critique import material_of
from assay.metrics.multimodal.base import MultiModalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample, Score, ScoreError

FAITHFUL = "Does everything that the ANSWER says follow from the passages, texts and pictures, without other knowledge?"
RELEVANT = "Does the ANSWER reply to the QUESTION, and agree with the passages, texts and pictures?"


def yes(label: str) -> float:
    """1.0 for "yes", else 0.0."""
    return float(label == "yes")


@dataclass(frozen=True)
class _WholeAnswer(MultiModalMetric):
    """Yes or no to one question about the answer."""

    asks: ClassVar = (Criterion,)
    needs_passages: ClassVar = False
    question: ClassVar[str]

    def missing(self, sample: Sample) -> ScoreError | None:
        lacking = super().missing(sample)
        blank = not any(context.text.strip() or context.image for context in sample.contexts or ())
        if lacking is None and (not sample.contexts if self.original else blank):
            return ScoreError(cause=Cause.NO_CONTEXT, message="nothing was retrieved")
        return lacking

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        include = ("contexts", "question", "answer") if "question" in self.needs else ("contexts", "answer")
        material = material_of(sample, include)  # type: ignore[arg-type]
        found = await judge.find(Criterion(self.question, material, language=sample.spoken))
        return self.scored(yes(found.label), verdicts={"answer/contexts": (found,)})


@dataclass(frozen=True)
class RagasFaithfulness(_WholeAnswer):
    """Whether the whole answer follows from texts and pictures."""

    name: ClassVar[str] = "multimodal:ragas_faithfulness"
    needs: ClassVar = ("answer", "contexts")
    question: ClassVar = FAITHFUL


@dataclass(frozen=True)
class RagasRelevance(_WholeAnswer):
    """Whether the answer meets the question and agrees with texts and pictures."""

    name: ClassVar[str] = "multimodal:ragas_relevance"
    needs: ClassVar = ("question", "answer", "contexts")
    question: ClassVar = RELEVANT


@dataclass(frozen=True)
class LlamaIndexFaithfulness(RagasFaithfulness):
    """Whether the whole answer follows from texts and pictures."""

    name: ClassVar[str] = "multimodal:llamaindex_faithfulness"

    def missing(self, sample: Sample) -> ScoreError | None:
        lacking = super().missing(sample)  # the original asks without contexts as well
        return None if self.original and lacking and lacking.cause is Cause.NO_CONTEXT else lacking


@dataclass(frozen=True)
class LlamaIndexRelevancy(RagasRelevance):
    """Whether the answer meets the question and agrees with texts and pictures."""

    name: ClassVar[str] = "multimodal:llamaindex_relevancy"

    def missing(self, sample: Sample) -> ScoreError | None:
        lacking = super().missing(sample)  # the original asks without contexts as well
        return None if self.original and lacking and lacking.cause is Cause.NO_CONTEXT else lacking


_ALONE = Steps("the whole answer", "all contexts together", "yes", "yes = 1, no = 0")
_WITH_QUESTION = Steps("the whole answer", "the question and all contexts together", "yes", "yes = 1, no = 0")

ENTRIES = (
    Entry(
        make=RagasFaithfulness,
        source="ragas.metrics.collections.MultiModalFaithfulness",
        compared="ragas 0.4.3",
        family="faithfulness",
        steps=_ALONE,
        empty="an error without contexts",
        also=("faithful_rate", "multi_modal_faithfulness", "multimodal_faithness"),
    ),
    Entry(
        make=RagasRelevance,
        source="ragas.metrics.collections.MultiModalRelevance",
        compared="ragas 0.4.3",
        family="answer relevancy",
        steps=_WITH_QUESTION,
        empty="an error without contexts",
        also=("relevance_rate", "multi_modal_relevance", "multimodal_relevance"),
    ),
    Entry(
        make=LlamaIndexFaithfulness,
        source="llama_index.core.evaluation.MultiModalFaithfulnessEvaluator",
        compared="llama-index-core 0.14.25",
        family="faithfulness",
        steps=_ALONE,
        empty="asked without contexts as well",
    ),
    Entry(
        make=LlamaIndexRelevancy,
        source="llama_index.core.evaluation.MultiModalRelevancyEvaluator",
        compared="llama-index-core 0.14.25",
        family="answer relevancy",
        steps=_WITH_QUESTION,
        empty="asked without contexts as well",
    ),
)
