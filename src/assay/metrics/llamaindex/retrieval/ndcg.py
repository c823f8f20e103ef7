"""LlamaIndex' normalised discounted cumulative gain: do the expected passages stand at the top of the ranking?

    DCG   sum over the ranks k of gain(k) / log2(k + 1)
    NDCG  DCG / the DCG of all expected passages in the best order

The gain of an expected passage is 1, of others 0. Range 0 to 1, higher is better; passages retrieved twice count twice
in the original, which may exceed 1. llama-index-core 0.14, NDCG, whose two modes give the same for such gains.

`ndcg_graded` is ours: `metadata["relevance"]` has a grade, 0 or more, for ids, and `mode` says whether it is the gain
(linear) or 2 ** grade - 1 is (exponential); the best order is that of all grades, of which the first `k` count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.llamaindex.retrieval.ids import ById, ids_of
from assay.metrics.systems.base import Entry, Steps, given
from assay.records import Sample, Score

Mode = Literal["linear", "exponential"]


def gain(grade: float, mode: Mode) -> float:
    """What a passage of this grade brings."""
    return grade if mode == "linear" else 2**grade - 1


def discounted(gains: Sequence[float]) -> float:
    """The sum of the gains, in the order of their ranks, each by log2(rank + 1)."""
    return math.fsum(one / math.log2(rank + 1) for rank, one in enumerate(gains, 1))


def ndcg(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """NDCG where every expected id has the gain 1. `expected` counts with its repetitions, as there."""
    wanted = set(expected)
    return discounted([float(one in wanted) for one in retrieved]) / discounted([1.0] * len(expected))


@dataclass(frozen=True)
class NDCG(ById):
    """Discounted gain of the expected passages / that of their best order."""

    name: ClassVar[str] = "llamaindex:ndcg"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        if self.original:
            return ndcg(retrieved, expected)
        once = tuple(dict.fromkeys(expected))
        return ndcg(tuple(dict.fromkeys(retrieved)), once if self.k is None else once[: self.k])


@dataclass(frozen=True)
class GradedNDCG(ById):
    """Discounted gain of the retrieved passages by grade / that of the best order."""

    name: ClassVar[str] = "llamaindex:ndcg_graded"
    needs: ClassVar[tuple[str, ...]] = ("contexts",)
    columns: ClassVar[tuple[str, ...]] = ("relevance",)

    mode: Mode = "linear"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        grades = _grades(given(sample, self, "relevance", dict), self.label)
        retrieved = tuple(islice(dict.fromkeys(ids_of(sample, "contexts")), self.k))
        if not retrieved:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        best = sorted((gain(grade, self.mode) for grade in grades.values()), reverse=True)[: self.k]
        if not any(best):
            return self.skip(Cause.NOT_APPLICABLE, "no passage has a grade above 0")
        found, ideal = discounted([gain(grades.get(one, 0.0), self.mode) for one in retrieved]), discounted(best)
        return self.make_score(found / ideal, parts={"dcg": found, "ideal": ideal})


def _grades(relevance: Mapping[str, Any], label: str) -> dict[str, float]:
    for grade in relevance.values():
        if isinstance(grade, bool) or not isinstance(grade, (int, float)) or not 0 <= grade < math.inf:
            message = f"{label}: metadata['relevance'] needs a number, 0 or more, for each id; found {grade!r}"
            raise JudgeFailure(Cause.MISSING_INPUT, message)
    return {str(one): float(grade) for one, grade in relevance.items()}


ENTRIES = (
    Entry(
        make=NDCG,
        source="llama_index.core.evaluation.retrieval.metrics.NDCG",
        compared="llama-index-core 0.14.25",
        family="ndcg",
        ordered=True,
        steps=Steps("ids of the passages", "the expected ids", "expected", "discounted gain / the best"),
        empty="an exception",
    ),
    Entry(
        make=GradedNDCG,
        source="assay's own: the grades that the original's NDCG does not read",
        compared="published formula: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002)",
        family="ndcg",
        ordered=True,
        steps=Steps("ids of the passages", "the expected ids", "grade", "discounted gain / the best"),
        empty="an exception",
    ),
)
