"""Semantic similarity: how close in meaning are answer and reference?

The cosine of their embeddings. Range -1 to 1, higher is better. Source: ragas (answer_similarity), which also offers
a cross-encoder. Texts that are equal but for white space at the ends score 1.0 without asking. A high cosine says
that two texts are about the same thing, not that they agree: a negation or a wrong number moves it little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import cosines, same_text
from assay.prompts import Similarity
from assay.records import Sample, Score


@dataclass(frozen=True)
class SemanticSimilarity(Metric):
    """Cosine of answer and reference."""

    name: ClassVar[str] = "semantic_similarity"
    needs: ClassVar = ("answer", "reference")
    asks: ClassVar = (Similarity,)
    low: ClassVar[float] = -1.0

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if same_text(sample):
            return self.make_score(1.0, parts={"identical": 1.0})
        (cosine,) = await cosines(sample.answer or "", (sample.reference or "",), judge)
        return self.make_score(cosine)
