"""RAGChecker's faithfulness: claims of the response that some passage entails alone / claims of the response.

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). A claim that only several passages together entail
does not count, where assay's own faithfulness counts it. Without a passage or a claim the original gives 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, cells, expected_found, found, share
from assay.metrics.systems.base import Entry, Steps


@dataclass(frozen=True)
class Faithfulness(TableMetric):
    """Claims of the response that some passage entails / claims of the response."""

    name: ClassVar[str] = "ragchecker:faithfulness"
    needs: ClassVar = ("answer", "contexts")
    tables: ClassVar = ("retrieved2response",)
    claimed: ClassVar = ("retrieved2response",)

    def compute(self, tables: Tables) -> float:
        return share(found(cells(tables["retrieved2response"])))

    def parts(self, tables: Tables) -> Mapping[str, float]:
        return expected_found(tables["retrieved2response"])


ENTRIES = (
    Entry(
        make=Faithfulness,
        source="ragchecker.computation.evaluate_faithfulness",
        compared="ragchecker 0.1.9",
        family="faithfulness",
        steps=Steps("claims of the answer", "each passage alone", "supported by one", "share"),
        empty="0",
    ),
)
