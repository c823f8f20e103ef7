"""OpenTelemetry events: below the judged span, by the conventions' names, and counted when they do not arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from assay_opentelemetry.sink import OpenTelemetrySink, open_sink
from opentelemetry import trace
from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from assay.errors import InputError, Undelivered
from assay.records import Score, ScoredSample
from assay.sinks import Receipt
from assay.testing.bench import exchange
from tests._support.servers.otlp_receiver import HEADER, KEY, OtlpReceiver

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
IDS = {"otel_trace_id": TRACE, "otel_span_id": SPAN}


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as server:
        yield server


def sink(receiver: OtlpReceiver, **options: Any) -> OpenTelemetrySink:
    return OpenTelemetrySink(endpoint=receiver.url, headers={HEADER: KEY}, timeout=3.0, **options)


def test_an_event_is_a_child_of_the_judged_span(receiver: OtlpReceiver) -> None:
    with TracerProvider().get_tracer("t").start_as_current_span("another span that is current"):
        sink(receiver).write(exchange(IDS))
    measured, other, error = receiver.records
    assert {(one["event"], one["trace"], one["span"]) for one in receiver.records} == {
        ("gen_ai.evaluation.result", TRACE, SPAN)
    }
    attributes = measured["attributes"]
    assert attributes["gen_ai.evaluation.name"] == "faithfulness"
    assert attributes["gen_ai.evaluation.score.value"] == 0.5
    assert attributes["gen_ai.evaluation.explanation"].startswith("faithfulness = 0.500")
    assert attributes["assay.judge"] == "judge-a"
    assert "error.type" not in attributes
    assert "gen_ai.evaluation.score.label" not in attributes
    assert other["attributes"]["gen_ai.evaluation.score.value"] == 0.0
    assert error["attributes"]["error.type"] == "timeout"
    assert error["attributes"]["gen_ai.evaluation.score.label"] == "failed"
    assert "gen_ai.evaluation.score.value" not in error["attributes"]
    assert receiver.problems == []


def test_where_the_span_is_not_known_the_response_id_says_what_was_judged(receiver: OtlpReceiver) -> None:
    with TracerProvider().get_tracer("t").start_as_current_span("another span that is current"):
        sink(receiver).write(exchange({"gen_ai_response_id": "chatcmpl-7", "otel_trace_id": TRACE}))
    assert {(one["trace"], one["span"]) for one in receiver.records} == {("", "")}
    assert {one["attributes"]["gen_ai.response.id"] for one in receiver.records} == {"chatcmpl-7"}
    assert {one["attributes"]["assay.id.otel_trace_id"] for one in receiver.records} == {TRACE}


def test_another_systems_metric_keeps_its_name(receiver: OtlpReceiver) -> None:
    name = "ragas:faithfulness@original"
    told = ScoredSample(sample=exchange(IDS).sample, scores={name: Score(metric=name, value=0.75, judge="judge-a")})
    assert sink(receiver).write(told).sent == 1
    (record,) = receiver.records
    assert record["attributes"]["gen_ai.evaluation.name"] == name
    assert receiver.problems == []


@pytest.mark.parametrize("ids", [{"otel_trace_id": "0" * 32, "otel_span_id": SPAN}, {"otel_span_id": SPAN}, {}])
def test_ids_that_are_none_have_no_place(receiver: OtlpReceiver, ids: dict[str, str]) -> None:
    assert sink(receiver).write(exchange(ids)) == Receipt(skipped=3)
    assert receiver.requests == []


def test_what_the_receiver_rejects_in_part_is_undelivered(receiver: OtlpReceiver) -> None:
    """The exporter calls a partial success a success."""
    receiver.rejects = 1
    with pytest.raises(Undelivered, match="rejects 1 of 3") as caught:
        sink(receiver).write(exchange(IDS))
    assert len(caught.value.scores) == 3
    assert len(receiver.writes) == 1


def test_the_provider_of_the_application_is_used(receiver: OtlpReceiver) -> None:
    provider = LoggerProvider(shutdown_on_exit=False)
    exporter = OTLPLogExporter(endpoint=receiver.url + "/v1/logs", headers={HEADER: KEY})
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter, schedule_delay_millis=60_000))
    one = OpenTelemetrySink(provider)
    assert one.write(exchange(IDS)) == Receipt(sent=3)
    assert len(receiver.records) == 3  # flushed with the write, not after a minute
    one.close()
    provider.shutdown()


@pytest.mark.parametrize("provider", [None, NoOpLoggerProvider()])
def test_scores_do_not_vanish_where_nobody_listens(provider: Any) -> None:
    """Without a provider the API takes events and drops them."""
    with pytest.raises(Undelivered, match="no logger provider is set up") as caught:
        OpenTelemetrySink(provider).write(exchange(IDS))
    assert len(caught.value.scores) == 3


def test_a_span_of_this_process_is_found_again(receiver: OtlpReceiver) -> None:
    with TracerProvider().get_tracer("t").start_as_current_span("rag") as span:
        context = span.get_span_context()
    ids = {
        "otel_trace_id": trace.format_trace_id(context.trace_id),
        "otel_span_id": trace.format_span_id(context.span_id),
    }
    sink(receiver).write(exchange(ids))
    assert {one["span"] for one in receiver.records} == {ids["otel_span_id"]}


@pytest.mark.parametrize("path", ["", "/", "/v1/logs", "/v1/logs/"])
def test_an_address_may_name_the_path_or_not(receiver: OtlpReceiver, path: str) -> None:
    one = OpenTelemetrySink(endpoint=receiver.url + path, headers={HEADER: KEY}, patience=0.5, attempts=1)
    if path == "/v1/logs/":  # taken as it is
        with pytest.raises(Undelivered):
            one.write(exchange(IDS))
        return
    assert one.write(exchange(IDS)) == Receipt(sent=3)
    assert receiver.requests[0].path == "/v1/logs"


def test_the_environment_names_the_receiver(receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"{HEADER}={KEY}")
    assert open_sink("").write(exchange(IDS)) == Receipt(sent=3)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InputError, match=r"^endpoint: "):
        OpenTelemetrySink(endpoint="localhost:4317")
    with pytest.raises(InputError, match=r"^endpoint: "):
        OpenTelemetrySink(LoggerProvider(shutdown_on_exit=False), endpoint="http://localhost:4318")
    with pytest.raises(InputError, match=r"^headers: "):
        OpenTelemetrySink(headers={"a": "b"})
    with pytest.raises(InputError, match=r"^timeout: "):
        OpenTelemetrySink(endpoint="http://localhost:4318", timeout=0)
