"""openevals' comparisons of two texts: equal, how many edits apart, how close in meaning. Higher is better.

    exact_match            1 where they are equal, else 0
    levenshtein_distance   1 - edits / length of the longer text, in 0 to 1: closeness, in spite of its name
    embedding_similarity   the cosine of their embeddings, or with `algorithm="dot_product"` their dot product, which
                           for vectors of length 1 is the same; -1 to 1. openevals rounds it to two digits

Source: openevals 0.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import cosines
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.metrics.systems.lexical import levenshtein
from assay.prompts import Similarity
from assay.records import Sample, Score

Algorithm = Literal["cosine", "dot_product"]


@dataclass(frozen=True)
class ExactMatch(SystemMetric):
    """1 where answer and reference are equal."""

    name: ClassVar[str] = "openevals:exact_match"
    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_score(float(sample.answer == sample.reference))


@dataclass(frozen=True)
class LevenshteinDistance(SystemMetric):
    """1 - the normalised Levenshtein distance of answer and reference."""

    name: ClassVar[str] = "openevals:levenshtein_distance"
    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_score(1.0 - levenshtein(sample.answer or "", sample.reference or ""))


@dataclass(frozen=True)
class EmbeddingSimilarity(SystemMetric):
    """The cosine of answer and reference."""

    name: ClassVar[str] = "openevals:embedding_similarity"
    needs: ClassVar = ("answer", "reference")
    asks: ClassVar = (Similarity,)
    low: ClassVar[float] = -1.0

    algorithm: Algorithm = "cosine"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        (cosine,) = await cosines(sample.answer or "", (sample.reference or "",), judge)
        return self.make_score(round(cosine, 2) if self.original else cosine, parts={"cosine": cosine})


ENTRIES = (
    Entry(
        make=ExactMatch,
        source="openevals.exact.exact_match",
        compared="openevals 0.2.2",
        family="exact match",
        steps=Steps("the whole answer", "the reference", "equal", "yes 1, no 0"),
        empty="1 where both are empty, else 0",
    ),
    Entry(
        make=LevenshteinDistance,
        source="openevals.string.levenshtein_distance",
        compared="openevals 0.2.2",
        family="string distance",
        steps=Steps("characters of the answer", "the reference", "levenshtein", "1 - distance"),
        empty="0, and 1 where both are empty",
    ),
    Entry(
        make=EmbeddingSimilarity,
        source="openevals.string.create_embedding_similarity_evaluator",
        compared="openevals 0.2.2",
        family="similarity",
        steps=Steps("the whole answer", "the reference", "cosine of the embeddings", "rounded to two digits"),
        empty="whatever the embedding of nothing gives",
    ),
)
