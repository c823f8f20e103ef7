"""LlamaIndex' reranker relevancy: how relevant are the retrieved passages to the question, by a model's probabilities?

    max, median or mean over the passages of the probability that it helps to answer the question

Range 0 to 1, higher is better. llama-index-core 0.14, CohereRerankRelevancyMetric, where the scores are those of a
hosted reranker; here they are the judge's probabilities of "useful", or 1 and 0 from a judge that gives labels alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Usefulness
from assay.records import Sample, Score

Aggregate = Literal["max", "median", "mean"]
AGGREGATES: Mapping[Aggregate, Callable[[Sequence[float]], float]] = {
    "max": max,
    "median": statistics.median,
    "mean": statistics.fmean,
}


@dataclass(frozen=True)
class RerankRelevancy(SystemMetric):
    """The highest (or median, or mean) relevance of a passage."""

    name: ClassVar[str] = "llamaindex:cohere_rerank_relevancy"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Usefulness,)

    aggregate: Aggregate = "max"

    def __post_init__(self) -> None:
        if self.aggregate not in AGGREGATES:
            known = ", ".join(AGGREGATES)
            raise InputError(f"RerankRelevancy: aggregate must be one of {known}, not {self.aggregate!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question, earlier = sample.question or "", sample.earlier_question
        verdicts = await judge.find(Usefulness(question, sample.passages, None, sample.spoken, earlier))
        values = [float(one.label == "useful") if one.probability is None else one.probability for one in verdicts]
        parts: dict[str, float] = {name: float(aggregate(values)) for name, aggregate in AGGREGATES.items()}
        return self.make_score(parts[self.aggregate], verdicts={"question/contexts": verdicts}, parts=parts)


ENTRIES = (
    Entry(
        make=RerankRelevancy,
        source="llama_index.core.evaluation.retrieval.metrics.CohereRerankRelevancyMetric",
        compared="published formula: the maximum, median or mean of a model's relevance scores",
        family="context relevance",
        steps=Steps("passages", "the question", "relevance", "maximum"),
        empty="an exception",
    ),
)
