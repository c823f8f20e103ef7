"""Spans from files, however they were written, and however they were damaged."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from assay_opentelemetry import Counts, read_spans, read_traces
from assay_opentelemetry.source import open_source
from hypothesis import given
from hypothesis import strategies as st

from assay.data import RowError
from assay.errors import InputError
from assay.records import Sample
from integrations.opentelemetry.tests.spans_by_hand import START, texts

QUESTION, ANSWER, CONTEXT = "Why do cats purr?", "Cats purr when calm.", "Cats purr when they are calm."


def value(item: Any) -> dict[str, Any]:
    """A value in OTLP's union."""
    match item:
        case bool():
            return {"boolValue": item}
        case int():
            return {"intValue": str(item)}
        case float():
            return {"doubleValue": item}
        case list():
            return {"arrayValue": {"values": [value(inner) for inner in item]}}
        case dict():
            return {"kvlistValue": {"values": pairs(item)}}
    return {"stringValue": item}


def pairs(items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in items.items()]


def otlp(
    number: int, parent: int | None, kind: str, trace: int = 1, to: float = 9, **attributes: Any
) -> dict[str, Any]:
    named = {key.replace("__", "."): item for key, item in attributes.items()}
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent is not None else {}),
        "name": f"step {number}",
        "kind": 1,
        "startTimeUnixNano": str(int((START + number) * 1000) * 10**6),
        "endTimeUnixNano": str(int((START + to) * 1000) * 10**6),
        "attributes": pairs({"openinference.span.kind": kind, **named}),
        "status": {"code": 1},
    }


def trace(number: int = 1) -> list[dict[str, Any]]:
    """A chain with a retriever."""
    return [
        otlp(1, None, "CHAIN", number, input__value=QUESTION, output__value=ANSWER),
        otlp(2, 1, "RETRIEVER", number, 3, **{"retrieval__documents__0__document__content": CONTEXT}),
    ]


def document(*spans: Any) -> dict[str, Any]:
    resource = {"attributes": pairs({"service.name": "app"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "s"}, "spans": list(spans)}]}]}


def with_base64_ids(span: dict[str, Any]) -> dict[str, Any]:
    ids = {key: base64.b64encode(bytes.fromhex(span[key])).decode()
           for key in ("traceId", "spanId", "parentSpanId") if key in span}  # fmt: skip
    return {**span, **ids}


def with_underscores(item: Any) -> Any:
    """Protobuf's JSON with the original names of fields."""
    if isinstance(item, dict):
        names = {key: "".join(f"_{char.lower()}" if char.isupper() else char for char in key) for key in item}
        return {names[key]: with_underscores(inner) for key, inner in item.items()}
    return [with_underscores(inner) for inner in item] if isinstance(item, list) else item


LINES = "\n".join(json.dumps(document(span)) for span in trace())
FORMS: dict[str, tuple[str, bytes]] = {
    "a request per line": ("spans.jsonl", LINES.encode()),
    "the same with a byte order mark": ("spans.jsonl", b"\xef\xbb\xbf" + LINES.encode()),
    "the same, gzipped": ("spans.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
    "gzipped, and not named so": ("spans.jsonl", gzip.compress(LINES.encode(), mtime=0)),
    "one document": ("spans.json", json.dumps(document(*trace())).encode()),
    "one document over many lines": ("spans.json", json.dumps(document(*trace()), indent=2).encode()),
    "several such documents": (
        "spans.log",
        "\n".join(json.dumps(document(span), indent=2) for span in trace()).encode(),
    ),
    "base64 ids": ("spans.json", json.dumps(document(*map(with_base64_ids, trace()))).encode()),
    "names with underscores": ("spans.json", json.dumps(with_underscores(document(*trace()))).encode()),
    "a list of documents": ("spans.json", json.dumps([document(span) for span in trace()]).encode()),
    "windows lines": ("spans.jsonl", LINES.replace("\n", "\r\n\r\n").encode()),
}


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_spans_are_the_same_however_they_were_written(form: str, tmp_path: Path) -> None:
    spans = list(read_spans(written(tmp_path, *FORMS[form])))
    assert [(span.trace_id, span.span_id, span.parent_id, span.resource) for span in spans] == [
        (f"{1:032x}", f"{1:016x}", None, {"service.name": "app"}),
        (f"{1:032x}", f"{2:016x}", f"{1:016x}", {"service.name": "app"}),
    ]
    (one,) = read_traces(tmp_path / FORMS[form][0])
    assert isinstance(one, Sample)
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])
    assert one.metadata["ended"] == START + 9


def test_values_of_every_kind(tmp_path: Path) -> None:
    plain = {"s": "x", "i": 3, "d": 0.5, "b": False, "l": ["a", "b"], "m": {"k": [1, {"deep": "v"}]}}
    path = written(
        tmp_path, "s.json", json.dumps(document({**otlp(1, None, "CHAIN"), "attributes": pairs(plain)})).encode()
    )
    (span,) = read_spans(path)
    assert span.attributes == plain


def test_log_records_that_name_a_span_bring_it_their_content(tmp_path: Path) -> None:
    call = {**otlp(1, None, "LLM"), "attributes": pairs({"gen_ai.operation.name": "chat"})}
    messages = {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}],
    }
    log = {"traceId": call["traceId"], "spanId": call["spanId"], "timeUnixNano": "1790000000000000000",
           "eventName": "gen_ai.client.inference.operation.details", "attributes": pairs(messages)}  # fmt: skip
    elsewhere = {"timeUnixNano": "1", "body": {"stringValue": "of no span"}}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [elsewhere, log]}]}]}
    path = written(tmp_path, "s.jsonl", f"{json.dumps(logs)}\n{json.dumps(document(call))}\n".encode())
    (one,) = read_traces(path)
    assert isinstance(one, Sample)
    assert (one.question, one.answer) == (QUESTION, ANSWER)


def test_what_cannot_be_read_is_told_with_its_place_and_loses_nothing_else(tmp_path: Path) -> None:
    nameless = {**otlp(3, 1, "TOOL"), "spanId": "zz"}
    lines = [
        json.dumps(document(trace()[0], nameless)),
        "{broken",
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": ["text"]}]}]}),
        '"text"',
        json.dumps({"no": "span"}),
        json.dumps(document(trace()[1])),
    ]
    counts = Counts()
    found = list(read_traces(written(tmp_path, "s.jsonl", "\n".join(lines).encode()), counts=counts))
    errors = [item.message for item in found if isinstance(item, RowError)]
    assert [message.partition(":")[0] for message in errors] == ["line 1", "line 2 is no JSON", "line 3", "line 4",
                                                                 "line 5"]  # fmt: skip
    assert "span 2: spanId: expected 16 hex digits, found str 'zz'" in errors[0]
    (one,) = (item for item in found if isinstance(item, Sample))
    assert texts(one) == [CONTEXT]
    assert counts == Counts(spans=2, unreadable=5, traces=1, samples=1)


def test_a_damaged_gzip_file_gives_what_stands_before_the_damage(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(document(*trace(number))) for number in range(1, 200))
    whole = gzip.compress(lines.encode())
    found = list(read_traces(written(tmp_path, "s.jsonl.gz", whole[: len(whole) // 2])))
    errors = [item for item in found if isinstance(item, RowError)]
    assert len(errors) == 1
    assert "the gzip file is damaged, and what follows is lost" in errors[0].message
    assert 0 < len(found) - 1 < 199


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_file_has_no_spans(data: bytes, tmp_path: Path) -> None:
    assert list(read_spans(written(tmp_path, "s.jsonl", data))) == []


@given(st.binary(max_size=200))
def test_no_file_makes_the_reader_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = written(tmp_path_factory.mktemp("any"), "s.jsonl", data)
    assert all(isinstance(item, (Sample, RowError)) for item in read_traces(path))


@pytest.mark.parametrize(("name", "message"), [("none.jsonl", "is no file"), (".", "is a folder; give a file")])
def test_a_path_that_is_no_file(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_spans(tmp_path / name)


def rows() -> list[dict[str, Any]]:
    """The trace as rows of Phoenix' data frame."""
    named = [{"retrieval.documents": None, "input.value": QUESTION, "output.value": ANSWER},
             {"retrieval.documents": [{"document.content": CONTEXT, "document.score": 0.5}],
              "input.value": None, "output.value": None}]  # fmt: skip
    return [
        {
            "name": span["name"],
            "span_kind": kind,
            "parent_id": span.get("parentSpanId"),
            "start_time": int(span["startTimeUnixNano"]) // 1000,
            "end_time": int(span["endTimeUnixNano"]) // 1000,
            "status_code": "OK",
            "events": [],
            "context.trace_id": span["traceId"],
            "context.span_id": span["spanId"],
            **{f"attributes.{key}": item for key, item in attributes.items()},
        }
        for span, kind, attributes in zip(trace(), ("CHAIN", "RETRIEVER"), named, strict=True)
    ]


def test_parquet_of_phoenix(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(rows())
    for name in ("start_time", "end_time"):
        times = table[name].cast(pa.timestamp("us", tz="UTC"))
        table = table.set_column(table.schema.get_field_index(name), name, times)
    pq.write_table(table, tmp_path / "spans.parquet")
    (one,) = read_traces(tmp_path / "spans.parquet")
    assert isinstance(one, Sample)
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])
    assert one.contexts is not None
    assert one.contexts[0].score == 0.5
    assert (one.metadata["started"], one.metadata["ended"]) == (START + 1, START + 9)


def test_parquet_of_flattened_otlp(tmp_path: Path) -> None:
    attributes = pa.map_(pa.string(), pa.string())
    schema = pa.schema([("trace_id", pa.binary(16)), ("span_id", pa.binary(8)), ("parent_span_id", pa.binary(8)),
                        ("name", pa.string()), ("start_time_unix_nano", pa.int64()), ("end_time_unix_nano", pa.int64()),
                        ("attributes", attributes)])  # fmt: skip
    plain = [
        {
            "trace_id": bytes.fromhex(span["traceId"]),
            "span_id": bytes.fromhex(span["spanId"]),
            "parent_span_id": bytes.fromhex(span["parentSpanId"]) if "parentSpanId" in span else None,
            "name": span["name"],
            "start_time_unix_nano": int(span["startTimeUnixNano"]),
            "end_time_unix_nano": int(span["endTimeUnixNano"]),
            "attributes": [(pair["key"], pair["value"]["stringValue"]) for pair in span["attributes"]],
        }
        for span in trace()
    ]
    bad = {**plain[0], "span_id": None}
    pq.write_table(pa.Table.from_pylist([*plain, bad], schema=schema), tmp_path / "spans.parquet")
    error, one = read_traces(tmp_path / "spans.parquet")
    assert isinstance(error, RowError)
    assert error.message.startswith("row 3: span id: expected 16 hex digits")
    assert isinstance(one, Sample)
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sound Parquet file"):
        list(read_spans(written(tmp_path, "s.parquet", b"PAR1 and nothing more")))


def test_a_part_by_time_of_completion(tmp_path: Path) -> None:
    """Traces 1, 2, 3 end at START + 9, + 19, + 29."""
    spans = [
        otlp(1, None, "CHAIN", number, to=number * 10 - 1, input__value=str(number), output__value=ANSWER)
        for number in (3, 1, 2)
    ]
    path = str(written(tmp_path, "s.json", json.dumps(document(*spans)).encode()))

    def asked(**options: Any) -> list[str | None]:
        return [item.question for item in open_source(path, **options) if isinstance(item, Sample)]

    assert asked() == ["1", "2", "3"]
    assert asked(since=START + 19) == ["2", "3"]
    assert asked(until=START + 19) == ["1"]
    assert asked(since="2026-09-21T14:13:39+00:00", until=START + 29) == ["2"]
    assert asked(limit=2) == ["1", "2"]
    with pytest.raises(InputError, match="since: expected a time"):
        asked(since="yesterday")
    with pytest.raises(InputError, match="limit: expected at least 1"):
        asked(limit=0)
    with pytest.raises(InputError, match="otel: expected the path of a file"):
        open_source("")
