"""Metrics with pictures, of ragas, DeepEval and LlamaIndex, and assay's own claims over texts and pictures."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.multimodal import context, faithfulness, image_ratings, relevance, retrieval, whole
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(
    *faithfulness.ENTRIES,
    *relevance.ENTRIES,
    *context.ENTRIES,
    *whole.ENTRIES,
    *image_ratings.ENTRIES,
    *retrieval.ENTRIES,
)
