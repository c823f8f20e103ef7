"""TruLens 2.16.0: its feedback functions, by their names without `_with_cot_reasons`: reasons are always there."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.systems.base import Entry, table
from assay.metrics.trulens import (
    absolute_error,
    agent,
    agreement,
    citations,
    comprehensiveness,
    context_relevance,
    conversations,
    distances,
    groundedness,
    language_match,
    lexical,
    memory,
    quality,
    relevance,
    repetition,
    requirements,
    retrieval,
    safety,
)

ENTRIES: Mapping[str, Entry] = table(
    *context_relevance.ENTRIES,
    *groundedness.ENTRIES,
    *relevance.ENTRIES,
    *comprehensiveness.ENTRIES,
    *citations.ENTRIES,
    *agreement.ENTRIES,
    *requirements.ENTRIES,
    *quality.ENTRIES,
    *safety.ENTRIES,
    *conversations.ENTRIES,
    *repetition.ENTRIES,
    *agent.ENTRIES,
    *retrieval.ENTRIES,
    *memory.ENTRIES,
    *distances.ENTRIES,
    *lexical.ENTRIES,
    *absolute_error.ENTRIES,
    *language_match.ENTRIES,
)
