"""Langfuse observations, as its API and its exports write them, as the spans of OpenTelemetry that they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay_opentelemetry.span_data import Event, SpanData

from assay import InputError
from assay.extension import json_of, seconds_at

#: The type of an exception at the start of a status message.
_ERROR = re.compile(r"\s*([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning))\b")

#: Where the metadata of a span carries the expected output, until the sample is made.
EXPECTED = "langfuse.expected_output"
_ANSWERS = ("answer", "output", "response", "expected_response", "reference", "text", "content", "value")

_HEX = re.compile(r"[0-9a-f]+")


def is_trace(record: Mapping[str, Any]) -> bool:
    """Whether this is a trace, which may have observations nested in it, and no observation."""
    return _get(record, "trace_id") is None


def spans_of_trace(record: Mapping[str, Any]) -> Iterator[SpanData]:
    """The spans of a trace and its nested observations.

    Where one observation is the root of all, it is the exchange, with the trace's input and output where it has none.
    Otherwise the trace itself is the root.
    """
    trace_id = _id(record)
    nested = json_of(record.get("observations"))
    observations = [one for one in nested if isinstance(one, Mapping)] if isinstance(nested, list) else []
    known = {str(one.get("id")) for one in observations}
    roots = [one for one in observations if str(_get(one, "parent_observation_id")) not in known]
    alone = roots[0] if len(roots) == 1 else None
    of_trace = _trace_attributes(record)
    if alone is None:
        yield _of_trace_itself(record, trace_id, observations, of_trace)
    for one in observations:
        added: dict[str, Any] = {"traceId": trace_id}
        if one is alone:
            added |= {name: record.get(name) for name in ("input", "output") if one.get(name) is None}
        elif alone is None and one in roots:
            added["parentObservationId"] = trace_id
        yield span_of({**one, **added}, of_trace)


def span_of(record: Mapping[str, Any], of_trace: Mapping[str, Any] | None = None) -> SpanData:
    """The span of one observation. Raises InputError where it has no id, no trace or no sound times.

    Args:
        of_trace: Attributes of the trace that it is a part of: tags, session, user.
    """
    started = seconds_at(_get(record, "start_time") or None, "startTime")
    if started is None:
        raise InputError(f"observation {record.get('id')!r}: expected a startTime")
    parent = _get(record, "parent_observation_id")
    failed = str(_get(record, "level") or "").upper() == "ERROR"
    message = str(_get(record, "status_message") or "")
    return SpanData(
        trace_id=str(_get(record, "trace_id")),
        span_id=_id(record),
        parent_id=str(parent) if parent else None,
        name=str(record.get("name") or ""),
        started=started,
        ended=seconds_at(_get(record, "end_time") or None, "endTime"),
        attributes={**(of_trace or {}), **_trace_attributes(record), **_attributes(record)},
        events=_exception(message) if failed else (),
        status="ERROR" if failed else "UNSET",
    )


def reference_of(expected: Any) -> str | None:
    """The right answer in an expected output: a text, or the answer in an object, which may be JSON; else its JSON."""
    found = json_of(expected)
    if isinstance(found, Mapping):
        texts = [found[key] for key in _ANSWERS if isinstance(found.get(key), str)]
        found = texts[0] if texts else (next(iter(found.values())) if len(found) == 1 else found)
    text = found if isinstance(found, str) else _text(found) if found else None
    return text if text and text.strip() else None


def is_otel(trace_id: str, span_id: str) -> bool:
    """Whether these are ids of OpenTelemetry, as all are since Langfuse is built on it, or of an older SDK."""
    return len(trace_id) == 32 and len(span_id) == 16 and bool(_HEX.fullmatch(trace_id + span_id))


def _of_trace_itself(
    record: Mapping[str, Any], trace_id: str, observations: Sequence[Mapping[str, Any]], of_trace: Mapping[str, Any]
) -> SpanData:
    starts = [
        time for one in observations if (time := seconds_at(_get(one, "start_time") or None, "startTime")) is not None
    ]
    ends = [time for one in observations if (time := seconds_at(_get(one, "end_time") or None, "endTime")) is not None]
    started = seconds_at(record.get("timestamp") or None, "timestamp")
    if started is None and not starts:
        raise InputError(f"trace {trace_id!r}: expected a timestamp")
    return SpanData(
        trace_id=trace_id,
        span_id=trace_id,
        name=str(record.get("name") or ""),
        started=min(starts, default=started or 0.0) if started is None else min([started, *starts]),
        ended=max(ends, default=None),
        attributes={**of_trace, **_attributes(record)},
    )


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = json_of(record.get("metadata"))
    expected = reference_of(_get(record, "expected_output"))
    if expected is not None:
        metadata = {**(metadata if isinstance(metadata, Mapping) else {}), EXPECTED: expected}
    found = {
        "langfuse.observation.type": str(record.get("type") or "span").lower(),
        "langfuse.observation.input": _text(record.get("input")),
        "langfuse.observation.output": _text(record.get("output")),
        "langfuse.observation.metadata": _text(metadata) if isinstance(metadata, Mapping) else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _trace_attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    tags = json_of(record.get("tags"))
    found = {
        "session.id": _get(record, "session_id"),
        "user.id": _get(record, "user_id"),
        "langfuse.trace.tags": _text(tags) if isinstance(tags, list) and tags else None,
    }
    return {name: value for name, value in found.items() if value}


def _exception(message: str) -> tuple[Event, ...]:
    """The exception by its type alone: the rest of the message may hold what must not be kept."""
    match = _ERROR.match(message)
    return (Event(name="exception", attributes={"exception.type": match[1]}),) if match else ()


def _text(value: Any) -> str | None:
    """A value as an attribute of a span: a text as it is, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or None
    return json.dumps(value, ensure_ascii=False, default=str)


def _id(record: Mapping[str, Any]) -> str:
    found = record.get("id")
    if not found:
        raise InputError("expected a trace or an observation with an id")
    return str(found)


def _get(record: Mapping[str, Any], name: str) -> Any:
    """A field by its name with underscores, as exports to storage have it, or in camel case, as the API has it."""
    found = record.get(name)
    if found is None or found == "":
        first, *rest = name.split("_")
        found = record.get(first + "".join(part.capitalize() for part in rest))
    return None if found == "" else found
