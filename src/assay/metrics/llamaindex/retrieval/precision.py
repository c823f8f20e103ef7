"""LlamaIndex' retrieval precision: passages retrieved that are expected / passages retrieved, each once.

Range 0 to 1, higher is better. llama-index-core 0.14, Precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.llamaindex.retrieval.ids import ById
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample


def precision(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """Different ids that are retrieved and expected / different ids retrieved."""
    found = set(retrieved)
    return len(found & set(expected)) / len(found)


@dataclass(frozen=True)
class Precision(ById):
    """Retrieved passages that are expected / retrieved passages."""

    name: ClassVar[str] = "llamaindex:precision"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        return precision(retrieved, expected)


ENTRIES = (
    Entry(
        make=Precision,
        source="llama_index.core.evaluation.retrieval.metrics.Precision",
        compared="llama-index-core 0.14.25",
        family="context precision",
        steps=Steps("ids of the passages", "the expected ids", "expected", "share"),
        empty="an exception",
    ),
)
