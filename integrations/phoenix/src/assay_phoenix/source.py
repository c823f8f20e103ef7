"""Traces of a Phoenix server as samples."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import tenacity
from assay_opentelemetry.span_data import Event, SpanData
from assay_opentelemetry.traces import trace_samples

from assay import InputError, Sample
from assay.extension import CaptureRules, Moment, NotThere, Refused, StoreError, iso, safe_words, seconds_at
from assay_phoenix.server import Server

if TYPE_CHECKING:
    from phoenix.client import Client

PAGE = 100  # traces asked for at a time
TOGETHER = 20  # traces whose spans are held at the same time
SPANS = 1000  # spans asked for at a time


def open_source(
    address: str,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    project: str | None = None,
) -> Iterator[Sample]:
    """The samples that `phoenix:ADDRESS` names; the client's own environment says the rest."""
    return phoenix_samples(address or None, project=project or "default", since=since, until=until, limit=limit)


def phoenix_samples(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    project: str = "default",
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    overlap: float = 0.0,
    longest: float = 3600.0,
    settle: float = 60.0,
    rules: CaptureRules | None = None,
    client: Client | None = None,
) -> Iterator[Sample]:
    """Read the exchanges in the finished traces of a project, page by page, with the spans of a few traces at a time.

    Args:
        base_url: The server; else as the Phoenix client finds it.
        api_key: Its key; else as the Phoenix client finds it.
        project: Its name or id.
        since: Traces that ended then or later: a datetime, an ISO text or seconds since 1970.
        until: Traces that ended before then.
        limit: At most so many samples.
        overlap: Seconds before `since` that are read again, because spans arrive late. Samples that were read before
            have the same ids, and their scores replace those that were written.
        longest: Seconds that a trace may take: by its start the server is asked, and what started earlier than this
            before `since` is not found.
        settle: Seconds after which a trace without its root counts as finished: the root is in another service, which
            reports elsewhere. Before, it may still be at work.
        rules: Where the application keeps question, contexts and answer.
        client: A client of Phoenix in place of `base_url` and `api_key`.

    Returns:
        One sample for each exchange, in order of the traces' start. Iterating raises InputError for a project that is
        not there, StoreError where the server cannot be read.

    Raises:
        InputError: An argument is out of range.
    """
    if limit is not None and limit < 0:
        raise InputError(f"limit: expected 0 or more, got {limit}")
    window = _Window(seconds_at(since, "since"), seconds_at(until, "until"), overlap, longest)
    reader = _Reader(Server(base_url, api_key, client), project)
    return _limited(reader.samples(window, settle, rules), limit)


class _Window:
    """Which traces are wanted, by their end; and what to ask the server for, which knows them by their start."""

    def __init__(self, since: float | None, until: float | None, overlap: float, longest: float) -> None:
        self._first = None if since is None else since - overlap
        self._last = until
        self._longest = longest

    @property
    def params(self) -> dict[str, str]:
        bounds = {
            "start_time": None if self._first is None else self._first - self._longest,
            "end_time": self._last,
        }
        return {name: iso(bound) for name, bound in bounds.items() if bound is not None}

    def __contains__(self, ended: float) -> bool:
        return (self._first is None or ended >= self._first) and (self._last is None or ended < self._last)


class _Reader:
    """Reads one project of a server."""

    def __init__(self, server: Server, project: str) -> None:
        self._server = server
        self._project = project
        self._path = ""
        self._project_id = ""

    def samples(self, window: _Window, settle: float, rules: CaptureRules | None) -> Iterator[Sample]:
        self._project_id = self._find_project_id()
        self._path = f"v1/projects/{self._project_id}"
        wanted = (trace for trace in self._pages("traces", {**window.params, "order": "asc", "limit": PAGE}))
        ended = (trace["trace_id"] for trace in wanted if _seconds(trace["end_time"]) in window)
        for ids in _in_groups(ended, TOGETHER):
            for spans in self._traces(ids):
                if _finished(spans, settle):
                    yield from self._exchanges(spans, rules)

    def _find_project_id(self) -> str:
        projects: dict[str, str] = self._tried(self._server.projects)
        if self._project in projects:
            return projects[self._project]
        if self._project in projects.values():
            return self._project
        known = ", ".join(repr(name) for name in list(projects)[:10])
        raise InputError(f"project: the server has none called {self._project!r}; it has {known or 'none at all'}")

    def _traces(self, ids: Sequence[str]) -> list[list[SpanData]]:
        by_trace: dict[str, list[SpanData]] = {trace_id: [] for trace_id in ids}
        for span in self._pages("spans", {"trace_id": list(ids), "limit": SPANS}):
            by_trace.setdefault(span["context"]["trace_id"], []).append(span_data(span))
        return [by_trace[trace_id] for trace_id in ids]

    def _exchanges(self, spans: Sequence[SpanData], rules: CaptureRules | None) -> Iterator[Sample]:
        for sample in trace_samples(spans, rules).samples:
            yield replace(sample, ids={**sample.ids, "phoenix_project_id": self._project_id})

    def _pages(self, what: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        cursor = None
        while True:
            page = self._tried(
                lambda cursor=cursor: self._server.get(f"{self._path}/{what}", {**params, "cursor": cursor})
            )
            yield from page["data"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def _tried(self, action: Any) -> Any:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_random_exponential(multiplier=0.2, max=5),
            retry=tenacity.retry_if_not_exception_type((NotThere, Refused)),
            reraise=True,
        )
        try:
            return retrying(action)
        except Exception as error:
            raise StoreError(f"{self._server.name} cannot be read: {safe_words(error)}") from error


def span_data(span: Mapping[str, Any]) -> SpanData:
    """A span as Phoenix's API gives it."""
    return SpanData(
        trace_id=span["context"]["trace_id"],
        span_id=span["context"]["span_id"],
        parent_id=span.get("parent_id"),
        name=span.get("name", ""),
        started=_seconds(span["start_time"]),
        ended=_seconds(span["end_time"]) if span.get("end_time") else None,
        # the API takes the kind out of the attributes
        attributes={**span.get("attributes", {}), "openinference.span.kind": span.get("span_kind", "UNKNOWN")},
        events=tuple(
            Event(name=event["name"], attributes=event.get("attributes") or {}, time=_seconds(event["timestamp"]))
            for event in span.get("events") or ()
        ),
        status=span.get("status_code", "UNSET"),
        message=span.get("status_message") or None,
    )


def _finished(spans: Sequence[SpanData], settle: float) -> bool:
    """Spans are sent when they end: a root that is there has ended."""
    if any(span.parent_id is None for span in spans):
        return True
    return bool(spans) and max(span.ended or span.started for span in spans) < time.time() - settle


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _in_groups(items: Iterator[str], size: int) -> Iterator[list[str]]:
    group: list[str] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _limited(samples: Iterator[Sample], limit: int | None) -> Iterator[Sample]:
    if limit == 0:
        return
    for number, sample in enumerate(samples, 1):
        yield sample
        if number == limit:
            return
