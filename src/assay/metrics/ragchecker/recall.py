"""RAGChecker's recall: claims of the reference that the response entails / claims of the reference.

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). Without a claim the original gives 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, entailed, share
from assay.metrics.shared_prompts import expected_share
from assay.metrics.systems.base import Entry, Steps


@dataclass(frozen=True)
class Recall(TableMetric):
    """Claims of the reference that the response entails / claims of the reference."""

    name: ClassVar[str] = "ragchecker:recall"
    needs: ClassVar = ("answer", "reference")
    tables: ClassVar = ("response2answer",)
    claimed: ClassVar = ("response2answer",)

    def compute(self, tables: Tables) -> float:
        return share(entailed(tables["response2answer"]))

    def parts(self, tables: Tables) -> Mapping[str, float]:
        return expected_share(tables["response2answer"])


ENTRIES = (
    Entry(
        make=Recall,
        source="ragchecker.computation.evaluate_recall",
        compared="ragchecker 0.1.9",
        family="correctness",
        steps=Steps("claims of the reference", "the answer", "supported", "share"),
        empty="0",
    ),
)
