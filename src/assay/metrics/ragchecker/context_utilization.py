"""RAGChecker's context utilization: of the reference's claims that were retrieved, the share that the response has.

    claims of the reference that a passage and the response entail / claims of the reference that a passage entails

Range 0 to 1, higher is better. RAGChecker 0.1.9 (Ru et al., 2024). Where no claim of the reference was retrieved there
is nothing to utilize; the original gives 0 then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.metrics.ragchecker.tables import TableMetric, Tables, cells, entailed, found
from assay.metrics.systems.base import Entry, Steps
from assay.records import ScoreError


def utilized(recalled: Sequence[bool], used: Sequence[bool]) -> float | None:
    """Claims that are both / claims that are recalled; None where none is."""
    total = sum(recalled)
    return sum(one and other for one, other in zip(recalled, used, strict=True)) / total if total else None


@dataclass(frozen=True)
class ContextUtilization(TableMetric):
    """Retrieved claims of the reference that the response states / retrieved claims of the reference."""

    name: ClassVar[str] = "ragchecker:context_utilization"
    needs: ClassVar = ("answer", "contexts", "reference")
    tables: ClassVar = ("retrieved2answer", "response2answer")
    claimed: ClassVar = ("retrieved2answer",)
    conventions: ClassVar = {**TableMetric.conventions, Cause.NOT_APPLICABLE: 0.0}

    def compute(self, tables: Tables) -> float | ScoreError:
        value = utilized(found(cells(tables["retrieved2answer"])), entailed(tables["response2answer"]))
        if value is None:
            return ScoreError(cause=Cause.NOT_APPLICABLE, message="no passage supports a claim of the reference")
        return value


ENTRIES = (
    Entry(
        make=ContextUtilization,
        source="ragchecker.computation.evaluate_context_utilization",
        compared="ragchecker 0.1.9",
        family="context utilization",
        steps=Steps("claims of the reference that a passage supports", "the answer", "supported", "share"),
        empty="0",
    ),
)
