"""Langfuse exports as samples: what Langfuse's own SDK sent, in every form in which it comes back."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import random
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from assay_langfuse.source import observations_to_samples, open_source, read_observations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langfuse import Langfuse
from langfuse.langchain import CallbackHandler
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.sdk.trace import TracerProvider
from pyarrow import parquet

from assay.data import RowError
from assay.errors import InputError
from assay.records import Sample
from tests._support.servers.langfuse_server import SECRET, LangfuseServer
from tests._support.servers.rag_chains import ANSWER, PASSAGES, QUESTION, Broken, agent, rag

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def trace() -> Iterator[Callable[..., Records]]:
    """Runs a chain under the real SDK, and gives the observations as the API would give them back."""
    key = f"pk-lf-{uuid.uuid4()}"
    with LangfuseServer(key) as server:
        # a provider of its own: else it would make itself the whole process's
        client = Langfuse(public_key=key, secret_key=SECRET, base_url=server.url, tracer_provider=TracerProvider())

        def run(chain: Any, value: Any = QUESTION, **config: Any) -> Records:
            server.spans.clear()
            with contextlib.suppress(ConnectionError):
                chain.invoke(value, config={"callbacks": [CallbackHandler(public_key=key)], **config})
            client.flush()
            assert server.problems == []
            return [observation for body in server.spans for observation in _observations(body)]

        yield run
        client.shutdown()
        client.api._client_wrapper.httpx_client.httpx_client.close()  # the SDK leaves it open


@pytest.fixture(scope="module")
def recorded(trace: Callable[..., Records]) -> Records:
    return trace(rag(), metadata={"langfuse_session_id": "s1"}, tags=["blue"])


def one(items: Iterator[Sample | RowError]) -> Sample:
    (found,) = list(items)
    assert isinstance(found, Sample), found
    return found


def is_the_exchange(sample: Sample, records: Records) -> None:
    root = next(record for record in records if record["parentObservationId"] is None)
    assert (sample.question, sample.answer, sample.status) == (QUESTION, ANSWER, "complete")
    assert sample.passages == PASSAGES
    assert [context.in_prompt for context in sample.contexts or ()] == [True, True]
    assert [context.id for context in sample.contexts or ()] == ["d1", "d2"]
    assert sample.ids["langfuse_trace_id"] == sample.ids["otel_trace_id"] == root["traceId"]
    assert sample.ids["langfuse_observation_id"] == sample.ids["otel_span_id"] == root["id"]


def test_observations_as_the_api_gives_them(recorded: Records, tmp_path: Path) -> None:
    path = tmp_path / "observations.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in recorded))
    sample = one(read_observations(path))
    is_the_exchange(sample, recorded)
    assert sample.contexts
    assert dict(sample.contexts[0].metadata) == {"page": 3, "tags": ["cat"]}
    assert sample.metadata["session_id"] == "s1"


@pytest.mark.parametrize("kind", ["json", "page", "jsonl.gz", "csv", "parquet", "trace"])
def test_every_kind_of_file(recorded: Records, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"observations.{kind}"
    if kind == "json":
        path.write_text(json.dumps(recorded))
    elif kind == "page":
        path = tmp_path / "observations.json"
        path.write_text(json.dumps({"data": recorded, "meta": {"page": 1}}))
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, recorded)).encode()))
    elif kind == "trace":
        path = tmp_path / "trace.json"
        path.write_text(json.dumps(_trace(recorded), indent=2))
    else:
        _table(recorded, path)
    is_the_exchange(one(read_observations(path)), recorded)


def test_names_with_underscores(recorded: Records) -> None:
    """As the scheduled export to a blob storage writes them."""
    snake = [{re.sub(r"([A-Z])", r"_\1", name).lower(): value for name, value in one.items()} for one in recorded]
    assert {"trace_id", "parent_observation_id", "start_time"} <= set(snake[0])
    is_the_exchange(one(observations_to_samples(snake)), recorded)


def test_a_trace_gives_its_root_what_that_lacks(recorded: Records) -> None:
    told = [{**record, "input": None, "output": None} if _is_root(record) else record for record in recorded]
    found = one(observations_to_samples([{**_trace(told), "input": QUESTION, "output": ANSWER}]))
    is_the_exchange(found, recorded)


def test_a_trace_of_several_observations_is_itself_the_exchange(recorded: Records) -> None:
    """As an application makes it that traces retrieval and generation one after the other."""
    parts = [{**r, "parentObservationId": None} for r in recorded if r["type"] in ("RETRIEVER", "GENERATION")]
    assert len(parts) == 2
    sample = one(observations_to_samples([{**_trace(parts), "input": {"question": QUESTION}, "output": ANSWER}]))
    assert (sample.question, sample.answer, sample.passages) == (QUESTION, ANSWER, PASSAGES)
    assert sample.ids["langfuse_trace_id"] == recorded[0]["traceId"]
    assert "langfuse_observation_id" not in sample.ids
    assert not any(name.startswith("otel_") for name in sample.ids)
    assert sample.metadata["session_id"] == "s1"


def test_ids_of_older_sdks_are_no_ids_of_opentelemetry(recorded: Records) -> None:
    text = json.dumps(recorded).replace(recorded[0]["traceId"], "cdef-1234-5678-90ab")
    sample = one(observations_to_samples(json.loads(text)))
    assert sample.ids["langfuse_trace_id"] == "cdef-1234-5678-90ab"
    assert "otel_trace_id" not in sample.ids
    assert sample.passages == PASSAGES


def test_an_agent_with_a_tool_that_attaches_documents(trace: Callable[..., Records]) -> None:
    records = trace(agent(), {"messages": [{"role": "user", "content": QUESTION}]})
    sample = one(observations_to_samples(records))
    assert (sample.question, sample.answer, sample.passages) == (QUESTION, ANSWER, PASSAGES)


def test_a_failure_is_told_by_its_type_at_most(trace: Callable[..., Records]) -> None:
    sample = one(observations_to_samples(trace(rag(Broken()))))
    assert sample.status == "failed"
    assert sample.contexts is None
    assert sample.metadata["no_context"] == "the retriever failed"
    assert "Lovelace" not in json.dumps(sample.to_dict())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), in_memory=st.integers(1, 60), again=st.integers(0, 5))
def test_order_and_repetition_do_not_matter(recorded: Records, seed: int, in_memory: int, again: int) -> None:
    records = [record for n in range(5) for record in _renamed(recorded, n)]
    records += records[:again]
    random.Random(seed).shuffle(records)
    found = list(observations_to_samples(records, in_memory=in_memory))
    assert sorted(item.ids["langfuse_trace_id"][:8] for item in found if isinstance(item, Sample)) == [
        f"{n:08d}" for n in range(5)
    ]
    assert all(isinstance(item, Sample) and item.passages == PASSAGES for item in found)


def test_bad_lines_lose_nothing_else(recorded: Records, tmp_path: Path) -> None:
    lines = [json.dumps(record) for record in recorded]
    lines[1:1] = ['{"id": "torn', json.dumps({**recorded[0], "id": "x", "startTime": "noon"}), json.dumps({"x": 1})]
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(lines))
    found = list(read_observations(path))
    errors = [item.message for item in found if isinstance(item, RowError)]
    assert len(errors) == 3
    assert "line 2 is no JSON" in errors[0]
    assert "startTime: expected" in errors[1]
    assert "expected a trace or an observation with an id" in errors[2]
    is_the_exchange(next(item for item in found if isinstance(item, Sample)), recorded)


def test_an_address_with_limits(recorded: Records, tmp_path: Path) -> None:
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(json.dumps(record) for n in range(4) for record in _renamed(recorded, n)))
    assert len(list(open_source(str(path)))) == 4
    assert len(list(open_source(str(path), limit=3))) == 3
    assert len(list(open_source(str(path), since="2999-01-01"))) == 0
    with pytest.raises(InputError, match="limit"):
        open_source(str(path), limit=0)
    with pytest.raises(InputError, match="langfuse: expected the path"):
        open_source("")


# ---- what the server makes of the SDK's spans ----


def _observations(body: bytes) -> Iterator[dict[str, Any]]:
    data = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    for of_resource in ExportTraceServiceRequest.FromString(data).resource_spans:
        for scope in of_resource.scope_spans:
            for span in scope.spans:
                told = {one.key: _plain(one.value) for one in span.attributes}
                metadata = {
                    key.removeprefix("langfuse.observation.metadata."): _json(value)
                    for key, value in told.items()
                    if key.startswith("langfuse.observation.metadata.")
                }
                yield {
                    "id": span.span_id.hex(),
                    "traceId": span.trace_id.hex(),
                    "parentObservationId": span.parent_span_id.hex() or None,
                    "type": told.get("langfuse.observation.type", "span").upper(),
                    "name": span.name,
                    "startTime": _iso(span.start_time_unix_nano),
                    "endTime": _iso(span.end_time_unix_nano),
                    "input": _json(told.get("langfuse.observation.input")),
                    "output": _json(told.get("langfuse.observation.output")),
                    "metadata": metadata,
                    "level": told.get("langfuse.observation.level", "DEFAULT"),
                    "statusMessage": told.get("langfuse.observation.status_message"),
                    "sessionId": told.get("session.id"),
                }


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return [_plain(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, str(kind))


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _iso(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat().replace("+00:00", "Z")


def _is_root(record: dict[str, Any]) -> bool:
    return record["parentObservationId"] is None


def _trace(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        **{"id": records[0]["traceId"], "timestamp": records[0]["startTime"], "name": "rag", "sessionId": "s1"},
        **{"tags": ["blue"], "metadata": {}, "observations": records, "scores": []},
    }


def _renamed(records: Sequence[dict[str, Any]], n: int) -> Records:
    text = json.dumps(records).replace(records[0]["traceId"], f"{n:08d}{records[0]['traceId'][8:]}")
    renamed: Records = json.loads(text)
    return renamed


def _table(records: Sequence[dict[str, Any]], path: Path) -> None:
    """A row per observation, structures as texts of JSON."""
    names = list(records[0])
    rows = [
        {name: json.dumps(one[name]) if isinstance(one[name], (dict, list)) else one[name] for name in names}
        for one in records
    ]
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    else:
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.mark.parametrize("name", ["expectedOutput", "expected_output"])
@pytest.mark.parametrize(
    ("expected", "reference"),
    [
        ({"answer": "Two days."}, "Two days."), ('{"answer": "Two days."}', "Two days."), ("Two days.", "Two days."),
        ({"days": "Two."}, "Two."), (None, None), ("", None), ({}, None),
    ],
)  # fmt: skip
def test_the_expected_output_is_the_reference(name: str, expected: Any, reference: str | None) -> None:
    """As exports of traces and of the items of data sets have it."""
    trace = {"id": "t", "timestamp": "2026-03-04T08:15:00Z", "input": {"query": "How long?"},
             "output": {"answer": "Two days."}, "metadata": {"release": "b2"}, name: expected}  # fmt: skip
    (sample,) = observations_to_samples([trace])
    assert isinstance(sample, Sample)
    assert (sample.reference, sample.metadata["release"]) == (reference, "b2")
    assert not any("expected" in key for key in sample.metadata)
