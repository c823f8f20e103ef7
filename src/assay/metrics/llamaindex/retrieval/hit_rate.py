"""LlamaIndex' hit rate: is one of the expected passages among those retrieved?

    hit_rate            1 where one is, else 0
    hit_rate_granular   passages retrieved that are expected / expected

Range 0 to 1, higher is better. Only in the original's profile a passage retrieved twice counts twice, up to above 1.
llama-index-core 0.14, HitRate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.llamaindex.retrieval.ids import ById
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample


def hit_rate(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """1.0 where one of the ids retrieved is expected, else 0.0."""
    return float(not set(expected).isdisjoint(retrieved))


def granular_hit_rate(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """Ids retrieved that are expected / ids expected, both with their repetitions."""
    wanted = set(expected)
    return sum(one in wanted for one in retrieved) / len(expected)


@dataclass(frozen=True)
class HitRate(ById):
    """Whether an expected passage was retrieved."""

    name: ClassVar[str] = "llamaindex:hit_rate"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        return hit_rate(retrieved, expected)


@dataclass(frozen=True)
class GranularHitRate(ById):
    """Retrieved passages that are expected / expected passages."""

    name: ClassVar[str] = "llamaindex:hit_rate_granular"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        if not self.original:
            retrieved, expected = tuple(set(retrieved)), tuple(set(expected))
        return granular_hit_rate(retrieved, expected)


ENTRIES = (
    Entry(
        make=HitRate,
        source="llama_index.core.evaluation.retrieval.metrics.HitRate",
        compared="llama-index-core 0.14.25",
        family="hit rate",
        steps=Steps("ids of the passages", "the expected ids", "expected", "any"),
        empty="an exception",
    ),
    Entry(
        make=GranularHitRate,
        source="llama_index.core.evaluation.retrieval.metrics.HitRate(use_granular_hit_rate=True)",
        compared="llama-index-core 0.14.25",
        family="hit rate",
        steps=Steps("ids of the passages", "the expected ids", "expected", "share of the expected"),
        empty="an exception",
    ),
)
