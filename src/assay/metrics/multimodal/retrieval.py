"""Which pictures were retrieved, against those that should have been: without a judge.

    image_hit_rate    1 where any expected picture was retrieved
    image_mrr         1 / rank of the first expected one among the passages
    image_precision   expected pictures among the retrieved ones / retrieved pictures
    image_recall      expected pictures among the retrieved ones / expected pictures

Range 0 to 1, higher is better. LlamaIndex 0.14 (`MultiModalRetrieverEvaluator` in image mode: hit_rate and mrr over
ids; precision and recall over sets). Pictures are the same by their ids where both sides have ids, else by their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.multimodal.base import MultiModalMetric, loaded
from assay.metrics.systems.base import Entry, Steps
from assay.records import Context, Sample, Score


def hit_rate(retrieved: Sequence[str], expected: Set[str]) -> float:
    """1.0 where any of the retrieved is expected, else 0.0."""
    return float(any(one in expected for one in retrieved))


def mrr(retrieved: Sequence[str], expected: Set[str]) -> float:
    """1 / rank of the first that is expected; 0.0 where none is."""
    return next((1 / rank for rank, one in enumerate(retrieved, 1) if one in expected), 0.0)


def precision(retrieved: Sequence[str], expected: Set[str]) -> float:
    """|retrieved and expected| / |retrieved|, as sets. Expects some retrieved."""
    return len(set(retrieved) & expected) / len(set(retrieved))


def recall(retrieved: Sequence[str], expected: Set[str]) -> float:
    """|retrieved and expected| / |expected|, as sets. Expects some expected."""
    return len(set(retrieved) & expected) / len(expected)


_FORMULAS = {"hit_rate": hit_rate, "mrr": mrr, "precision": precision, "recall": recall}


@dataclass(frozen=True)
class ImageHitRate(MultiModalMetric):
    """Whether any expected picture was retrieved."""

    name: ClassVar[str] = "multimodal:image_hit_rate"
    needs: ClassVar = ("contexts", "reference_contexts")
    views: ClassVar = False
    formula: ClassVar[str] = "hit_rate"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = [one for one in sample.contexts or () if one.image]
        wanted = [one for one in sample.reference_contexts or () if one.image]
        if not wanted:
            return self.skip(Cause.NOT_APPLICABLE, "no picture is expected")
        if not found:
            return self.skip(Cause.NO_CONTEXT, "no picture was retrieved")
        by_id = all(one.id for one in (*found, *wanted))
        retrieved = [await self._name(one, f"retrieved picture {n}", by_id) for n, one in enumerate(found, 1)]
        expected = {await self._name(one, f"expected picture {n}", by_id) for n, one in enumerate(wanted, 1)}
        parts = {"retrieved": float(len(retrieved)), "expected": float(len(expected))}
        return self.make_score(_FORMULAS[self.formula](retrieved, expected), parts=parts)

    async def _name(self, context: Context, where: str, by_id: bool) -> str:
        if by_id and context.id:
            return context.id
        return (await loaded(context.image or "", where, urls=True)).digest  # of a URL its address; nothing is sent


@dataclass(frozen=True)
class ImageMRR(ImageHitRate):
    """1 / rank of the first expected picture among the retrieved ones."""

    name: ClassVar[str] = "multimodal:image_mrr"
    formula: ClassVar = "mrr"


@dataclass(frozen=True)
class ImagePrecision(ImageHitRate):
    """Expected pictures among the retrieved ones / retrieved pictures."""

    name: ClassVar[str] = "multimodal:image_precision"
    formula: ClassVar = "precision"


@dataclass(frozen=True)
class ImageRecall(ImageHitRate):
    """Expected pictures among the retrieved ones / expected pictures."""

    name: ClassVar[str] = "multimodal:image_recall"
    formula: ClassVar = "recall"


ENTRIES = tuple(
    Entry(
        make=metric,
        source=f"llama_index.core.evaluation.MultiModalRetrieverEvaluator, {metric.formula}",
        compared="llama-index-core 0.14.25",
        family=family,
        steps=Steps("retrieved pictures", "the expected pictures", "the same picture", aggregate),
        empty="an error without retrieved pictures",
    )
    for metric, family, aggregate in (
        (ImageHitRate, "hit rate", "1 where any"),
        (ImageMRR, "mean reciprocal rank", "1 / rank of the first"),
        (ImagePrecision, "context precision", "share of the retrieved"),
        (ImageRecall, "context recall", "share of the expected"),
    )
)
