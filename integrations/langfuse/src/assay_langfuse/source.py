"""Exported Langfuse traces and observations as samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from assay_opentelemetry.source import spans_to_samples
from assay_opentelemetry.span_data import SpanData

from assay import InputError, Sample
from assay.extension import IN_MEMORY, CaptureRules, RowError, in_time_range, read_records
from assay_langfuse.observations import EXPECTED, is_otel, is_trace, span_of, spans_of_trace


def observations_to_samples(
    records: Iterable[Mapping[str, Any] | RowError], rules: CaptureRules | None = None, *, in_memory: int = IN_MEMORY
) -> Iterator[Sample | RowError]:
    """Read the samples in Langfuse observations of any order, or in traces with their observations.

    What cannot be read loses nothing else. See `assay_opentelemetry.spans_to_samples`.

    Args:
        records: Observations, or traces with `observations` in them, as the API and the exports have them; RowErrors
            are passed on.
        rules: Where question, answer and contexts are, if they are not found by themselves.
        in_memory: Observations held in memory; above that they wait in a temporary file.

    Yields:
        One sample for each exchange, and a RowError for what cannot be read.
    """
    for item in spans_to_samples(_spans(records), rules, in_memory=in_memory):
        yield item if isinstance(item, RowError) else _identified(item)


def read_observations(path: str | Path, rules: CaptureRules | None = None) -> Iterator[Sample | RowError]:
    """Read the samples in a file of observations or traces.

    Args:
        path: A file of JSON lines, JSON, CSV (all also gzipped) or Parquet.
        rules: Where question, answer and contexts are, if they are not found by themselves.

    Returns:
        One sample for each exchange, and a RowError for what cannot be read.

    Raises:
        InputError: The file cannot be opened.
    """
    return observations_to_samples(read_records(path), rules)


def open_source(
    address: str,
    *,
    since: float | str | datetime | None = None,
    until: float | str | datetime | None = None,
    limit: int | None = None,
    rules: CaptureRules | None = None,
) -> Iterator[Sample | RowError]:
    """The samples of `langfuse:FILE`. See `read_observations`.

    Args:
        since, until: Seconds since 1970, a datetime or an ISO text: samples that ended at or after, and before.
        limit: Stop after that many samples.
    """
    if not address:
        raise InputError("langfuse: expected the path of a file, as in langfuse:observations.jsonl")
    return in_time_range(read_observations(address, rules), since, until, limit)


def _spans(records: Iterable[Mapping[str, Any] | RowError]) -> Iterator[SpanData | RowError]:
    for number, record in enumerate(records, 1):
        if isinstance(record, RowError):
            yield record
            continue
        try:
            yield from list(spans_of_trace(record)) if is_trace(record) else (span_of(record),)
        except InputError as error:
            yield RowError(number=number, id=None, message=f"record {number}: {error}")


def _identified(sample: Sample) -> Sample:
    """The sample with its reference, and with Langfuse's ids alone where they are no ids of OpenTelemetry."""
    ids = dict(sample.ids)
    trace, span = ids.get("langfuse_trace_id", ""), ids.get("langfuse_observation_id", "")
    if not is_otel(trace, span):
        ids = {name: value for name, value in ids.items() if not name.startswith("otel_")}
    if span == trace:  # the trace itself, which is no observation
        ids.pop("langfuse_observation_id", None)
    metadata = dict(sample.metadata)
    reference = metadata.pop(EXPECTED, None)
    if reference is None:
        return replace(sample, ids=ids)
    return replace(sample, ids=ids, metadata=metadata, reference=sample.reference or str(reference))
