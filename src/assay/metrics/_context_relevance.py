"""Context relevance: how much of what was retrieved helps to answer the question?

    unit="sentence"   useful sentences / sentences of all contexts
    unit="passage"    useful passages / passages

Range 0 to 1, higher is better. By sentence is the metric as ragas 0.0.11 first defined it, without its factor for the
agreement of repeated extractions. There the model copied sentences out and each sentence of its reply counted; here
the contexts are split and numbered first, and the judge gives the numbers of the useful sentences, so that the score
cannot count a sentence that the contexts do not contain. A long passage with one decisive sentence scores low by
sentence and 1 by passage. An empty retrieval is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from assay.judges.protocol import Judge
from assay.metrics._context_precision import share_useful
from assay.metrics.base import Metric
from assay.prompts import JudgePrompt, Usefulness, UsefulSentences
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextRelevance(Metric):
    """Sentences (or passages) that are useful for the question / all of them.

    By sentence, the verdicts count through `texts["sentences"]`: that is what `passage` and evidence refer to.
    """

    name: ClassVar[str] = "context_relevance"
    needs: ClassVar = ("question", "contexts")

    unit: Literal["sentence", "passage"] = "sentence"

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]
        return (UsefulSentences,) if self.unit == "sentence" else (Usefulness,)

    @property
    def label(self) -> str:
        return self.name if self.unit == "sentence" else f"{self.name}_{self.unit}"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question = sample.question or ""
        if self.unit == "passage":
            verdicts = await judge.find(
                Usefulness(question, sample.passages, None, sample.spoken, sample.earlier_question)
            )
            return self.make_score(share_useful(verdicts), verdicts={"question/contexts": verdicts})
        prompt = UsefulSentences.of(question, sample.passages, sample.spoken, sample.earlier_question)
        verdicts = await judge.find(prompt)
        return self.make_score(
            share_useful(verdicts),
            verdicts={"question/sentences": verdicts},
            texts={"sentences": tuple(sentence.text for sentence in prompt.sentences)},
        )
