"""A sample says what other systems call its run: OpenTelemetry's spans, LangSmith, Langfuse, MLflow."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import assay_langchain
import pytest

QUESTION = "Why do cats purr?"
ROOT = Path(__file__).parents[3]


def beside(library: str) -> Any:
    """What the chains in `neighbours` gave with this library beside the handler."""
    pytest.importorskip(library)
    command = [sys.executable, "-W", "ignore", "-m", "integrations.langchain.tests.neighbours", library]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture
def spans() -> Iterator[Callable[[], dict[str, Any]]]:
    """OpenInference's instrumentor at work; the spans it finished, by id."""
    instrumentation = pytest.importorskip("openinference.instrumentation.langchain")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = instrumentation.LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)

    def finished() -> dict[str, Any]:
        return {f"{span.context.span_id:016x}": span for span in exporter.get_finished_spans()}

    finished.provider = provider  # type: ignore[attr-defined]
    yield finished
    instrumentor.uninstrument()


def in_config(kit: Any, it: Any) -> None:
    kit.rag().invoke(QUESTION, config=it.config)


def in_a_block(kit: Any, it: Any) -> None:
    with assay_langchain.capture(it.handler):
        kit.rag().invoke(QUESTION)


def streamed(kit: Any, it: Any) -> None:
    list(kit.rag().stream(QUESTION, config=it.config))


def left_early(kit: Any, it: Any) -> None:
    stream = kit.rag().stream(QUESTION, config=it.config)
    next(stream)
    stream.close()


def awaited(kit: Any, it: Any) -> None:
    asyncio.run(kit.rag().ainvoke(QUESTION, config=it.config))


@pytest.mark.parametrize("run", [in_config, in_a_block, streamed, left_early, awaited])
def test_spans_of_openinference(captured: Any, kit: Any, spans: Any, run: Any) -> None:
    it = captured()
    run(kit, it)
    ids = it.sample.ids
    span, retriever = spans()[ids["otel_span_id"]], spans()[ids["otel_retriever_span_id"]]
    assert (span.name, retriever.name) == ("RunnableSequence", "Shelf")
    assert f"{span.context.trace_id:032x}" == f"{retriever.context.trace_id:032x}" == ids["otel_trace_id"]
    assert it.handler.health().errors == {}


def test_the_span_of_the_chain_and_not_that_of_the_server_around_it(captured: Any, kit: Any, spans: Any) -> None:
    it = captured()
    with spans.provider.get_tracer("server").start_as_current_span("GET /") as server:
        in_config(kit, it)
    ids = it.sample.ids
    assert spans()[ids["otel_span_id"]].name == "RunnableSequence"
    assert ids["otel_trace_id"] == f"{server.get_span_context().trace_id:032x}"


def test_the_span_that_is_going_on_where_nothing_is_instrumented(captured: Any, kit: Any) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    it = captured()
    with sdk.TracerProvider().get_tracer("server").start_as_current_span("GET /") as server:
        in_config(kit, it)
    in_config(kit, it)
    context = server.get_span_context()
    inside, outside = sorted((sample.ids for sample in it.samples), key=len, reverse=True)
    assert inside["otel_span_id"] == f"{context.span_id:016x}"
    assert inside["otel_trace_id"] == f"{context.trace_id:032x}"
    assert list(outside) == ["langchain_run_id"]


def test_two_retrievers_have_no_one_span(captured: Any, kit: Any, spans: Any) -> None:
    it = captured()
    kit.rag(kit.Shelf() | (lambda found: found + kit.Shelf().invoke("more"))).invoke(QUESTION, config=it.config)
    assert "otel_retriever_span_id" not in it.sample.ids
    assert "otel_span_id" in it.sample.ids


@pytest.mark.long
def test_ids_of_langfuse() -> None:
    found = beside("langfuse")
    for name in ("before ours", "after ours", "async", "inside an observation"):
        assert found[name]["observation"] == "RunnableSequence", name
        assert [found[name]["ids"]["langfuse_trace_id"]] == found[name]["traces"], name
    alone = found["model alone"]
    assert [alone["ids"]["langfuse_trace_id"]] == alone["traces"]
    assert "langfuse_trace_id" not in found["not attached"]["ids"]


@pytest.mark.long
def test_ids_of_mlflow() -> None:
    found = beside("mlflow")
    for name in ("sync", "async"):
        ids = found[name]["ids"]
        assert found[name]["roots"] == [["RunnableSequence", ids["mlflow_span_id"]]], name
        assert ids["mlflow_trace_id"].startswith("tr-")
    assert [name for name, _ in found["model alone"]["roots"]] == ["FakeModel"]


@pytest.mark.long
def test_ids_of_langsmith() -> None:
    found = beside("langsmith")
    for name in ("sync", "async", "model alone", "its own tracer", "config by hand"):
        ids = found[name]["ids"]
        assert ids["langsmith_run_id"] == ids["langsmith_trace_id"] == ids["langchain_run_id"], name
    inside = found["inside a traced function"]
    assert inside["ids"]["langsmith_run_id"] == inside["ids"]["langchain_run_id"]
    assert [inside["ids"]["langsmith_trace_id"]] == inside["above"]
    assert list(found["switched off"]["ids"]) == ["langchain_run_id"]


def test_a_library_that_misbehaves_loses_its_ids_alone(captured: Any, kit: Any, spans: Any, monkeypatch: Any) -> None:
    from openinference.instrumentation.langchain import LangChainInstrumentor

    def fail(run_id: Any) -> None:
        raise RuntimeError("no spans today")

    tracer = LangChainInstrumentor()._tracer
    monkeypatch.setattr(type(tracer), "get_span", lambda self, run_id: fail(run_id))
    it = captured()
    in_config(kit, it)
    assert it.sample.answer == "Cats purr when calm."
    assert list(it.sample.ids) == ["langchain_run_id"]
    # asked at the start and the end of the root, and of the retriever
    assert it.handler.health().errors == {"RuntimeError": 4}
