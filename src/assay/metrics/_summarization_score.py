"""Summarization score: does the summary keep what matters in the text, in fewer words?

The answer is the summary, the contexts together are the text. The judge writes yes/no questions on the key points of
the text, all of which the text answers with yes, and answers them, all in one request, from the summary alone.

    QA score      questions answered yes / questions
    conciseness   1 - min(len(summary), len(text)) / len(text), in characters
    score         QA score * coeff + conciseness * (1 - coeff); the QA score alone with length_penalty=False

Range 0 to 1, higher is better. Source: the documentation of ragas' SummarizationScore. The code of ragas 0.1.22 has
the weights the other way round, which differs for any coeff but 0.5; we follow the documentation. Its 1e-10 in the
denominator guards against an empty text, which is skipped here, so a copy of the text has conciseness 0 exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.prompts import Checklist, KeyQuestions
from assay.records import Sample, Score, Verdict


def qa_score(verdicts: Sequence[Verdict]) -> float:
    """Verdicts that say yes / verdicts. Expects at least one."""
    return sum(verdict.label == "yes" for verdict in verdicts) / len(verdicts)


def conciseness(summary: str, text: str) -> float:
    """How much shorter the summary is, as a share of the text; 0.0 when it is as long or longer."""
    return 1 - min(len(summary), len(text)) / len(text)


@dataclass(frozen=True)
class SummarizationScore(Metric):
    """Key questions that the summary answers, and conciseness, weighted `coeff` to 1 - `coeff`."""

    name: ClassVar[str] = "summarization_score"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (KeyQuestions, Checklist)

    coeff: float = 0.5
    length_penalty: bool = True
    questions: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.coeff <= 1:  # NaN fails this as well
            raise InputError(f"SummarizationScore: coeff must be in [0, 1], not {self.coeff!r}")
        if self.questions < 1:
            raise InputError(f"SummarizationScore: questions must be at least 1, not {self.questions!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        summary, text = sample.answer or "", text_of(sample)
        questions, verdicts = await key_points(sample, judge, self.questions)
        qa, short = qa_score(verdicts), conciseness(summary, text)
        return self.make_score(
            qa * self.coeff + short * (1 - self.coeff) if self.length_penalty else qa,
            verdicts={"key_questions/answer": verdicts},
            parts={"qa": qa, "conciseness": short},
            texts={"key_questions": questions},
        )


def text_of(sample: Sample) -> str:
    """The text that was to be summarized."""
    return "\n\n".join(sample.passages)


async def key_points(sample: Sample, judge: Judge, count: int) -> tuple[tuple[str, ...], tuple[Verdict, ...]]:
    """Questions on the key points of the contexts, and whether the answer alone says yes to each."""
    questions = await judge.find(KeyQuestions(text_of(sample), count, sample.spoken))
    if not questions:
        raise JudgeFailure(Cause.PARSE, "the judge wrote no question to this text")
    verdicts = await judge.find(Checklist(questions, (("SUMMARY", sample.answer or ""),), sample.spoken))
    return questions, verdicts
