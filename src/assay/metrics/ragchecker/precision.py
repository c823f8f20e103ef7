"""RAGChecker's precision: claims of the response that the reference entails / claims of the response.

Range 0 to 1, higher is better. RAGChecker 0.1.9; Ru et al., "RAGChecker: A Fine-grained Framework for Diagnosing
Retrieval-Augmented Generation" (2024). Without a claim the original gives 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, entailed, share
from assay.metrics.shared_prompts import expected_share
from assay.metrics.systems.base import Entry, Steps


@dataclass(frozen=True)
class Precision(TableMetric):
    """Claims of the response that the reference entails / claims of the response."""

    name: ClassVar[str] = "ragchecker:precision"
    needs: ClassVar = ("answer", "reference")
    tables: ClassVar = ("answer2response",)
    claimed: ClassVar = ("answer2response",)

    def compute(self, tables: Tables) -> float:
        return share(entailed(tables["answer2response"]))

    def parts(self, tables: Tables) -> Mapping[str, float]:
        return expected_share(tables["answer2response"])


ENTRIES = (
    Entry(
        make=Precision,
        source="ragchecker.computation.evaluate_precision",
        compared="ragchecker 0.1.9",
        family="correctness",
        steps=Steps("claims of the answer", "the reference", "supported", "share"),
        empty="0",
    ),
)
