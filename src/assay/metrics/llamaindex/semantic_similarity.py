"""LlamaIndex' semantic similarity: how near the embeddings of answer and reference are; passing from 0.8 on.

    cosine        a b / (|a| |b|)                       -1 to 1
    dot_product   a b                                    -1 to 1 for vectors of length 1
    euclidean     -|a - b| = -sqrt(2 - 2 a b)            -2 to 0 for vectors of length 1

Higher is better. llama-index-core 0.14, SemanticSimilarityEvaluator. Judges give cosines, so vectors have the length 1
here, as those of embedding models have; for others the two further modes of the original depend on their length.
Texts that are equal but for white space at the ends count as equal without asking. `parts["passing"]` is 1 from
`threshold` on, which is 0.8 in every mode (no euclidean value reaches it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import cosines, same_text
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Similarity
from assay.records import Sample, Score

Mode = Literal["cosine", "dot_product", "euclidean"]


def similarity(cosine: float, mode: Mode) -> float:
    """The similarity of two vectors of length 1 with this cosine."""
    return -math.sqrt(max(0.0, 2 - 2 * cosine)) if mode == "euclidean" else cosine


@dataclass(frozen=True)
class SemanticSimilarity(SystemMetric):
    """Cosine of answer and reference."""

    name: ClassVar[str] = "llamaindex:semantic_similarity"
    mode: ClassVar[Mode] = "cosine"
    needs: ClassVar = ("answer", "reference")
    asks: ClassVar = (Similarity,)
    low: ClassVar[float] = -1.0

    threshold: float = 0.8

    def __post_init__(self) -> None:
        if not math.isfinite(self.threshold):
            raise InputError(f"SemanticSimilarity: threshold must be a number, not {self.threshold!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        identical = same_text(sample)
        cosine = 1.0 if identical else (await cosines(sample.answer or "", (sample.reference or "",), judge))[0]
        value = similarity(cosine, self.mode)
        parts = {"cosine": cosine, "passing": float(value >= self.threshold)}
        return self.make_score(value, parts={**parts, "identical": 1.0} if identical else parts)


@dataclass(frozen=True)
class DotProduct(SemanticSimilarity):
    """Dot product of the embeddings of answer and reference, of length 1."""

    name: ClassVar[str] = "llamaindex:semantic_similarity_dot_product"
    mode: ClassVar[Mode] = "dot_product"


@dataclass(frozen=True)
class Euclidean(SemanticSimilarity):
    """Minus the distance of the embeddings of answer and reference, of length 1."""

    name: ClassVar[str] = "llamaindex:semantic_similarity_euclidean"
    mode: ClassVar[Mode] = "euclidean"
    low: ClassVar[float] = -2.0
    high: ClassVar[float] = 0.0


def _entry(make: type[SemanticSimilarity], aggregate: str) -> Entry:
    return Entry(
        make=make,
        source=f"llama_index.core.evaluation.SemanticSimilarityEvaluator(similarity_mode={make.mode!r})",
        compared="llama-index-core 0.14.25",
        family="similarity",
        steps=Steps("the whole answer", "the reference", "embeddings", aggregate),
        empty="an exception without a reference",
    )


ENTRIES = (
    _entry(SemanticSimilarity, "cosine"),
    _entry(DotProduct, "dot product"),
    _entry(Euclidean, "minus the distance"),
)
