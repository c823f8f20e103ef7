"""ragas' answer correctness: F-beta of the statements, blended with the cosine of the two texts.

    TP, FP      statements of the response that the reference supports, and that it does not
    FN          statements of the reference that the response does not support
    factual     (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP) with b = `beta`
    value       (w_1 factual + w_2 cosine) / (w_1 + w_2), by default 0.75 and 0.25

Range -1 to 1, higher is better; below 0 only where the cosine is. Source: ragas 0.4.3. There the judge sorts the
statements of both texts in one reply; here each text is read against the other, which other metrics ask too. Where
response or reference has no statement the original takes 1 for the factual part, in 0.2.15
("answer_correctness_0_2_15") only where both have none: by its profile that is given, marked as a convention. By
assay's profile the part is 0 where one of them has statements, and the score has no value where none has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics._answer_correctness import blend, counts, expected_counts, f_beta
from assay.metrics.shared_prompts import (
    Field,
    both_not_judged,
    claims_of,
    cosines,
    gather,
    not_mentioned,
    support,
)
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Claims, JudgePrompt, Similarity, Support
from assay.records import Claim, Sample, Score, ScoreError, Verdict

Readings = tuple[tuple[Verdict, ...], tuple[Verdict, ...]]


@dataclass(frozen=True)
class AnswerCorrectness(SystemMetric):
    """F-beta of the claims and the cosine, weighted; a weight of 0 drops its part."""

    name: ClassVar[str] = "ragas:answer_correctness"
    needs: ClassVar = ("answer", "reference")
    low: ClassVar[float] = -1.0
    #: Whether one text without a statement is enough for the original to take 1 for the factual part.
    one_is_enough: ClassVar[bool] = True

    weights: tuple[float, float] = (0.75, 0.25)
    beta: float = 1.0

    def __post_init__(self) -> None:
        good = len(self.weights) == 2 and all(math.isfinite(weight) and weight >= 0 for weight in self.weights)
        if not good or sum(self.weights) <= 0:
            raise InputError(f"AnswerCorrectness: weights must be two numbers from 0, not both 0, not {self.weights!r}")
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"AnswerCorrectness: beta must be a positive number, not {self.beta!r}")

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the weights
        return (Claims, Support, Similarity) if self.weights[1] else (Claims, Support)

    def missing(self, sample: Sample) -> ScoreError | None:
        return None if self.original else super().missing(sample)  # an empty text has no statement there

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        readings, similarity = await gather(self._readings(sample, judge), self._similarity(sample, judge))
        left = both_not_judged(sample, *(tuple(v.claim for v in one if v.claim) for one in readings))
        assumed = self.original and not (all(readings) if self.one_is_enough else any(readings))
        if not assumed and not any(readings):
            return self.skip(Cause.NO_CLAIMS, "neither answer nor reference makes a checkable claim", texts=left)
        tp, fp, fn = counts(*readings)
        factual = 1.0 if assumed else f_beta(tp, fp, fn, self.beta)
        expected = None if assumed else expected_counts(*readings)
        score = self.make_score(
            blend(factual, similarity, self.weights),
            verdicts={"answer/reference": readings[0], "reference/answer": readings[1]},
            parts={
                "tp": tp,
                "fp": fp,
                "fn": fn,
                "factual": factual,
                "similarity": similarity,
                **({} if expected is None else {"expected_factual": f_beta(*expected, self.beta)}),
            },
            texts=left,
        )
        return replace(score, convention="the factual part is 1 where a text makes no claim") if assumed else score

    async def _readings(self, sample: Sample, judge: Judge) -> Readings:
        answer, reference = (sample.answer or "",), (sample.reference or "",)
        said, right = await gather(self._claims(sample, "answer", judge), self._claims(sample, "reference", judge))
        if not said or not right:  # F is 0 or has no value: reading one against the other would not change that
            return not_mentioned(said, reference), not_mentioned(right, answer)
        return await gather(support(said, reference, sample, judge), support(right, answer, sample, judge))

    async def _claims(self, sample: Sample, field: Field, judge: Judge) -> tuple[Claim, ...]:
        return await judge.find(claims_of(sample, field)) if (getattr(sample, field) or "").strip() else ()

    async def _similarity(self, sample: Sample, judge: Judge) -> float:
        if not self.weights[1]:
            return 0.0
        return (await cosines(sample.answer or "", (sample.reference or "",), judge))[0]


@dataclass(frozen=True)
class AnswerCorrectness0215(AnswerCorrectness):
    """The same with the empty texts of 0.2.15."""

    name: ClassVar[str] = "ragas:answer_correctness_0_2_15"
    one_is_enough: ClassVar[bool] = False


STEPS = Steps(
    "claims of the answer and of the reference", "the other text", "supported", "F-beta, blended with the cosine"
)

ENTRIES = (
    Entry(
        make=AnswerCorrectness,
        source="ragas.metrics.collections.AnswerCorrectness",
        compared="ragas 0.4.3",
        family="correctness",
        steps=STEPS,
        empty="the factual part is 1 where response or reference has no statement",
    ),
    Entry(
        make=AnswerCorrectness0215,
        source="ragas.metrics.AnswerCorrectness, of 0.2.15",
        compared="ragas 0.2.15",
        family="correctness",
        steps=STEPS,
        empty="the factual part is 1 where neither response nor reference has a statement",
    ),
)
