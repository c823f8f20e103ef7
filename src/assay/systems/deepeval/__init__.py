"""DeepEval 4.3.1: its metrics by their names, in lower case with underscores."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.deepeval import (
    answer_relevancy,
    arena_g_eval,
    citation_faithfulness,
    classifiers,
    contextual_precision,
    contextual_recall,
    contextual_relevancy,
    dag,
    expectations,
    faithfulness,
    g_eval,
    hallucination,
    jev_eval,
    json_correctness,
    matching,
    prompt_alignment,
    safety,
    summarization,
)

ENTRIES: Mapping[str, Entry] = table(
    *answer_relevancy.ENTRIES,
    *faithfulness.ENTRIES,
    *contextual_precision.ENTRIES,
    *contextual_recall.ENTRIES,
    *contextual_relevancy.ENTRIES,
    *hallucination.ENTRIES,
    *summarization.ENTRIES,
    *safety.ENTRIES,
    *prompt_alignment.ENTRIES,
    *json_correctness.ENTRIES,
    *matching.ENTRIES,
    *citation_faithfulness.ENTRIES,
    *g_eval.ENTRIES,
    *arena_g_eval.ENTRIES,
    *jev_eval.ENTRIES,
    *dag.ENTRIES,
    *classifiers.ENTRIES,
    *expectations.ENTRIES,
)
