"""Traces from files and exporters as samples."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from assay import InputError, Sample
from assay.extension import (
    CaptureRules,
    Conversations,
    InterruptedTraces,
    Moment,
    RowError,
    complete_history,
    seconds_at,
)
from assay_opentelemetry.files import read_spans
from assay_opentelemetry.grouping import IN_MEMORY, by_trace
from assay_opentelemetry.records import span_of
from assay_opentelemetry.span_data import SpanData
from assay_opentelemetry.traces import TraceSamples, samples_of_exchanges, trace_samples

log = logging.getLogger("assay.data")


@dataclass(slots=True)
class Counts:
    """What was read.

    Attributes:
        spans: Spans and log records read.
        unreadable: Lines, rows, spans and whole traces that could not be read.
        traces: Traces with at least one span.
        samples: Samples found.
        empty: Traces without an exchange: nothing was asked or nothing said.
        unfinished: Parts of traces whose parent span was never seen, though it is one of the same process.
    """

    spans: int = 0
    unreadable: int = 0
    traces: int = 0
    samples: int = 0
    empty: int = 0
    unfinished: int = 0


def spans_to_samples(
    spans: Iterable[Any], rules: CaptureRules | None = None, *, counts: Counts | None = None, in_memory: int = IN_MEMORY
) -> Iterator[Sample | RowError]:
    """Read the samples in spans of any order.

    Earlier turns of the same conversation (by session, thread or conversation id) are a sample's history, with the
    contexts they had. What cannot be read loses nothing else. A trace is complete only when all spans have been read:
    samples come after that.

    Args:
        spans: `SpanData`, spans of the OpenTelemetry SDK, dicts (see `assay_opentelemetry.records.span_of`), or
            RowErrors, which are passed on.
        rules: Where question, answer and contexts are, if they are not found by themselves.
        counts: Filled in while the samples are read.
        in_memory: Spans held in memory; above that they wait in a temporary file.

    Yields:
        One sample for each exchange, in order of the traces' start, and a RowError for what cannot be read.
    """
    counts = counts if counts is not None else Counts()
    conversations = Conversations()
    interrupted = InterruptedTraces(wait=inf)
    for trace in by_trace(_readable(spans, counts), in_memory):
        if isinstance(trace, RowError):
            yield trace
        elif not all(span.partial for span in trace):
            counts.traces += 1
            made = _samples(trace, rules, counts, interrupted)
            yield from [made] if isinstance(made, RowError) else _with_history(conversations, made)
    for unresumed in interrupted.give_up():
        made = _guarded(partial(samples_of_exchanges, [unresumed], rules), str(unresumed.root.id), counts)
        yield from [made] if isinstance(made, RowError) else _with_history(conversations, made)
    log.info("assay: read %s", counts)


def _with_history(conversations: Conversations, made: TraceSamples) -> Iterator[Sample]:
    for sample, exchange in zip(made.samples, made.exchanges, strict=True):
        yield complete_history(conversations, sample, exchange)


def _samples(
    trace: list[SpanData], rules: CaptureRules | None, counts: Counts, interrupted: InterruptedTraces
) -> TraceSamples | RowError:
    waiting = len(interrupted)
    made = _guarded(partial(trace_samples, trace, rules, interrupted), trace[0].trace_id, counts)
    if isinstance(made, TraceSamples):
        counts.empty += not made.samples and not made.unfinished and len(interrupted) <= waiting
    return made


def _guarded(make: Callable[[], TraceSamples], trace_id: str, counts: Counts) -> TraceSamples | RowError:
    try:
        made = make()
    except Exception as error:  # a rule of the application's own, or a form of span that nobody has seen yet
        counts.unreadable += 1
        found = f"trace {trace_id}: {type(error).__name__}: {error}"
        return RowError(number=counts.traces, id=trace_id, message=found)
    counts.samples += len(made.samples)
    counts.unfinished += made.unfinished
    return made


def _readable(spans: Iterable[Any], counts: Counts) -> Iterator[SpanData | RowError]:
    for number, item in enumerate(spans, 1):
        try:
            span = item if isinstance(item, RowError) else span_of(item)
        except InputError as error:
            span = RowError(number=number, id=None, message=f"span {number}: {error}")
        if isinstance(span, RowError):
            counts.unreadable += 1
        else:
            counts.spans += 1
        yield span


def read_traces(
    path: str | Path, rules: CaptureRules | None = None, *, counts: Counts | None = None
) -> Iterator[Sample | RowError]:
    """Read the samples in a file of spans. See `read_spans` and `spans_to_samples`.

    Args:
        path: A file of OTLP JSON, lines of spans, or Parquet.
        rules: Where question, answer and contexts are, if they are not found by themselves.
        counts: Filled in while the samples are read.

    Returns:
        One sample for each exchange, and a RowError for what cannot be read.

    Raises:
        InputError: The file cannot be opened.
    """
    return spans_to_samples(read_spans(path), rules, counts=counts)


def open_source(
    address: str,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    rules: CaptureRules | None = None,
) -> Iterator[Sample | RowError]:
    """The samples of `otel:FILE`. See `read_traces`.

    Args:
        since, until: Seconds since 1970, a datetime or an ISO text: samples that ended then or later, and before then.
        limit: Stop after that many samples.
    """
    if not address:
        raise InputError("otel: expected the path of a file, as in otel:spans.jsonl")
    low, high = seconds_at(since, "since"), seconds_at(until, "until")
    read = read_traces(address, rules)
    found = (item for item in read if isinstance(item, RowError) or _ended_within(item, low, high))
    return found if limit is None else _limited(found, limit)


def _ended_within(sample: Sample, low: float | None, high: float | None) -> bool:
    ended = sample.metadata.get("ended")
    if not isinstance(ended, (int, float)):
        return low is None and high is None
    return (low is None or ended >= low) and (high is None or ended < high)


def _limited(items: Iterable[Sample | RowError], limit: int) -> Iterator[Sample | RowError]:
    if limit < 1:
        raise InputError(f"limit: expected at least 1, found {limit}")
    return islice(items, limit)
