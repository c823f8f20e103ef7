"""Retrieval with pictures among the contexts.

    contextual_precision   average precision of the ranking, a passage or picture being useful for the reference or not
    contextual_recall      claims of the reference that texts and pictures support / claims of the reference
    contextual_relevancy   (useful sentences + useful pictures) / (sentences + pictures), for the question

Range 0 to 1, higher is better. DeepEval 2 to 4, whose statements here are the sentences of the contexts; a picture is
one statement, as there. Where the text of a picture is read instead, its sentences count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics._faithfulness import share_supported
from assay.metrics.multimodal.base import PICTURE, ImageJudge, MultiModalMetric
from assay.metrics.shared_prompts import ask, expected_share, reference_against_contexts
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.input_rules import InputRules
from assay.prompts import Claims, Support, Usefulness, UsefulSentences
from assay.records import Sample, Score

#: The original asks with an empty reference too.
TAKES_NO_REFERENCE = InputRules(takes_empty=("reference",))


@dataclass(frozen=True)
class ContextualPrecision(MultiModalMetric):
    """Average precision of the ranking of texts and pictures, where the reference says what is useful."""

    name: ClassVar[str] = "multimodal:contextual_precision"
    needs: ClassVar = ("question", "contexts", "reference")
    asks: ClassVar = (Usefulness,)
    input_rules: ClassVar = TAKES_NO_REFERENCE
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question, earlier = sample.question or "", sample.earlier_question
        verdicts = await judge.find(Usefulness(question, sample.passages, sample.reference, sample.spoken, earlier))
        return self.make_score(
            average_precision([verdict.label == "useful" for verdict in verdicts]),
            verdicts={"question+reference/contexts": verdicts},
            parts={"precision": share_useful(verdicts)},
        )


@dataclass(frozen=True)
class ContextualRecall(MultiModalMetric):
    """Claims of the reference that texts and pictures support / claims of the reference."""

    name: ClassVar[str] = "multimodal:contextual_recall"
    needs: ClassVar = ("contexts", "reference")
    asks: ClassVar = (Claims, Support)
    needs_passages: ClassVar[bool] = False
    input_rules: ClassVar = TAKES_NO_REFERENCE
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await reference_against_contexts(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the reference makes no checkable claim", texts=reading.not_judged)
        evidence = reading.with_parts(**expected_share(reading.verdicts))
        return self.make_score(share_supported(reading.verdicts), **evidence)


@dataclass(frozen=True)
class ContextualRelevancy(MultiModalMetric):
    """Useful sentences and pictures / sentences and pictures of the contexts."""

    name: ClassVar[str] = "multimodal:contextual_relevancy"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Usefulness, UsefulSentences)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question, earlier = sample.question or "", sample.earlier_question
        shown = sorted(judge.pictured) if isinstance(judge, ImageJudge) else []
        # of a picture with a caption the sentences are none of the texts': it counts once
        texts = tuple("" if n in shown else passage for n, passage in enumerate(sample.passages))
        prompt = UsefulSentences.of(question, texts, sample.spoken, earlier)
        useful = Usefulness(question, sample.passages, None, sample.spoken, earlier)
        asked = [*([prompt] if prompt.sentences else []), *([useful] if shown else [])]
        if not asked:
            return self.skip(Cause.NO_CONTEXT, "the contexts have no sentence and no picture")
        found = await ask(judge, *asked)
        sentences, passages = found[0] if prompt.sentences else (), found[-1]
        pictures = tuple(replace(passages[n], passage=len(sentences) + k) for k, n in enumerate(shown))
        verdicts = (*sentences, *pictures)
        return self.make_score(
            share_useful(verdicts),
            verdicts={"question/sentences": verdicts},
            parts={"sentences": float(len(sentences)), "pictures": float(len(pictures))},
            texts={"sentences": (*(sentence.text for sentence in prompt.sentences), *(PICTURE for _ in pictures))},
        )


ENTRIES = (
    Entry(
        make=ContextualPrecision,
        source="deepeval.metrics.ContextualPrecisionMetric with images in the retrieval context",
        compared="deepeval 4.3.1",
        family="context precision",
        ordered=True,
        steps=Steps("passages", "the reference", "useful", "average precision"),
        empty="0 without contexts",
        also=("MultimodalContextualPrecisionMetric",),
    ),
    Entry(
        make=ContextualRecall,
        source="deepeval.metrics.ContextualRecallMetric with images in the retrieval context",
        compared="deepeval 4.3.1",
        family="context recall",
        steps=Steps("claims of the reference", "all contexts together", "supported", "share"),
        empty="0 where the reference has no sentences",
        also=("MultimodalContextualRecallMetric",),
    ),
    Entry(
        make=ContextualRelevancy,
        source="deepeval.metrics.ContextualRelevancyMetric with images in the retrieval context",
        compared="deepeval 4.3.1",
        family="context relevance",
        steps=Steps("sentences of the contexts and pictures", "the question", "useful", "share"),
        empty="0 without statements",
        also=("MultimodalContextualRelevancyMetric",),
    ),
)
