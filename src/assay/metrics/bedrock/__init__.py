"""Amazon Bedrock evaluations: the built-in metrics of its RAG and model jobs, and its custom metrics."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.bedrock import (
    citation_coverage,
    citation_precision,
    completeness,
    context_coverage,
    context_relevance,
    correctness,
    custom,
    faithfulness,
    following_instructions,
    helpfulness,
    logical_coherence,
    safety,
    style,
)
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *context_relevance.ENTRIES,
    *context_coverage.ENTRIES,
    *correctness.ENTRIES,
    *completeness.ENTRIES,
    *helpfulness.ENTRIES,
    *logical_coherence.ENTRIES,
    *faithfulness.ENTRIES,
    *citation_precision.ENTRIES,
    *citation_coverage.ENTRIES,
    *safety.ENTRIES,
    *following_instructions.ENTRIES,
    *style.ENTRIES,
    *custom.ENTRIES,
)
