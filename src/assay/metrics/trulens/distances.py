"""TruLens' distances of two embeddings: those of the question and of the answer.

    cosine_distance      1 - cosine
    euclidean_distance   sqrt(2 - 2 cosine), of embeddings of length 1
    manhattan_distance   the sum of the differences of their coordinates

Range 0 to 2, of the manhattan distance 0 to 2 * sqrt(coordinates); lower is better. trulens 2.16.0, `Embeddings`, there
with a model of LlamaIndex. Judges here give cosines, and with them the euclidean distance of vectors of length 1, as
nearly all models give them. The manhattan distance does not follow from a cosine, and is asked on its own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import cosines
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Distance, Similarity
from assay.records import Direction, Sample, Score

#: The largest manhattan distance of vectors of 65,536 coordinates, twice the root of their number.
FARTHEST = 512.0


def cosine_distance(cosine: float) -> float:
    """1 - cosine, from 0 to 2."""
    return 1 - cosine


def euclidean_distance(cosine: float) -> float:
    """The distance of two vectors of length 1, from 0 to 2."""
    return math.sqrt(2 - 2 * cosine)


@dataclass(frozen=True)
class _Distance(SystemMetric):
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Similarity,)
    high: ClassVar[float] = 2.0
    direction: ClassVar[Direction] = "lower"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        (cosine,) = await cosines(sample.question or "", (sample.answer or "",), judge)
        return self.make_score(self.value(cosine), parts={"cosine": cosine})

    @abstractmethod
    def value(self, cosine: float) -> float:
        """The distance of two texts with this cosine."""


@dataclass(frozen=True)
class CosineDistance(_Distance):
    """1 - cosine of question and answer."""

    name: ClassVar[str] = "trulens:cosine_distance"

    def value(self, cosine: float) -> float:
        return cosine_distance(cosine)


@dataclass(frozen=True)
class EuclideanDistance(_Distance):
    """The euclidean distance of question and answer."""

    name: ClassVar[str] = "trulens:euclidean_distance"

    def value(self, cosine: float) -> float:
        return euclidean_distance(cosine)


@dataclass(frozen=True)
class ManhattanDistance(SystemMetric):
    """The manhattan distance of question and answer."""

    name: ClassVar[str] = "trulens:manhattan_distance"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Distance,)
    high: ClassVar[float] = FARTHEST
    direction: ClassVar[Direction] = "lower"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        (apart,) = await judge.find(Distance(sample.question or "", (sample.answer or "",), "manhattan"))
        return self.make_score(apart)


def _entry(make: type[SystemMetric], counts: str, aggregate: str) -> Entry:
    return Entry(
        make=make,
        source=f"trulens.feedback.Embeddings.{make.name.partition(':')[2]}",
        compared="trulens 2.16.0",
        family="similarity",
        steps=Steps("the whole answer", "the question", counts, aggregate),
    )


ENTRIES = (
    _entry(CosineDistance, "cosine", "1 - cosine"),
    _entry(EuclideanDistance, "cosine", "sqrt(2 - 2 cosine)"),
    _entry(ManhattanDistance, "differences of coordinates", "sum"),
)
