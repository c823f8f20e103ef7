"""LlamaIndex' retrieval recall: expected passages that were retrieved / expected passages, each once.

Range 0 to 1, higher is better. llama-index-core 0.14, Recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.llamaindex.retrieval.ids import ById
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample


def recall(retrieved: Sequence[str], expected: Sequence[str]) -> float:
    """Different ids that are retrieved and expected / different ids expected."""
    wanted = set(expected)
    return len(wanted.intersection(retrieved)) / len(wanted)


@dataclass(frozen=True)
class Recall(ById):
    """Expected passages that were retrieved / expected passages."""

    name: ClassVar[str] = "llamaindex:recall"

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        return recall(retrieved, expected)


ENTRIES = (
    Entry(
        make=Recall,
        source="llama_index.core.evaluation.retrieval.metrics.Recall",
        compared="llama-index-core 0.14.25",
        family="context recall",
        steps=Steps("ids of the passages", "the expected ids", "expected", "share of the expected"),
        empty="an exception",
    ),
)
