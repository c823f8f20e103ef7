"""Exports of other systems, written into the folder of a page that reads them: one exchange each."""

from __future__ import annotations

import json
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

QUESTION, PASSAGE, ANSWER = "Why do cats purr?", "Cats purr when they are calm.", "Cats purr when calm."
RUN, SEARCH = "11111111-2222-4333-8444-555555555555", "11111111-2222-4333-8444-666666666666"
BEGAN, ENDED = "2026-11-20T12:00:00.000Z", "2026-11-20T12:00:02.000Z"


def _lines(name: str, *rows: dict[str, object]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def langsmith_runs() -> None:
    """`runs.jsonl`: a chain with its retriever."""
    common = {"trace_id": RUN, "start_time": BEGAN, "end_time": ENDED, "error": None}
    found = [{"page_content": PASSAGE, "metadata": {}, "type": "Document"}]
    _lines(
        "runs.jsonl",
        {**common, "id": RUN, "parent_run_id": None, "name": "rag", "run_type": "chain",
         "inputs": {"question": QUESTION}, "outputs": {"answer": ANSWER}},
        {**common, "id": SEARCH, "parent_run_id": RUN, "name": "search", "run_type": "retriever",
         "inputs": {"query": QUESTION}, "outputs": {"documents": found}},
    )  # fmt: skip


def langfuse_observations() -> None:
    """`observations.jsonl`: the same."""
    common = {"traceId": RUN.replace("-", ""), "startTime": BEGAN, "endTime": ENDED, "level": "DEFAULT"}
    _lines(
        "observations.jsonl",
        {**common, "id": "a" * 16, "parentObservationId": None, "type": "CHAIN", "name": "rag",
         "input": {"question": QUESTION}, "output": {"answer": ANSWER}},
        {**common, "id": "b" * 16, "parentObservationId": "a" * 16, "type": "RETRIEVER", "name": "search",
         "input": QUESTION, "output": [{"page_content": PASSAGE}]},
    )  # fmt: skip


def otel_spans() -> None:
    """`spans.jsonl`: the same, in OpenInference's conventions, as the SDK writes a span."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("page")
    with tracer.start_as_current_span("rag") as root:
        root.set_attributes({"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER})
        with tracer.start_as_current_span("search") as search:
            search.set_attributes({
                "openinference.span.kind": "RETRIEVER", "input.value": QUESTION,
                "retrieval.documents.0.document.content": PASSAGE,
            })  # fmt: skip
    _lines("spans.jsonl", *(json.loads(span.to_json()) for span in exporter.get_finished_spans()))
