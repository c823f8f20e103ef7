"""Exported LangSmith runs as samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from assay import InputError, Sample
from assay.extension import (
    IN_MEMORY,
    CaptureRules,
    Conversations,
    ExportRecord,
    InterruptedTraces,
    RowError,
    Trace,
    by_trace,
    complete_history,
    exchanges,
    in_time_range,
    read_records,
    samples_with_exchanges,
    traces_of,
)
from assay_langsmith.runs import flat, runs_of, start_of, trace_of

_ID = "langsmith_run_id"


def runs_to_samples(
    records: Iterable[Mapping[str, Any] | RowError], rules: CaptureRules | None = None, *, in_memory: int = IN_MEMORY
) -> Iterator[Sample | RowError]:
    """Read the samples in LangSmith runs of any order.

    Earlier turns of the same conversation (by thread, session or conversation id in the metadata) are a sample's
    history. What cannot be read loses nothing else.

    Args:
        records: Runs as the API, `Run.dict()` and the bulk export have them, nested or flat; RowErrors are passed on.
        rules: Where question, answer and contexts are, if they are not found by themselves.
        in_memory: Runs held in memory; above that they wait in a temporary file.

    Yields:
        One sample for each exchange, in order of the traces' start, and a RowError for what cannot be read.
    """
    conversations = Conversations()
    interrupted = InterruptedTraces(wait=inf)
    for trace in by_trace(_flat(records), trace_of, start_of, in_memory=in_memory):
        if isinstance(trace, RowError):
            yield trace
            continue
        try:
            found = _samples(trace, rules, interrupted)
        except InputError as error:
            yield RowError(number=0, id=trace_of(trace[0]), message=f"trace {trace_of(trace[0])}: {error}")
            continue
        yield from (complete_history(conversations, sample, exchange) for sample, exchange in found)
    for sample, exchange in samples_with_exchanges(interrupted.give_up(), rules, id_name=_ID):
        yield complete_history(conversations, sample, exchange)


def read_runs(path: str | Path, rules: CaptureRules | None = None) -> Iterator[Sample | RowError]:
    """Read the samples in a file of runs.

    Args:
        path: A file of JSON lines, JSON, CSV (all also gzipped) or Parquet.
        rules: Where question, answer and contexts are, if they are not found by themselves.

    Returns:
        One sample for each exchange, and a RowError for what cannot be read.

    Raises:
        InputError: The file cannot be opened.
    """
    return runs_to_samples(read_records(path), rules)


def open_source(
    address: str,
    *,
    since: float | str | datetime | None = None,
    until: float | str | datetime | None = None,
    limit: int | None = None,
    rules: CaptureRules | None = None,
) -> Iterator[Sample | RowError]:
    """The samples of `langsmith:FILE`. See `read_runs`.

    Args:
        since, until: Seconds since 1970, a datetime or an ISO text: samples that ended at or after, and before.
        limit: Stop after that many samples.
    """
    if not address:
        raise InputError("langsmith: expected the path of a file, as in langsmith:runs.jsonl")
    return in_time_range(read_runs(address, rules), since, until, limit)


def _flat(records: Iterable[Mapping[str, Any] | RowError]) -> Iterator[ExportRecord | RowError]:
    for record in records:
        if isinstance(record, RowError):
            yield record
        else:
            yield from flat(record)


def _samples(
    records: list[ExportRecord], rules: CaptureRules | None, interrupted: InterruptedTraces
) -> list[tuple[Sample, Trace]]:
    traces = traces_of(runs_of(records))
    # where the root is there, what hangs on a run that is not was exported without the steps between
    rooted = [trace for trace in traces if trace.root.parent is None]
    ready = [one for trace in rooted or traces for part in exchanges(trace) for one in interrupted.accept(part)]
    return samples_with_exchanges(ready, rules, id_name=_ID)
