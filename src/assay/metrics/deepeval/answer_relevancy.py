"""DeepEval's answer relevancy: statements of the answer that do not miss the question / its statements.

    (relevant + borderline) / statements

Range 0 to 1, higher is better. Borderline statements (that help without answering) count as relevant. DeepEval 4.3.1,
`AnswerRelevancyMetric`. Without statements it gives 1; here that is no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.shared_prompts import claims_of, texts_not_judged
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Classification
from assay.records import Sample, Score

CHOICES = (
    ("relevant", "it answers the question or a part of it"),
    ("borderline", "it does not answer it, but helps to understand or to use the answer"),
    ("irrelevant", "it has nothing to do with what was asked"),
)
COUNTED = ("relevant", "borderline")


@dataclass(frozen=True)
class AnswerRelevancy(DeepEvalMetric):
    """Claims of the answer that are relevant to the question, or might be / claims of the answer."""

    name: ClassVar[str] = "deepeval:answer_relevancy"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Claims, Classification)
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        claims = await judge.find(claims_of(sample, "answer"))
        left = texts_not_judged(sample, claims)
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=left)
        asked = Classification(
            what="relevance",
            question="Is the ITEM, a statement of an answer, relevant to the QUESTION that was asked?",
            given=tuple(claim.text for claim in claims),
            choices=CHOICES,
            material=(("QUESTION", sample.question or ""),),
            language=sample.spoken,
        )
        found = await judge.find(asked)
        verdicts = tuple(replace(verdict, claim=claim) for verdict, claim in zip(found, claims, strict=True))
        value = share_counted([verdict.label for verdict in verdicts], COUNTED)
        return self.make_graded_score(value, verdicts={"answer/question": verdicts}, texts=left)


ENTRIES = (
    Entry(
        make=AnswerRelevancy,
        source="deepeval.metrics.AnswerRelevancyMetric",
        compared="deepeval 4.3.1",
        family="answer relevance",
        steps=Steps("claims of the answer", "the question", "relevant or borderline", "share"),
        empty="1",
    ),
)
