"""ragas, from 0.0.11 to 0.4.3: its metrics by the names of 0.4, those that are gone by the names they had."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.ragas import (
    context_texts,
    data_compy_score,
    faithfulness,
    quoted_spans,
    text_pairs,
    tool_calls,
    topic_adherence,
    yes_or_no,
)

ENTRIES: Mapping[str, Entry] = table(
    *faithfulness.ENTRIES,
    *text_pairs.ENTRIES,
    *context_texts.ENTRIES,
    *quoted_spans.ENTRIES,
    *data_compy_score.ENTRIES,
    *tool_calls.ENTRIES,
    *topic_adherence.ENTRIES,
    *yes_or_no.ENTRIES,
)
