"""RAGChecker's claim recall: claims of the reference that some passage entails alone / claims of the reference.

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). A claim that only several passages together entail
is not recalled. An empty retrieval recalls nothing: that is 0 here and there. Without a claim the original gives 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, cells, expected_found, found, share
from assay.metrics.systems.base import Entry, Steps


@dataclass(frozen=True)
class ClaimRecall(TableMetric):
    """Claims of the reference that some passage entails / claims of the reference."""

    name: ClassVar[str] = "ragchecker:claim_recall"
    needs: ClassVar = ("contexts", "reference")
    needs_passages: ClassVar[bool] = False
    tables: ClassVar = ("retrieved2answer",)
    claimed: ClassVar = ("retrieved2answer",)

    def compute(self, tables: Tables) -> float:
        return share(found(cells(tables["retrieved2answer"])))

    def parts(self, tables: Tables) -> Mapping[str, float]:
        return expected_found(tables["retrieved2answer"])


ENTRIES = (
    Entry(
        make=ClaimRecall,
        source="ragchecker.computation.evaluate_claim_recall",
        compared="ragchecker 0.1.9",
        family="context recall",
        steps=Steps("claims of the reference", "each passage alone", "supported by one", "share"),
        empty="0",
    ),
)
