"""Spans in every spelling of their fields."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from assay_opentelemetry.records import hex_id, kind_of, span_of, status_of, time_of
from hypothesis import example, given
from hypothesis import strategies as st

from assay.errors import InputError

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
START, END = 1_790_000_000.25, 1_790_000_001.5


@given(st.binary(min_size=16, max_size=16).filter(any))
@example(b"\xd3\x10" + bytes(14))  # whose base64 begins with "0x"
def test_an_id_is_the_same_however_it_is_written(raw: bytes) -> None:
    spellings: list[Any] = [raw.hex(), raw.hex().upper(), f"0x{raw.hex()}", base64.b64encode(raw).decode(), raw,
                            int.from_bytes(raw, "big"), f"tr-{raw.hex()}"]  # fmt: skip
    assert {hex_id(spelling, 16, "trace id") for spelling in spellings} == {raw.hex()}


@pytest.mark.parametrize("wrong", [None, "", "xyz", "12", TRACE + "0", b"1", 0, -1, True, 3.5, [], "ö" * 32])
def test_what_is_no_id_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(InputError, match="trace id: expected 32 hex digits"):
        hex_id(wrong, 16, "trace id")


@pytest.mark.parametrize(
    "time",
    [
        START,
        int(START * 100) * 10,
        int(START * 100) * 10**4,
        int(START * 100) * 10**7,
        str(int(START * 100) * 10**7),
        datetime.fromtimestamp(START, UTC),
        datetime.fromtimestamp(START, UTC).replace(tzinfo=None),
        datetime.fromtimestamp(START, timezone(timedelta(hours=2))),
        datetime.fromtimestamp(START, UTC).isoformat(),
        datetime.fromtimestamp(START, UTC).isoformat().replace("+00:00", "Z"),
    ],
)
def test_a_time_is_the_same_in_any_unit(time: Any) -> None:
    assert time_of(time) == START


@pytest.mark.parametrize("nothing", [None, 0, "", float("nan")])
def test_no_time(nothing: Any) -> None:
    assert time_of(nothing) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [("SPAN_KIND_SERVER", "SERVER"), ("SpanKind.CLIENT", "CLIENT"), ("Internal", "INTERNAL"), ("2", "SERVER"),
     ("CHAIN", None), ("", None)],
)  # fmt: skip
def test_kinds(value: str, kind: str | None) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("value", "status"),
    [("STATUS_CODE_ERROR", "ERROR"), (2, "ERROR"), ("Ok", "OK"), (1, "OK"), ("StatusCode.UNSET", "UNSET"), (0, "UNSET"),
     (None, "UNSET")],
)  # fmt: skip
def test_statuses(value: Any, status: str) -> None:
    assert status_of(value) == status


RECORDS: dict[str, dict[str, Any]] = {
    "a row of Phoenix' data frame": {
        "name": "step",
        "span_kind": "CHAIN",
        "context.trace_id": TRACE,
        "context.span_id": SPAN,
        "parent_id": PARENT,
        "start_time": datetime.fromtimestamp(START, UTC),
        "end_time": datetime.fromtimestamp(END, UTC),
        "status_code": "OK",
        "attributes.input.value": "Why?",
        "attributes.metadata": {"a": 1},
        "attributes.output.value": None,
    },
    "Phoenix' REST API": {
        "name": "step",
        "context": {"trace_id": TRACE, "span_id": SPAN},
        "span_kind": "CHAIN",
        "parent_id": PARENT,
        "start_time": datetime.fromtimestamp(START, UTC).isoformat(),
        "end_time": datetime.fromtimestamp(END, UTC).isoformat(),
        "status_code": "OK",
        "attributes": {"input.value": "Why?", "metadata": {"a": 1}},
        "events": [],
    },
    "the SDK's to_json": {
        "name": "step",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": f"0x{PARENT}",
        "start_time": datetime.fromtimestamp(START, UTC).isoformat().replace("+00:00", "Z"),
        "end_time": datetime.fromtimestamp(END, UTC).isoformat().replace("+00:00", "Z"),
        "status": {"status_code": "OK"},
        "attributes": {"openinference.span.kind": "CHAIN", "input.value": "Why?", "metadata": {"a": 1}},
        "events": [],
        "resource": {"attributes": {"service.name": "s"}},
    },
    "flattened OTLP": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": PARENT,
        "name": "step",
        "kind": "SPAN_KIND_INTERNAL",
        "start_time_unix_nano": int(START * 100) * 10**7,
        "end_time_unix_nano": int(END * 100) * 10**7,
        "status.code": 1,
        "attributes": [("openinference.span.kind", "CHAIN"), ("input.value", "Why?"), ("metadata", {"a": 1})],
    },
    "ClickHouse's table": {
        "TraceId": TRACE,
        "SpanId": SPAN,
        "ParentSpanId": PARENT,
        "SpanName": "step",
        "SpanKind": "Internal",
        "Timestamp": datetime.fromtimestamp(START, UTC),
        "Duration": 1_250_000_000,
        "StatusCode": "Ok",
        "SpanAttributes": '{"openinference.span.kind": "CHAIN", "input.value": "Why?", "metadata": {"a": 1}}',
    },
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_span_is_the_same_in_any_form(name: str) -> None:
    span = span_of(RECORDS[name])
    assert (span.trace_id, span.span_id, span.parent_id, span.name) == (TRACE, SPAN, PARENT, "step")
    assert (span.started, span.ended, span.status) == (START, END, "OK")
    assert span.attributes == {"openinference.span.kind": "CHAIN", "input.value": "Why?", "metadata": {"a": 1}}


def test_events_with_times() -> None:
    record = {**RECORDS["Phoenix' REST API"], "events": [
        {"name": "exception", "timestamp": "2026-11-21T00:00:00Z", "attributes": {"exception.type": "E"}}, "no event"
    ]}  # fmt: skip
    (event,) = span_of(record).events
    assert (event.name, event.attributes, event.time) == ("exception", {"exception.type": "E"}, 1795219200.0)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"span_id": SPAN}, "trace id: expected 32 hex digits"),
        ({"trace_id": TRACE}, "span id: expected 16 hex digits"),
        ({"trace_id": TRACE, "span_id": SPAN, "parent_id": "x"}, "parent id"),
        ({"trace_id": TRACE, "span_id": SPAN, "start_time": "yesterday"}, "expected a number or an ISO date"),
        ("text", "expected a span as a dict"),
    ],
)
def test_what_is_no_span_says_why(record: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        span_of(record)
