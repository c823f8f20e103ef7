"""Spans as dicts of any common spelling, as `SpanData`: rows of Parquet files, lines of JSON, spans of the SDK."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from assay import InputError
from assay.extension import describe, missing
from assay_opentelemetry.attributes import from_json
from assay_opentelemetry.span_data import Event, SpanData

_TRACE = ("context.trace_id", "trace_id", "traceId", "TraceId")
_SPAN = ("context.span_id", "span_id", "spanId", "SpanId")
_PARENT = ("parent_id", "parent_span_id", "parentSpanId", "ParentSpanId", "parent.span_id")
_NAME = ("name", "span_name", "SpanName")
_KIND = ("kind", "span_kind", "SpanKind")
_START = ("start_time", "start_time_unix_nano", "startTimeUnixNano", "Timestamp", "start")
_END = ("end_time", "end_time_unix_nano", "endTimeUnixNano", "end")
_STATUS = ("status_code", "status.code", "status.status_code", "StatusCode", "statusCode")
_MESSAGE = ("status_message", "status.message", "status.description", "StatusMessage")
_ATTRIBUTES = ("attributes", "span_attributes", "SpanAttributes")
_RESOURCE = ("resource", "resource_attributes", "ResourceAttributes", "resource.attributes")
_EVENTS = ("events", "span_events", "Events")
_STATUSES = {"1": "OK", "2": "ERROR", "OK": "OK", "ERROR": "ERROR"}
_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_HEX = re.compile(r"[0-9a-fA-F]+")


def span_of(record: Any) -> SpanData:
    """The span that a dict, or a span of the OpenTelemetry SDK, describes.

    Attributes may stand in one dict or in columns `attributes.…` of their own; ids may be hex or base64, times ISO
    texts, datetimes or numbers (of seconds, milli-, micro- or nanoseconds). Raises InputError where the ids are
    missing or no ids.
    """
    if isinstance(record, SpanData):
        return record
    if hasattr(record, "get_span_context"):
        return _of_sdk(record)
    if not isinstance(record, Mapping):
        raise InputError(f"expected a span as a dict, found {describe(record)}")
    context = record.get("context")
    inner = {f"context.{key}": value for key, value in context.items()} if isinstance(context, Mapping) else {}
    status = from_json(record.get("status"))
    if isinstance(status, Mapping):
        inner.update({f"status.{key}": value for key, value in status.items()})
    elif isinstance(status, str):
        inner["status_code"] = status
    record = {**record, **inner}
    parent = _first(record, _PARENT)
    started, ended = time_of(_first(record, _START)), time_of(_first(record, _END))
    duration = record.get("Duration")
    if ended is None and started is not None and isinstance(duration, int):
        ended = started + duration / 1e9
    kind = str(_first(record, _KIND) or "")
    return SpanData(
        trace_id=hex_id(_first(record, _TRACE), 16, "trace id"),
        span_id=hex_id(_first(record, _SPAN), 8, "span id"),
        parent_id=None if parent in (None, "") else hex_id(parent, 8, "parent id"),
        name=str(_first(record, _NAME) or ""),
        kind=kind_of(kind),
        started=started or 0.0,
        ended=ended,
        attributes=_attributes(record, kind),
        events=tuple(_events(_first(record, _EVENTS))),
        status=status_of(_first(record, _STATUS)),
        message=_text(_first(record, _MESSAGE)),
        resource=_resource(record),
    )


def hex_id(value: Any, size: int, what: str) -> str:
    """An id of `size` bytes in hex: given in hex, with or without 0x, in base64, as bytes or as a number."""
    if isinstance(value, (bytes, bytearray)) and len(value) == size:
        return value.hex()
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << (8 * size):
        return f"{value:0{2 * size}x}"
    if isinstance(value, str):
        text = value.strip()
        digits = text.removeprefix("0x").removeprefix("tr-")  # base64 may begin like this as well
        if len(digits) == 2 * size and _HEX.fullmatch(digits):
            return digits.lower()
        if len(text) == 4 * ((size + 2) // 3):
            try:
                return base64.b64decode(text, validate=True).hex()
            except binascii.Error:
                pass
    raise InputError(f"{what}: expected {2 * size} hex digits, found {describe(value)}")


def time_of(value: Any) -> float | None:
    """Seconds since 1970, by the size of the number; None where there is no time, or a time of 0."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = int(value) if value.strip().isdecimal() else float(value)
        except ValueError:
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                raise InputError(f"time: expected a number or an ISO date, found {describe(value)}") from None
    if isinstance(value, datetime):
        return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).timestamp()
    if missing(value) or isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return None
    for unit, least in ((10**9, 1e17), (10**6, 1e14), (10**3, 1e11)):
        if value >= least:
            return value / unit
    return float(value)


def kind_of(value: str) -> str | None:
    """SERVER, CLIENT … of "SPAN_KIND_SERVER", "SpanKind.SERVER", "Server" or 2; None for anything else."""
    name = value.upper().rpartition(".")[2].removeprefix("SPAN_KIND_")
    if name.isdecimal() and int(name) < len(_KINDS):
        return _KINDS[int(name)]
    return name if name in _KINDS else None


def status_of(value: Any) -> str:
    """OK, ERROR or UNSET."""
    name = str(value or "").upper().rpartition(".")[2].removeprefix("STATUS_CODE_")
    return _STATUSES.get(name, "UNSET")


def _attributes(record: Mapping[str, Any], kind: str) -> dict[str, Any]:
    attributes = _mapping(_first(record, _ATTRIBUTES))
    for key, value in record.items():
        if key.startswith("attributes.") and not missing(value):
            attributes[key.removeprefix("attributes.")] = value
    if kind and kind_of(kind) is None:  # Phoenix calls OpenInference's kind the kind of the span
        attributes.setdefault("openinference.span.kind", kind)
    return attributes


def _resource(record: Mapping[str, Any]) -> dict[str, Any]:
    resource = _mapping(_first(record, _RESOURCE))
    inner = resource.get("attributes")
    return dict(inner) if isinstance(inner, Mapping) else resource


def _events(value: Any) -> Iterable[Event]:
    found = from_json(value)
    for item in found if isinstance(found, (list, tuple)) else ():
        if isinstance(item, Mapping):
            at = _first(item, ("timestamp", "time", "timeUnixNano", "time_unix_nano"))
            yield Event(
                name=str(item.get("name") or ""), attributes=_mapping(item.get("attributes")), time=_lenient(at)
            )


def _lenient(value: Any) -> float | None:
    try:
        return time_of(value)
    except InputError:
        return None


def _mapping(value: Any) -> dict[str, Any]:
    """A dict, JSON that spells one, or a list of pairs, as Parquet has its maps; without what is missing."""
    found = from_json(value)
    if isinstance(found, (list, tuple)) and all(isinstance(item, (list, tuple)) and len(item) == 2 for item in found):
        found = dict(found)
    if not isinstance(found, Mapping):
        return {}
    return {str(key): item for key, item in found.items() if item is not None}


def _first(record: Mapping[str, Any], names: Iterable[str]) -> Any:
    for name in names:
        value = record.get(name)
        if isinstance(value, (list, tuple, Mapping)) or not missing(value):
            return value
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _of_sdk(span: Any) -> SpanData:
    context, parent = span.get_span_context(), span.parent
    return SpanData(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_id=None if parent is None else f"{parent.span_id:016x}",
        name=span.name,
        kind=span.kind.name,
        started=(span.start_time or 0) / 1e9,
        ended=None if span.end_time is None else span.end_time / 1e9,
        attributes=dict(span.attributes or {}),
        events=tuple(
            Event(name=event.name, attributes=dict(event.attributes or {}), time=event.timestamp / 1e9)
            for event in span.events
        ),
        status=span.status.status_code.name,
        message=span.status.description,
        resource=dict(span.resource.attributes),
        parent_remote=None if parent is None else bool(parent.is_remote),
    )
