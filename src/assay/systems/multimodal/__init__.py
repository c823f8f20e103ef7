"""Metrics with pictures, of ragas, DeepEval and LlamaIndex, and assay's own claims over texts and pictures."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.multimodal import (
    context,
    faithfulness,
    image_ratings,
    relevance,
    retrieval,
    whole,
)

ENTRIES: Mapping[str, Entry] = table(
    *faithfulness.ENTRIES,
    *relevance.ENTRIES,
    *context.ENTRIES,
    *whole.ENTRIES,
    *image_ratings.ENTRIES,
    *retrieval.ENTRIES,
)
