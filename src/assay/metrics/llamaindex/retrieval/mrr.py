"""LlamaIndex' reciprocal rank: how high does the first expected passage stand?

    mrr            1 / rank of the first passage that is expected; 0 where none is
    mrr_granular   mean of 1 / rank over the passages that are expected; 0 where none is

Range 0 to 1, higher is better. llama-index-core 0.14, MRR. The mean over samples is what the name says. The granular
one falls with further expected passages that are found: one at rank 1 gives 1, two at ranks 1 and 2 give 0.75.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.llamaindex.retrieval.ids import ById
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample


def reciprocal_ranks(retrieved: Sequence[str], expected: Sequence[str]) -> list[float]:
    """1 / rank of every id retrieved that is expected, in order."""
    wanted = set(expected)
    return [1 / rank for rank, one in enumerate(retrieved, 1) if one in wanted]


@dataclass(frozen=True)
class MRR(ById):
    """1 / rank of the first expected passage."""

    name: ClassVar[str] = "llamaindex:mrr"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        return next(iter(reciprocal_ranks(retrieved, expected)), 0.0)


@dataclass(frozen=True)
class GranularMRR(ById):
    """Mean of 1 / rank over the expected passages that were retrieved."""

    name: ClassVar[str] = "llamaindex:mrr_granular"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        ranks = reciprocal_ranks(retrieved, expected)
        return math.fsum(ranks) / len(ranks) if ranks else 0.0


ENTRIES = (
    Entry(
        make=MRR,
        source="llama_index.core.evaluation.retrieval.metrics.MRR",
        compared="llama-index-core 0.14.25",
        family="reciprocal rank",
        ordered=True,
        steps=Steps("ids of the passages", "the expected ids", "the first that is expected", "1 / rank"),
        empty="an exception",
    ),
    Entry(
        make=GranularMRR,
        source="llama_index.core.evaluation.retrieval.metrics.MRR(use_granular_mrr=True)",
        compared="llama-index-core 0.14.25",
        family="reciprocal rank",
        ordered=True,
        steps=Steps("ids of the passages", "the expected ids", "each that is expected", "mean of 1 / rank"),
        empty="an exception",
    ),
)
