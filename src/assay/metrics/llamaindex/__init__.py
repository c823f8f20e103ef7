"""LlamaIndex' evaluators and retrieval metrics (llama-index-core 0.14)."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.llamaindex import (
    answer_relevancy,
    context_relevancy,
    correctness,
    faithfulness,
    guideline,
    pairwise,
    relevancy,
    semantic_similarity,
)
from assay.metrics.llamaindex.retrieval import average_precision, hit_rate, mrr, ndcg, precision, recall, reranked
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *faithfulness.ENTRIES,
    *relevancy.ENTRIES,
    *answer_relevancy.ENTRIES,
    *context_relevancy.ENTRIES,
    *correctness.ENTRIES,
    *semantic_similarity.ENTRIES,
    *guideline.ENTRIES,
    *pairwise.ENTRIES,
    *hit_rate.ENTRIES,
    *mrr.ENTRIES,
    *precision.ENTRIES,
    *recall.ENTRIES,
    *average_precision.ENTRIES,
    *ndcg.ENTRIES,
    *reranked.ENTRIES,
)
