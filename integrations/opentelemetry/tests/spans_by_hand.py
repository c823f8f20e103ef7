"""Spans written by hand, short: times are seconds after a start, ids are small numbers."""

from __future__ import annotations

from typing import Any

from assay_opentelemetry import Event, SpanData, spans_to_samples

from assay.records import Sample

START = 1_790_000_000.0
TRACE = f"{1:032x}"


def span(number: int, parent: int | None = None, at: float = 0.0, to: float = 1.0, **fields: Any) -> SpanData:
    """Span `number` of trace 1, or of `trace`, below span `parent`."""
    trace = fields.pop("trace", 1)
    return SpanData(
        trace_id=f"{trace:032x}",
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        started=START + at,
        ended=START + to,
        **fields,
    )


def event(name: str, at: float = 0.0, **attributes: Any) -> Event:
    """An event; dots in the names of attributes are written as two underscores."""
    return Event(name=name, attributes={key.replace("__", "."): value for key, value in attributes.items()}, time=at)


def samples(*spans: Any, **options: Any) -> list[Sample]:
    """What the spans hold; anything that cannot be read fails the test."""
    found = list(spans_to_samples(spans, **options))
    assert all(isinstance(item, Sample) for item in found), found
    return found  # type: ignore[return-value]


def sample(*spans: Any, **options: Any) -> Sample:
    """The one sample that the spans hold."""
    found = samples(*spans, **options)
    assert len(found) == 1, found
    return found[0]


def texts(one: Sample) -> list[str] | None:
    """The texts of its contexts."""
    return None if one.contexts is None else [context.text for context in one.contexts]
