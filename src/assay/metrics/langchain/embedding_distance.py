"""LangChain's embedding distances: how far are the meanings of answer and reference, or of two answers, apart?

Of vectors of length 1, lower is better, 0 for equal texts:

    cosine     1 - cosine, in 0 to 2 (default)
    euclidean  the root of 2 - 2 cosine, in 0 to 2
    manhattan, chebyshev, hamming   by coordinates: see `prompts.similarity.Distance`

LangChain takes vectors as its model gives them; those of OpenAI's models, its default, have length 1. The two that
follow from the cosine share it with all other metrics. `pairwise_embedding_distance` compares with
`metadata["prediction_b"]`. Source: langchain-classic 1.0.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import cosines
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.prompts import Distance, JudgePrompt, Similarity
from assay.prompts.similarity import Apart
from assay.records import Direction, Sample, Score

OfCosine = Literal["cosine", "euclidean"]
DEFAULT: OfCosine = "cosine"
#: The largest manhattan distance of vectors of 65,536 coordinates, twice the root of their number.
MANHATTAN = 512.0
MEASURES: tuple[str, ...] = (*get_args(OfCosine), *get_args(Apart))


def of_cosine(cosine: float, measure: OfCosine) -> float:
    """The distance of two vectors of length 1 with this cosine."""
    return 1.0 - cosine if measure == "cosine" else math.sqrt(max(0.0, 2.0 - 2.0 * cosine))


@dataclass(frozen=True)
class EmbeddingDistance(SystemMetric):
    """The distance of answer and reference.

    Attributes:
        distance_metric: Cosine (default), euclidean, manhattan, chebyshev or hamming.
    """

    needs: ClassVar[tuple[str, ...]] = ("answer", "reference")
    direction: ClassVar[Direction] = "lower"
    kind: ClassVar[str] = "embedding_{}distance"

    distance_metric: OfCosine | Apart | None = None

    @property
    def name(self) -> str:  # type: ignore[override]  # it carries the measure
        return "langchain:" + self.kind.format("" if self.distance_metric is None else f"{self.distance_metric}_")

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the measure
        return (Distance,) if self.distance_metric in get_args(Apart) else (Similarity,)

    @property
    def high(self) -> float:  # type: ignore[override]  # depends on the measure
        if self.distance_metric == "manhattan":
            return MANHATTAN
        return 1.0 if self.distance_metric == "hamming" else 2.0

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        said, other = sample.answer or "", self._other(sample)
        measure = self.distance_metric or DEFAULT
        if measure == "cosine" or measure == "euclidean":
            (cosine,) = await cosines(said, (other,), judge)
            return self.make_score(of_cosine(cosine, measure), parts={"cosine": cosine})
        (apart,) = await judge.find(Distance(said, (other,), measure))
        return self.make_score(apart)

    def _other(self, sample: Sample) -> str:
        return sample.reference or ""


@dataclass(frozen=True)
class PairwiseEmbeddingDistance(EmbeddingDistance):
    """The distance of the answer and a second one."""

    needs: ClassVar[tuple[str, ...]] = ("answer",)
    kind: ClassVar[str] = "pairwise_embedding_{}distance"
    columns: ClassVar[tuple[str, ...]] = ("prediction_b",)

    def _other(self, sample: Sample) -> str:
        return given(sample, self, "prediction_b", str)


def _entry(kind: type[EmbeddingDistance], measure: str | None) -> Entry:
    arguments: dict[str, Any] = {} if measure is None else {"distance_metric": measure}
    against = "a second answer" if kind is PairwiseEmbeddingDistance else "the reference"
    return Entry(
        make=partial(kind, **arguments),
        source=f"langchain_classic.evaluation.embedding_distance.{kind.__name__}EvalChain",
        compared="langchain-classic 1.0.8",
        family="similarity",
        steps=Steps("the whole answer", against, f"{measure or DEFAULT} distance of the embeddings", "distance"),
        empty="whatever the embedding of nothing gives",
    )


ENTRIES = tuple(
    _entry(kind, measure) for kind in (EmbeddingDistance, PairwiseEmbeddingDistance) for measure in (None, *MEASURES)
)
