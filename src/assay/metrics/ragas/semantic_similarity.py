"""ragas' semantic similarity: the cosine of reference and response, or with a threshold whether it is reached.

    cosine(reference, response);  with a threshold: 1 where the cosine is at least that, else 0

Range -1 to 1, higher is better. Source: ragas 0.4.3 (answer_similarity until 0.2; a cross-encoder, which 0.0.22 could
take, fails since). The original embeds one space in the place of a text that is empty or missing, which gives a number
that says nothing; by its profile it is given, marked as a convention. A threshold of 0 counts as none there, by assay's
profile as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import cosines
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Similarity
from assay.records import Sample, Score, ScoreError


def reached(cosine: float, threshold: float) -> float:
    """1.0 where the cosine is at least the threshold, else 0.0."""
    return float(cosine >= threshold)


@dataclass(frozen=True)
class SemanticSimilarity(SystemMetric):
    """Cosine of answer and reference, or whether it reaches `threshold`."""

    name: ClassVar[str] = "ragas:semantic_similarity"
    needs: ClassVar = ("answer", "reference")
    asks: ClassVar = (Similarity,)
    low: ClassVar[float] = -1.0

    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"SemanticSimilarity: threshold must be a finite number, not {self.threshold!r}")

    def missing(self, sample: Sample) -> ScoreError | None:
        return None if self.original else super().missing(sample)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        (cosine,) = await cosines(sample.reference or " ", (sample.answer or " ",), judge)
        bar = None if self.original and not self.threshold else self.threshold
        value = cosine if bar is None else reached(cosine, bar)
        score = self.make_score(value, parts={"cosine": cosine})
        missing = super().missing(sample)
        return score if missing is None else replace(score, convention=missing.message)


ENTRIES = (
    Entry(
        make=SemanticSimilarity,
        source="ragas.metrics.collections.SemanticSimilarity",
        compared="ragas 0.4.3",
        family="similarity",
        steps=Steps("the whole answer", "the reference", "cosine", "the cosine"),
        empty="the cosine with one space",
        also=("answer_similarity", "AnswerSimilarity"),
    ),
)
