"""One yes or no on the whole answer, with texts and pictures: ragas 0.4.3 and LlamaIndex 0.14.

    ragas_faithfulness, llamaindex_faithfulness   1 where everything that the answer says follows from the contexts
    ragas_relevance, llamaindex_relevancy         1 where the answer meets the question and agrees with the contexts

1.0 for yes and 0.0 for no. The two systems ask the same, and so are asked once here. LlamaIndex takes every reply with
the letters "yes" in it for a yes; here the label counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.multimodal.base import MultiModalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.input_rules import TAKES_BLANK_PASSAGES, TAKES_NO_PASSAGES
from assay.prompts import Criterion
from assay.records import Sample, Score

FAITHFUL = "Does everything that the ANSWER says follow from the passages, texts and pictures, without other knowledge?"
RELEVANT = "Does the ANSWER reply to the QUESTION, and agree with the passages, texts and pictures?"


def yes(label: str) -> float:
    """1.0 for "yes", else 0.0."""
    return float(label == "yes")


async def score_whole(metric: MultiModalMetric, question: str, sample: Sample, judge: Judge) -> Score:
    """Ask one yes-or-no question about the whole answer.

    Args:
        metric: The metric; what it needs is what the judge is shown.
        question: The question.
        sample: The sample.
        judge: The judge.

    Returns:
        1.0 for yes, 0.0 for no; higher is better.

    Raises:
        JudgeFailure: If the judge does not answer.
    """
    material = material_of(sample, metric.needs)  # type: ignore[arg-type]
    found = await judge.find(Criterion(question, material, language=sample.spoken))
    return metric.make_score(yes(found.label), verdicts={"answer/contexts": (found,)})


@dataclass(frozen=True)
class RagasFaithfulness(MultiModalMetric):
    """Whether the whole answer follows from texts and pictures."""

    name: ClassVar[str] = "multimodal:ragas_faithfulness"
    needs: ClassVar[tuple[Field, ...]] = ("answer", "contexts")
    asks: ClassVar = (Criterion,)
    input_rules: ClassVar = TAKES_BLANK_PASSAGES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await score_whole(self, FAITHFUL, sample, judge)


@dataclass(frozen=True)
class RagasRelevance(MultiModalMetric):
    """Whether the answer meets the question and agrees with texts and pictures."""

    name: ClassVar[str] = "multimodal:ragas_relevance"
    needs: ClassVar[tuple[Field, ...]] = ("question", "answer", "contexts")
    asks: ClassVar = (Criterion,)
    input_rules: ClassVar = TAKES_BLANK_PASSAGES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await score_whole(self, RELEVANT, sample, judge)


@dataclass(frozen=True)
class LlamaIndexFaithfulness(MultiModalMetric):
    """Whether the whole answer follows from texts and pictures."""

    name: ClassVar[str] = "multimodal:llamaindex_faithfulness"
    needs: ClassVar[tuple[Field, ...]] = ("answer", "contexts")
    asks: ClassVar = (Criterion,)
    input_rules: ClassVar = TAKES_NO_PASSAGES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await score_whole(self, FAITHFUL, sample, judge)


@dataclass(frozen=True)
class LlamaIndexRelevancy(MultiModalMetric):
    """Whether the answer meets the question and agrees with texts and pictures."""

    name: ClassVar[str] = "multimodal:llamaindex_relevancy"
    needs: ClassVar[tuple[Field, ...]] = ("question", "answer", "contexts")
    asks: ClassVar = (Criterion,)
    input_rules: ClassVar = TAKES_NO_PASSAGES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await score_whole(self, RELEVANT, sample, judge)


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
