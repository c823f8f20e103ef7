"""LangChain's evaluators (langchain-classic 1.0.8), by their types: "langchain:qa", "langchain:criteria_depth"."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.langchain import (
    criteria,
    embedding_distance,
    json_checks,
    matching,
    pairwise_string,
    qa,
    score_string,
    string_distance,
    trajectory,
)
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *qa.ENTRIES,
    *criteria.ENTRIES,
    *score_string.ENTRIES,
    *pairwise_string.ENTRIES,
    *trajectory.ENTRIES,
    *string_distance.ENTRIES,
    *embedding_distance.ENTRIES,
    *matching.ENTRIES,
    *json_checks.ENTRIES,
)
