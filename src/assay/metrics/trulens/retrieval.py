"""TruLens' measures of a retrieval by the chunks that should have come, `GroundTruthAgreement`. They ask no judge.

    precision_at_k   those of the first k that are expected / the first k
    recall_at_k      expected chunks among the first k / expected chunks
    ndcg_at_k        dcg / dcg of the best order;  dcg = sum of gain / log2(rank + 1), rank from 1
    mrr              1 / rank of the first expected chunk, 0 where none came
    ir_hit_rate      1 where one of the first k is expected, else 0

Range 0 to 1, higher is better. trulens 2.16.0. A chunk is known by its text there; `by="id"` compares the ids. The
expected chunks are `reference_contexts`; the gain of one is its score, 1 where it has none. Without `k` all are looked
at. The order is that of `contexts`, or with `by_score=True` that of their scores, where precision and recall then take
every chunk that scores as high as the k-th, which may be more than k. A chunk that comes twice counts twice for
precision, and once for recall and ndcg. Without expected chunks all are NaN there, precision without chunks too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Context, Sample, Score


def precision(found: Sequence[str], expected: Mapping[str, float]) -> float:
    """Chunks found that are expected / chunks found, at least one."""
    return sum(chunk in expected for chunk in found) / len(found)


def recall(found: Sequence[str], expected: Mapping[str, float]) -> float:
    """Expected chunks that were found / expected chunks, at least one."""
    return len(expected.keys() & set(found)) / len(expected)


def dcg(gains: Sequence[float]) -> float:
    """The gains, each by the logarithm of its rank."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(found: Sequence[str], expected: Mapping[str, float], k: int) -> float | None:
    """The dcg of the first k, each chunk once / that of the best order; None where nothing can be gained."""
    best = dcg(sorted(expected.values(), reverse=True)[:k])
    left = dict(expected)
    gains = [left.pop(chunk, 0.0) for chunk in found[:k]]
    return dcg(gains) / best if best > 0 else None


def reciprocal_rank(found: Sequence[str], expected: Mapping[str, float]) -> float:
    """1 / rank of the first expected chunk; 0 where none came."""
    return next((1 / rank for rank, chunk in enumerate(found, 1) if chunk in expected), 0.0)


@dataclass(frozen=True)
class Retrieval(SystemMetric):
    """What these have in common: the chunks that came, those that should have, and how many count."""

    needs: ClassVar = ("contexts", "reference_contexts")
    needs_passages: ClassVar[bool] = False

    k: int | None = None
    by: Literal["text", "id"] = "text"
    by_score: bool = False

    def __post_init__(self) -> None:
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1):
            raise InputError(f"{self.name}: k: expected a number from 1 on, or None; found {self.k!r}")

    @property
    def label(self) -> str:
        at_k = f"{self.name.removesuffix('_at_k')}_at_{self.k}"
        return super().label if self.k is None else super().label.replace(self.name, at_k)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        contexts = sample.contexts or ()
        expected: dict[str, float] = {}
        for context in sample.reference_contexts or ():
            expected.setdefault(self._key(context), 1.0 if context.score is None else context.score)
        if not expected:
            return self.skip(Cause.MISSING_INPUT, "no chunk is expected: 'reference_contexts' is empty")
        scores = [context.score for context in contexts if context.score is not None]
        if self.by_score and len(scores) < len(contexts):
            return self.skip(Cause.MISSING_INPUT, f"{self.label}: by_score needs a score of each context")
        keys = [self._key(context) for context in contexts]
        value = self.value(keys, expected, scores if self.by_score else [])
        if value is None:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved, or nothing can be gained")
        return self.make_score(value, parts={"retrieved": float(len(keys)), "expected": float(len(expected))})

    @abstractmethod
    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        """The measure of these chunks; None where it has no value. `scores` are empty where they do not count."""

    def _key(self, context: Context) -> str:
        return context.text if self.by == "text" else context.id or ""


def first(found: Sequence[str], scores: Sequence[float], k: int | None) -> Sequence[str]:
    """The first k; with scores every one that scores as high as the k-th."""
    if not scores:
        return found[:k]
    least = sorted(scores, reverse=True)[min(k or len(scores), len(scores)) - 1]
    return [chunk for chunk, score in zip(found, scores, strict=True) if score >= least]


def ranked(found: Sequence[str], scores: Sequence[float]) -> Sequence[str]:
    """In the order of their scores, where there are any."""
    if not scores:
        return found
    return [found[n] for n in sorted(range(len(found)), key=lambda n: scores[n], reverse=True)]


@dataclass(frozen=True)
class PrecisionAtK(Retrieval):
    """Those of the first k that are expected / the first k."""

    name: ClassVar[str] = "trulens:precision_at_k"

    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        top = first(found, scores, self.k)
        return precision(top, expected) if top else None


@dataclass(frozen=True)
class RecallAtK(Retrieval):
    """Expected chunks among the first k / expected chunks."""

    name: ClassVar[str] = "trulens:recall_at_k"

    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        return recall(first(found, scores, self.k), expected)


@dataclass(frozen=True)
class NdcgAtK(Retrieval):
    """The gains by rank / those of the best order."""

    name: ClassVar[str] = "trulens:ndcg_at_k"

    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        return ndcg(ranked(found, scores), expected, self.k or len(found))


@dataclass(frozen=True)
class Mrr(Retrieval):
    """1 / rank of the first expected chunk."""

    name: ClassVar[str] = "trulens:mrr"

    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        return reciprocal_rank(ranked(found, scores)[: self.k], expected)


@dataclass(frozen=True)
class IrHitRate(Retrieval):
    """Whether one of the first k is expected."""

    name: ClassVar[str] = "trulens:ir_hit_rate"

    def value(self, found: Sequence[str], expected: Mapping[str, float], scores: Sequence[float]) -> float | None:
        return float(any(chunk in expected for chunk in ranked(found, scores)[: self.k]))


def _entry(make: type[Retrieval], family: str, counts: str, aggregate: str, empty: str) -> Entry:
    return Entry(
        make=make,
        source=f"trulens.feedback.GroundTruthAgreement.{make.name.partition(':')[2]}",
        compared="trulens 2.16.0",
        family=family,
        steps=Steps("passages", "the expected passages", counts, aggregate),
        empty=empty,
        ordered="rank" in aggregate,
    )


ENTRIES = (
    _entry(PrecisionAtK, "context precision", "expected", "share of the first k", "NaN"),
    _entry(RecallAtK, "context recall", "expected", "share of those expected", "0; NaN where none is expected"),
    _entry(NdcgAtK, "ranking", "expected, by gain", "gain / log2(rank + 1), by the best", "NaN; 0 where k is given"),
    _entry(Mrr, "ranking", "expected", "1 / rank of the first", "0; NaN where none is expected"),
    _entry(IrHitRate, "ranking", "expected", "any of the first k", "0; NaN where none is expected"),
)
