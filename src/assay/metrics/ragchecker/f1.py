"""RAGChecker's F1: the harmonic mean of its precision and its recall, of each sample.

    2 precision recall / (precision + recall), and 0 where either is 0

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). `parts` has both. Where response or reference makes
no claim the original takes 0 for its part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, entailed, share
from assay.metrics.shared_prompts import expected_share
from assay.metrics.systems.base import Entry, Steps


def harmonic(precision: float, recall: float) -> float:
    """The harmonic mean of two shares; 0.0 where either is 0."""
    return 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0


@dataclass(frozen=True)
class F1(TableMetric):
    """The harmonic mean of precision and recall of the claims."""

    name: ClassVar[str] = "ragchecker:f1"
    needs: ClassVar = ("answer", "reference")
    tables: ClassVar = ("answer2response", "response2answer")
    claimed: ClassVar = ("answer2response", "response2answer")

    def compute(self, tables: Tables) -> float:
        return harmonic(*_shares(tables))

    def parts(self, tables: Tables) -> Mapping[str, float]:
        precision, recall = _shares(tables)
        parts = {"precision": precision, "recall": recall}
        expected = [one for table in self.tables for one in expected_share(tables[table]).values()]
        return {**parts, "mean_probability": harmonic(*expected)} if len(expected) == 2 else parts


def _shares(tables: Tables) -> tuple[float, float]:
    return share(entailed(tables["answer2response"])), share(entailed(tables["response2answer"]))


ENTRIES = (
    Entry(
        make=F1,
        source="ragchecker.computation.evaluate_f1",
        compared="ragchecker 0.1.9",
        family="correctness",
        steps=Steps("claims of the answer and of the reference", "each other", "supported", "F1"),
        empty="0",
    ),
)
