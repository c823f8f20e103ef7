"""Answer relevancy: can the question be told from the answer?

The judge, which does not see the question, writes questions that the answer would reply to; the score is the mean
cosine of the question with each of them. Low for answers that are incomplete, beside the point or padded; whether the
answer is true does not matter. A noncommittal answer ("I don't know") scores 0.0: it answers no question.

Range -1 to 1, higher is better; in practice mostly 0 to 1, which a cosine does not guarantee. Es et al., "RAGAS:
Automated Evaluation of Retrieval Augmented Generation" (2023); the noncommittal rule since ragas 0.0.22. There every
generated question carries its own flag, and whether any or all of them zero the score changed between versions; here
the answer is judged once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import cosines
from assay.prompts import BackQuestions, Similarity
from assay.records import Sample, Score


def mean_cosine(values: Sequence[float]) -> float:
    """The mean of cosines. Expects at least one."""
    return math.fsum(values) / len(values)


@dataclass(frozen=True)
class AnswerRelevancy(Metric):
    """Mean cosine of the question with `questions` questions written back from the answer."""

    name: ClassVar[str] = "answer_relevancy"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (BackQuestions, Similarity)
    low: ClassVar[float] = -1.0

    questions: int = 3

    def __post_init__(self) -> None:
        if self.questions < 1:
            raise InputError(f"AnswerRelevancy: questions must be at least 1, not {self.questions!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        back = await judge.find(BackQuestions(sample.answer or "", self.questions, sample.spoken))
        texts = {"back_questions": back.questions}
        if back.noncommittal:
            return self.make_score(0.0, parts={"noncommittal": 1.0}, texts=texts)
        if not back.questions:
            raise JudgeFailure(Cause.PARSE, "the judge wrote no question to this answer")
        values = await cosines(sample.question or "", back.questions, judge)
        parts = {f"cosine_{number}": value for number, value in enumerate(values, 1)}
        return self.make_score(mean_cosine(values), parts=parts, texts=texts)
