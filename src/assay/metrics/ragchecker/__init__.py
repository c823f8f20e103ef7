"""RAGChecker 0.1.9: all of its metrics, from one reading of the texts or from the tables of verdicts that it stores."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.ragchecker import (
    claim_recall,
    context_precision,
    context_utilization,
    f1,
    faithfulness,
    noise_sensitivity,
    precision,
    recall,
    unfaithfulness,
)
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *precision.ENTRIES,
    *recall.ENTRIES,
    *f1.ENTRIES,
    *claim_recall.ENTRIES,
    *context_precision.ENTRIES,
    *context_utilization.ENTRIES,
    *noise_sensitivity.ENTRIES,
    *unfaithfulness.ENTRIES,
    *faithfulness.ENTRIES,
)
