"""Spans by trace, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from assay.extension import IN_MEMORY, RowError
from assay.extension import by_trace as records_by_trace
from assay_opentelemetry.span_data import SpanData

__all__ = ["IN_MEMORY", "by_trace"]


def by_trace(items: Iterable[SpanData | RowError], in_memory: int = IN_MEMORY) -> Iterator[list[SpanData] | RowError]:
    """The spans of each trace together, as `assay.extension.by_trace` does for records of any kind."""
    return records_by_trace(
        items,
        lambda span: span.trace_id,
        lambda span: None if span.partial else span.started,
        in_memory=in_memory,
        dump=lambda span: json.dumps(span.to_dict(), default=_plain),
        load=lambda text: SpanData.from_dict(json.loads(text)),
    )


def _plain(value: Any) -> Any:
    """What JSON does not know, as SDK and Parquet hold it: tuples' kin as lists, all else as text."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else str(value)
