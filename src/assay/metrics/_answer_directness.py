"""Answer directness: does the answer meet the question that was asked?

An answer is direct when it gives what was asked for, whether or not that is true; a refusal, an evasion and talk about
something else are not. The score is the judge's probability that the answer is direct, where it gives one: then
`parts["probability"]` has it as well. From a judge that gives only the label it is 1.0 for direct and 0.0 for indirect,
and there are no parts.

Range 0 to 1, higher is better. Close to what DeepEval (answer relevancy), TruLens (answer relevance) and ragas (answer
relevancy) measure, but one verdict on the whole answer: no questions are written back from it, and no statements
counted. See `answer_relevancy` for the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.prompts import Directness
from assay.records import Sample, Score, Verdict


def directness(verdict: Verdict) -> float:
    """The probability that the answer is direct; without one, 1.0 or 0.0 by the label."""
    return float(verdict.label == "direct") if verdict.probability is None else verdict.probability


@dataclass(frozen=True)
class AnswerDirectness(Metric):
    """The probability that the answer gives what the question asks for, right or wrong."""

    name: ClassVar[str] = "answer_directness"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Directness,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        verdict = await judge.find(Directness(sample.question or "", sample.answer or "", sample.spoken))
        return self.make_score(
            directness(verdict),
            verdicts={"question/answer": (verdict,)},
            parts={} if verdict.probability is None else {"probability": verdict.probability},
        )
