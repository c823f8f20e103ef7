"""Traces of an MLflow server or store as samples."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from assay_opentelemetry.span_data import Event, SpanData
from assay_opentelemetry.traces import trace_samples

from assay import InputError, Sample
from assay.extension import CaptureRules, Moment, StoreError, safe_words, seconds_at
from assay_mlflow.assessments import OnServer, is_server
from assay_mlflow.log_filter import quiet_mlflow

if TYPE_CHECKING:
    from mlflow import MlflowClient

PAGE = 50  # traces that are held at the same time
ENDED = ("OK", "ERROR")

T = TypeVar("T")


def open_source(
    address: str,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    project: str | None = None,
) -> Iterator[Sample]:
    """The samples that `mlflow:ADDRESS` names; MLflow's own environment says the rest. A project is an experiment."""
    return mlflow_samples(address or None, experiment=project or "Default", since=since, until=until, limit=limit)


def mlflow_samples(
    tracking_uri: str | None = None,
    *,
    experiment: str = "Default",
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    overlap: float = 0.0,
    longest: float = 3600.0,
    rules: CaptureRules | None = None,
    client: MlflowClient | None = None,
) -> Iterator[Sample]:
    """Read the exchanges in the finished traces of an experiment, page by page.

    Args:
        tracking_uri: The server or store; else the one that MLflow's settings name, or that of `client`.
        experiment: Its name or id.
        since: Traces that ended then or later: a datetime, an ISO text or seconds since 1970.
        until: Traces that ended before then.
        limit: At most so many samples.
        overlap: Seconds before `since` that are read again, because traces arrive late. Samples that were read before
            have the same ids, and their scores replace those that were written.
        longest: Seconds that a trace may take: by its start the server is asked, and what started earlier than this
            before `since` is not found.
        rules: Where the application keeps question, contexts and answer.
        client: A client of MLflow in place of `tracking_uri`.

    Returns:
        One sample for each exchange, in order of the traces' start. Iterating raises InputError for an experiment that
        is not there, StoreError where nothing can be read.

    Raises:
        InputError: An argument is out of range, or both `client` and `tracking_uri` are given.
    """
    if limit is not None and limit < 0:
        raise InputError(f"limit: expected 0 or more, got {limit}")
    if client is not None and tracking_uri is not None:
        raise InputError("client: give either a client or a tracking_uri")
    first, last = seconds_at(since, "since"), seconds_at(until, "until")
    first = None if first is None else first - overlap
    return _samples(tracking_uri, client, experiment, first, last, longest, rules, limit)


def _samples(
    uri: str | None,
    client: MlflowClient | None,
    experiment: str,
    first: float | None,
    last: float | None,
    longest: float,
    rules: CaptureRules | None,
    limit: int | None,
) -> Iterator[Sample]:
    if limit == 0:
        return
    client = client if client is not None else client_of(uri)
    experiment_id = _experiment_id(client, experiment)
    count = 0
    for trace in _traces(client, experiment_id, None if first is None else first - longest, last):
        ended = _ended(trace)
        if ended is None or (first is not None and ended < first) or (last is not None and ended >= last):
            continue
        for sample in exchanges(trace, rules):
            yield sample
            count += 1
            if count == limit:
                return


def client_of(uri: str | None) -> MlflowClient:
    """A client of this server or store, or of the one that MLflow's settings name. StoreError: it is not reached."""
    quiet_mlflow()
    from mlflow import MlflowClient

    client = as_store_error(lambda: MlflowClient(uri))
    if is_server(client.tracking_uri):  # MLflow's client would try for minutes to reach it
        as_store_error(
            lambda: OnServer(client.tracking_uri).call("GET", "/api/2.0/mlflow/experiments/search?max_results=1")
        )
    return client


def _experiment_id(client: MlflowClient, experiment: str) -> str:
    found = as_store_error(lambda: client.get_experiment_by_name(experiment))
    if found is not None:
        return str(found.experiment_id)
    known = as_store_error(lambda: client.search_experiments(max_results=50))
    for other in known:
        if other.experiment_id == experiment:
            return experiment
    names = ", ".join(repr(other.name) for other in known[:10])
    raise InputError(f"experiment: there is none called {experiment!r}; there are {names or 'none at all'}")


def _traces(client: MlflowClient, experiment_id: str, first: float | None, last: float | None) -> Iterator[Any]:
    """Traces that started in this time, oldest first."""
    bounds = [("timestamp_ms >=", first), ("timestamp_ms <", last)]
    where = " AND ".join(f"attributes.{test} {round(bound * 1000)}" for test, bound in bounds if bound is not None)
    # since 3.5 experiments are one of several kinds of locations
    named = "locations" if "locations" in inspect.signature(client.search_traces).parameters else "experiment_ids"
    asked: dict[str, Any] = {
        named: [experiment_id],
        "filter_string": where or None,
        "max_results": PAGE,
        "order_by": ["attributes.timestamp_ms ASC"],
    }
    token: str | None = None
    while True:
        page = as_store_error(functools.partial(client.search_traces, **asked, page_token=token))
        yield from page
        token = page.token
        if not token:
            return


def _ended(trace: Any) -> float | None:
    """When the trace ended, in seconds since 1970; None where it has not."""
    if str(getattr(trace.info.state, "value", trace.info.state)) not in ENDED:
        return None
    return float(trace.info.request_time + (trace.info.execution_duration or 0)) / 1000


def exchanges(trace: Any, rules: CaptureRules | None = None) -> Iterator[Sample]:
    """The samples in an MLflow trace."""
    spans = [span_data(span) for span in trace.data.spans]
    for sample in trace_samples(spans, rules).samples:
        yield replace(sample, ids={**sample.ids, "mlflow_trace_id": trace.info.trace_id})


def span_data(span: Any) -> SpanData:
    """An MLflow span, with its own attributes as the JSON that they are everywhere but in its client."""
    attributes = {
        name: json.dumps(value, default=str) if name.startswith("mlflow.") else value
        for name, value in span.attributes.items()
    }
    return SpanData(
        trace_id=str(span.trace_id).removeprefix("tr-"),
        span_id=span.span_id,
        parent_id=span.parent_id,
        name=span.name or "",
        started=span.start_time_ns / 1e9,
        ended=None if span.end_time_ns is None else span.end_time_ns / 1e9,
        attributes=attributes,
        events=tuple(
            Event(name=event.name, attributes=event.attributes or {}, time=event.timestamp / 1e9)
            for event in span.events
        ),
        status=str(getattr(span.status.status_code, "value", span.status.status_code)),
        message=span.status.description or None,
    )


def as_store_error(action: Callable[[], T]) -> T:
    """The result; what goes wrong is told as a StoreError."""
    try:
        return action()
    except Exception as error:
        raise StoreError(f"MLflow cannot be read: {safe_words(error)}") from error
