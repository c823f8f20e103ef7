"""ragas, from 0.0.11 to 0.4.3: its metrics by the names of 0.4, those that are gone by the names they had."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.ragas import (
    answer_correctness,
    aspect_critique,
    context_entity_recall,
    context_precision,
    context_recall,
    context_relevancy,
    context_texts,
    criteria,
    data_compy_score,
    double_judge,
    factual_correctness,
    faithfulness,
    faithfulness_hhem,
    noise_sensitivity,
    quoted_spans,
    ragas_score,
    response_relevancy,
    rubrics,
    semantic_similarity,
    summarization_score,
    text_pairs,
    tool_calls,
    topic_adherence,
    yes_or_no,
)
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *faithfulness.ENTRIES,
    *faithfulness_hhem.ENTRIES,
    *response_relevancy.ENTRIES,
    *context_precision.ENTRIES,
    *context_recall.ENTRIES,
    *context_entity_recall.ENTRIES,
    *context_relevancy.ENTRIES,
    *noise_sensitivity.ENTRIES,
    *factual_correctness.ENTRIES,
    *answer_correctness.ENTRIES,
    *semantic_similarity.ENTRIES,
    *double_judge.ENTRIES,
    *summarization_score.ENTRIES,
    *criteria.ENTRIES,
    *aspect_critique.ENTRIES,
    *rubrics.ENTRIES,
    *ragas_score.ENTRIES,
    *text_pairs.ENTRIES,
    *context_texts.ENTRIES,
    *quoted_spans.ENTRIES,
    *data_compy_score.ENTRIES,
    *tool_calls.ENTRIES,
    *topic_adherence.ENTRIES,
    *yes_or_no.ENTRIES,
)
