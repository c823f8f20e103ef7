"""openevals 0.2.2 and agentevals 0.0.9: their evaluators, by the names of their feedback keys and prompts."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.openevals import (
    code_judge,
    graph_trajectory,
    json_match,
    labels,
    llm_as_judge,
    texts,
    trajectory_match,
)
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *llm_as_judge.ENTRIES,
    *code_judge.ENTRIES,
    *labels.ENTRIES,
    *texts.ENTRIES,
    *json_match.ENTRIES,
    *trajectory_match.ENTRIES,
    *graph_trajectory.ENTRIES,
)
