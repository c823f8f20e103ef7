"""RAGChecker's context precision: passages that entail some claim of the reference / passages.

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). The order of the passages does not count. Without a
passage, and without a claim of the reference, the original gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, cells, relevant, share
from assay.metrics.systems.base import Entry, Steps


@dataclass(frozen=True)
class ContextPrecision(TableMetric):
    """Passages that entail some claim of the reference / passages."""

    name: ClassVar[str] = "ragchecker:context_precision"
    needs: ClassVar = ("contexts", "reference")
    tables: ClassVar = ("retrieved2answer",)
    claimed: ClassVar = ("retrieved2answer",)

    def compute(self, tables: Tables) -> float:
        return share(relevant(cells(tables["retrieved2answer"])))


ENTRIES = (
    Entry(
        make=ContextPrecision,
        source="ragchecker.computation.evaluate_context_precision",
        compared="ragchecker 0.1.9",
        family="context precision",
        steps=Steps("passages", "claims of the reference", "supports one", "share"),
        empty="0",
    ),
)
