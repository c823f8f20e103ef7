"""OTLP in JSON: what the collector's file exporter and `protojson` write. Spans, and log records that name a span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay import InputError
from assay.extension import describe
from assay_opentelemetry.records import hex_id, kind_of, status_of, time_of
from assay_opentelemetry.span_data import Event, SpanData

_ROOTS = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_ITEMS = ("spans", "logRecords", "log_records")
_HAS_REMOTE, _IS_REMOTE = 0x100, 0x200  # bits of a span's flags


def is_otlp(document: Any) -> bool:
    """Whether this is an OTLP document of spans or logs."""
    return isinstance(document, Mapping) and any(name in document for name in _ROOTS)


def spans_in(document: Mapping[str, Any]) -> Iterator[SpanData | InputError]:
    """The spans of an OTLP document; an InputError, which says where, in the place of one that cannot be read.

    Log records become partial spans of one event each; those that name no span are left out.
    """
    number = 0
    for root in (item for name in _ROOTS for item in _list(document.get(name))):
        resource = attributes_of(_get(_get(root, "resource"), "attributes"))
        for scope in (item for name in _SCOPES for item in _list(_get(root, name))):
            for name in _ITEMS:
                for item in _list(_get(scope, name)):
                    number += 1
                    try:
                        span = _span(item, resource) if name == "spans" else _log(item, resource)
                    except InputError as error:
                        yield InputError(f"{'span' if name == 'spans' else 'log record'} {number}: {error}")
                        continue
                    if span is not None:
                        yield span


def _span(item: Any, resource: Mapping[str, Any]) -> SpanData:
    if not isinstance(item, Mapping):
        raise InputError(f"expected an object, found {describe(item)}")
    status = _get(item, "status")
    parent = _either(item, "parentSpanId", "parent_span_id")
    flags = item.get("flags")
    flags = int(flags) if isinstance(flags, (int, str)) and str(flags).isdecimal() else 0
    return SpanData(
        trace_id=hex_id(_either(item, "traceId", "trace_id"), 16, "traceId"),
        span_id=hex_id(_either(item, "spanId", "span_id"), 8, "spanId"),
        parent_id=hex_id(parent, 8, "parentSpanId") if parent else None,
        name=str(item.get("name") or ""),
        kind=kind_of(str(item.get("kind", ""))),
        started=time_of(_either(item, "startTimeUnixNano", "start_time_unix_nano")) or 0.0,
        ended=time_of(_either(item, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=attributes_of(item.get("attributes")),
        events=tuple(_event(event) for event in _list(item.get("events"))),
        status=status_of(_get(status, "code")),
        message=_get(status, "message"),
        resource=resource,
        parent_remote=bool(flags & _IS_REMOTE) if flags & _HAS_REMOTE else None,
    )


def _log(item: Any, resource: Mapping[str, Any]) -> SpanData | None:
    if not isinstance(item, Mapping):
        raise InputError(f"expected an object, found {describe(item)}")
    trace, span = _either(item, "traceId", "trace_id"), _either(item, "spanId", "span_id")
    if not trace or not span:
        return None
    attributes = attributes_of(item.get("attributes"))
    name = _either(item, "eventName", "event_name") or attributes.get("event.name") or ""
    at = _either(item, "timeUnixNano", "time_unix_nano") or _either(
        item, "observedTimeUnixNano", "observed_time_unix_nano"
    )
    event = Event(name=str(name), attributes=attributes, body=value_of(item.get("body")), time=time_of(at))
    return SpanData(
        trace_id=hex_id(trace, 16, "traceId"),
        span_id=hex_id(span, 8, "spanId"),
        events=(event,),
        resource=resource,
        partial=True,
    )


def _event(item: Any) -> Event:
    return Event(
        name=str(_get(item, "name") or ""),
        attributes=attributes_of(_get(item, "attributes")),
        time=time_of(_either(item, "timeUnixNano", "time_unix_nano")) if isinstance(item, Mapping) else None,
    )


def attributes_of(items: Any) -> dict[str, Any]:
    """Attributes from a list of key and value, or from a plain dict."""
    if isinstance(items, Mapping):
        return dict(items)
    pairs = ((_get(item, "key"), value_of(_get(item, "value"))) for item in _list(items))
    return {str(key): value for key, value in pairs if key is not None and value is not None}


def value_of(value: Any) -> Any:
    """The value in one of OTLP's unions; bytes stay the text that stands for them."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value if not isinstance(value, Mapping) else None
    name, inner = next(iter(value.items()))
    match name.replace("_", "").lower():
        case "intvalue":
            return int(inner) if isinstance(inner, (int, float)) or str(inner).lstrip("-").isdecimal() else None
        case "doublevalue":
            return inner if isinstance(inner, (int, float)) else _number(inner)
        case "arrayvalue":
            return [value_of(item) for item in _list(_get(inner, "values"))]
        case "kvlistvalue":
            return attributes_of(_get(inner, "values"))
        case "stringvalue" | "boolvalue" | "bytesvalue":
            return inner
    return None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _either(value: Mapping[str, Any], name: str, other: str) -> Any:
    return value.get(name, value.get(other))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
