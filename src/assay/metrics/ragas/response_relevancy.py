"""ragas' answer relevancy: the mean cosine of the question with questions written back from the response.

    mean of cosine(question, q_i) for i = 1 .. strictness, and 0 for a noncommittal response

Range -1 to 1, higher is better; mostly 0 to 1, which a cosine does not guarantee. Es et al., "RAGAS: Automated
Evaluation of Retrieval Augmented Generation" (2023). Every question there comes with a flag of its own, and which
flags make 0 of the score changed: none in `ragas:answer_relevancy_0_0_11`, any of them in `ragas:answer_relevancy`
(0.0.22 to 0.2.15), all in `ragas:response_relevancy` (0.3 and later, where the metric has either name). By assay's
profile the judge is asked once, for all questions and one flag, as for `answer_relevancy`; the two are then the same.
By the original's it is asked `strictness` times, for one question and its flag each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import ask, cosines
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least
from assay.prompts import BackQuestions, Similarity
from assay.records import Sample, Score

ZeroedBy = Literal["all", "any", "none"]


def relevancy(similar: Sequence[float], flags: Sequence[bool], zeroed_by: ZeroedBy) -> float:
    """The mean of the cosines; 0.0 where all, or any, of the flags say noncommittal. Expects at least one of each."""
    noncommittal = {"all": all(flags), "any": any(flags), "none": False}[zeroed_by]
    return 0.0 if noncommittal else math.fsum(similar) / len(similar)


@dataclass(frozen=True)
class ResponseRelevancy(SystemMetric):
    """Mean cosine with `strictness` questions; 0.0 where each of them is flagged noncommittal."""

    name: ClassVar[str] = "ragas:response_relevancy"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (BackQuestions, Similarity)
    low: ClassVar[float] = -1.0
    zeroed_by: ClassVar[ZeroedBy] = "all"

    strictness: int = 3

    def __post_init__(self) -> None:
        at_least(self, "strictness")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        answer, count = sample.answer or "", self.strictness
        once = (BackQuestions(answer, count, sample.spoken),)
        often = tuple(BackQuestions(answer, 1, sample.spoken, vote) for vote in range(1, count + 1))
        found = await ask(judge, *(often if self.original else once))
        questions = tuple(question for one in found for question in one.questions)
        flags = [one.noncommittal for one in found]
        parts: dict[str, float] = {"noncommittal": sum(flags)}
        texts = {"back_questions": questions}
        if not questions and not any(flags):
            raise JudgeFailure(Cause.PARSE, "the judge wrote no question to this answer")
        if not questions:
            return self.make_score(0.0, parts=parts)
        similar = await cosines(sample.question or "", questions, judge)
        parts |= {f"cosine_{number}": value for number, value in enumerate(similar, 1)}
        return self.make_score(relevancy(similar, flags, self.zeroed_by), parts=parts, texts=texts)


@dataclass(frozen=True)
class AnswerRelevancy(ResponseRelevancy):
    """Mean cosine with `strictness` questions; 0.0 where one of them is flagged noncommittal."""

    name: ClassVar[str] = "ragas:answer_relevancy"
    zeroed_by: ClassVar[ZeroedBy] = "any"


@dataclass(frozen=True)
class AnswerRelevancy0011(ResponseRelevancy):
    """Mean cosine with `strictness` questions, noncommittal or not."""

    name: ClassVar[str] = "ragas:answer_relevancy_0_0_11"
    zeroed_by: ClassVar[ZeroedBy] = "none"


ENTRIES = (
    Entry(
        make=ResponseRelevancy,
        source="ragas.metrics.collections.AnswerRelevancy",
        compared="ragas 0.4.3",
        family="answer relevance",
        steps=Steps("questions written back from the answer", "the question", "cosine, 0 if all noncommittal", "mean"),
        empty="0 where the judge writes no question",
        also=("AnswerRelevancy", "ResponseRelevancy"),
    ),
    Entry(
        make=AnswerRelevancy,
        source="ragas.metrics.ResponseRelevancy, until 0.2.15",
        compared="ragas 0.2.15",
        family="answer relevance",
        steps=Steps("questions written back from the answer", "the question", "cosine, 0 if any noncommittal", "mean"),
        empty="NaN where every question is empty",
    ),
    Entry(
        make=AnswerRelevancy0011,
        source="ragas.metrics.AnswerRelevancy, of 0.0.11",
        compared="ragas 0.0.11",
        family="answer relevance",
        steps=Steps("questions written back from the answer", "the question", "cosine", "mean"),
        empty="an error",
    ),
)
