"""LlamaIndex' average precision: do the expected passages stand at the top, and is none missing?

    sum over the ranks k of expected passages of (expected ones among the first k / k) / expected passages

Range 0 to 1, higher is better. Only in the original's profile a passage retrieved twice counts twice, up to above 1.
One that was not retrieved counts as 0, where the average precision of ragas looks at the retrieved alone.
llama-index-core 0.14, AveragePrecision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.llamaindex.retrieval.ids import ById
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample


def average_precision(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """Precision at the rank of each id that is expected, by the number of different ids expected."""
    wanted = set(expected)
    hits, total = 0, 0.0
    for rank, one in enumerate(retrieved, 1):
        if one in wanted:
            hits += 1
            total += hits / rank
    return total / len(wanted)


@dataclass(frozen=True)
class AveragePrecision(ById):
    """Mean over the expected passages of the precision at their rank."""

    name: ClassVar[str] = "llamaindex:ap"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        once = retrieved if self.original else tuple(dict.fromkeys(retrieved))
        return average_precision(once, expected)


ENTRIES = (
    Entry(
        make=AveragePrecision,
        source="llama_index.core.evaluation.retrieval.metrics.AveragePrecision",
        compared="llama-index-core 0.14.25",
        family="context precision",
        ordered=True,
        steps=Steps("ids of the passages", "the expected ids", "expected", "average precision over the expected"),
        empty="an exception",
    ),
)
