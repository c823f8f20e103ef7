"""ragas' summarization score: yes/no questions on the text that the summary answers, and how much shorter it is.

    QA score      questions answered yes / questions
    conciseness   1 - min(len(summary), len(text)) / (len(text) + 1e-10), in characters
    value         QA score * (1 - coeff) + conciseness * coeff; the QA score alone with length_penalty=False

Range 0 to 1, higher is better. Source: ragas 0.1.22 to 0.4.3 (summary_score there). The response is the summary, the
reference contexts, each on its lines, are the text. The weights stand as in the code of ragas; its documentation, which
`summarization_score` follows, has them the other way round. The small number is left out by assay's profile. Until 0.3
length_penalty=False still took the QA score times 1 - coeff.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._summarization_score import qa_score
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least
from assay.prompts import Checklist, KeyQuestions
from assay.records import Sample, Score

GUARD = 1e-10


def conciseness(summary: str, text: str, guard: float = 0.0) -> float:
    """How much shorter the summary is than the text, which is not empty; 0 where it is as long or longer."""
    return 1 - min(len(summary), len(text)) / (len(text) + guard)


def weighted(qa: float, short: float, coeff: float) -> float:
    """The QA score with 1 - coeff, conciseness with coeff."""
    return qa * (1 - coeff) + short * coeff


@dataclass(frozen=True)
class SummarizationScore(SystemMetric):
    """Key questions that the summary answers, and conciseness, weighted 1 - `coeff` to `coeff`."""

    name: ClassVar[str] = "ragas:summarization_score"
    needs: ClassVar = ("answer", "reference_contexts")
    asks: ClassVar = (KeyQuestions, Checklist)

    length_penalty: bool = True
    coeff: float = 0.5
    questions: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.coeff <= 1:  # NaN fails this as well
            raise InputError(f"SummarizationScore: coeff must be in [0, 1], not {self.coeff!r}")
        at_least(self, "questions")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        summary, text = sample.answer or "", "\n".join(context.text for context in sample.reference_contexts or ())
        if not text.strip():
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'reference_contexts', which are empty")
        questions = await judge.find(KeyQuestions(text, self.questions, sample.spoken))
        if not questions:
            raise JudgeFailure(Cause.PARSE, "the judge wrote no question to this text")
        verdicts = await judge.find(Checklist(questions, (("SUMMARY", summary),), sample.spoken))
        qa, short = qa_score(verdicts), conciseness(summary, text, GUARD if self.original else 0.0)
        return self.make_score(
            weighted(qa, short, self.coeff) if self.length_penalty else qa,
            verdicts={"key_questions/answer": verdicts},
            parts={"qa": qa, "conciseness": short},
            texts={"key_questions": questions},
        )


ENTRIES = (
    Entry(
        make=SummarizationScore,
        source="ragas.metrics.collections.SummaryScore",
        compared="ragas 0.4.3",
        family="summarization",
        steps=Steps("key questions on the text", "the answer", "answered yes", "share, blended with conciseness"),
        empty="an error",
        also=("summary_score", "SummaryScore", "SummarizationScore"),
    ),
)
