"""DeepEval's summarization: how far the summary keeps to the text, and what it keeps of it; the lower of the two.

    alignment   claims of the summary that the text supports / claims of the summary (a claim of which the text says
                nothing does not count)
    coverage    of the questions that the text answers with yes, the share that the summary answers with yes
    score       min(alignment, coverage)

Range 0 to 1, higher is better. The text is the column `input`, the question here. DeepEval 4.3.1,
`SummarizationMetric`. Without claims alignment is 0 there, without a question that the text answers with yes coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.shared_prompts import claims_of, support, texts_not_judged
from assay.metrics.systems.base import Entry, Steps, at_least
from assay.prompts import Checklist, Claims, Classification, KeyQuestions, Support
from assay.records import Sample, Score

CHOICES = (("yes", "the text says so"), ("no", "the text says otherwise, or nothing"))


def coverage(text: Sequence[bool], summary: Sequence[bool]) -> float | None:
    """Questions that both answer with yes / questions that the text does; None where it answers none so."""
    kept = [said for asked, said in zip(text, summary, strict=True) if asked]
    return sum(kept) / len(kept) if kept else None


@dataclass(frozen=True)
class Summarization(DeepEvalMetric):
    """The lower of alignment and coverage; `assessment_questions` are asked in place of `n` that the judge writes."""

    name: ClassVar[str] = "deepeval:summarization"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Claims, Support, KeyQuestions, Checklist, Classification)
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0, Cause.NOT_APPLICABLE: 0.0}

    n: int = 5
    assessment_questions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, "n")
        if self.assessment_questions == ():
            raise InputError(f"{self.name}: assessment_questions is empty")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        text, spoken = sample.question or "", sample.spoken
        claims = await judge.find(claims_of(sample, "answer"))
        left = texts_not_judged(sample, claims)
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "the summary makes no checkable claim", texts=left)
        aligned = await support(claims, (text,), sample, judge)
        questions = self.assessment_questions
        if questions is None:
            questions = await judge.find(KeyQuestions(text, self.n, spoken))
        if not questions:
            return self.skip(Cause.NOT_APPLICABLE, "the judge wrote no question to this text", texts=left)
        summary = await judge.find(Checklist(questions, (("SUMMARY", sample.answer or ""),), spoken))
        asked = "Does the TEXT answer the ITEM, a question, with yes?"
        original = await judge.find(
            Classification("answered by the text", asked, questions, CHOICES, (("TEXT", text),), language=spoken)
        )
        kept = coverage([one.label == "yes" for one in original], [one.label == "yes" for one in summary])
        if kept is None:
            return self.skip(Cause.NOT_APPLICABLE, "the text answers no question with yes", texts=left)
        alignment = share_counted([one.label for one in aligned], ("supported",))
        return self.make_graded_score(
            min(alignment, kept),
            verdicts={"answer/input": aligned, "key_questions/input": original, "key_questions/answer": summary},
            parts={"alignment": alignment, "coverage": kept},
            texts={"key_questions": questions, **left},
        )


ENTRIES = (
    Entry(
        make=Summarization,
        source="deepeval.metrics.SummarizationMetric",
        compared="deepeval 4.3.1",
        family="summarization",
        steps=Steps(
            "claims of the answer, key questions", "the text", "supported, answered yes", "lower of two shares"
        ),
        empty="0",
    ),
)
