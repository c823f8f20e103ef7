"""What other systems call the same query: the ids that scores are attached by, whoever listens first."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_llama_index import AssayInstrumentation
from assay_llama_index.ids import root_ids, span_ids
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import RetrieverTool
from llama_index_instrumentation import get_dispatcher

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, Caller, Kept, Shelf, engine, settled
from integrations.llama_index.tests.shapes.agents import ASK, calls
from integrations.llama_index.tests.shapes.chats import context

openinference = pytest.importorskip("openinference.instrumentation.llama_index")
export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
sdk = pytest.importorskip("opentelemetry.sdk.trace")


class Traced:
    """OpenInference's instrumentor, and the spans that it has exported."""

    def __init__(self) -> None:
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor

        self._exporter = export.InMemorySpanExporter()
        provider = sdk.TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("app")
        self._instrumentor = openinference.LlamaIndexInstrumentor()
        self._provider = provider

    def start(self) -> None:
        self._instrumentor.instrument(tracer_provider=self._provider)
        if not any(type(h).__module__.startswith("openinference") for h in get_dispatcher().span_handlers):
            pytest.skip("the instrumentor does not take this release of LlamaIndex")

    def stop(self) -> None:
        self._instrumentor.uninstrument()

    def ids(self, ending: str) -> tuple[str, str]:
        """Trace and span id of the one span whose name ends so."""
        (span,) = [span for span in self._exporter.get_finished_spans() if span.name.endswith(ending)]
        return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


@pytest.fixture(params=["theirs first", "ours first"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Traced, Kept]]:
    traced, kept = Traced(), Kept()
    assay = AssayInstrumentation(scorer=kept)
    for start in (traced.start, assay.attach) if request.param == "theirs first" else (assay.attach, traced.start):
        start()
    yield traced, kept
    assert settled(lambda: assay.health().open)
    assert not kept.errors
    assay.close()
    traced.stop()


def check(traced: Traced, kept: Kept, root: str, retriever: str) -> None:
    (sample,) = kept
    trace_id, span_id = traced.ids(root)
    assert (sample.ids["otel_trace_id"], sample.ids["otel_span_id"]) == (trace_id, span_id)
    assert traced.ids(retriever) == (trace_id, sample.ids["otel_retriever_span_id"])


def test_query(both):
    traced, kept = both
    engine().query(QUESTION)
    check(traced, kept, "Engine.query", "Shelf.retrieve")


def test_query_within_a_span_of_the_web_server(both):
    traced, kept = both
    with traced.tracer.start_as_current_span("POST /ask"):
        engine().query(QUESTION)
    check(traced, kept, "Engine.query", "Shelf.retrieve")


def test_stream(both):
    traced, kept = both
    assert str(engine(streaming=True).query(QUESTION)) == ANSWER
    check(traced, kept, "Engine.query", "Shelf.retrieve")


async def test_async_stream(both):
    traced, kept = both
    response = await engine(streaming=True).aquery(QUESTION)
    assert "".join([token async for token in response.response_gen]) == ANSWER
    check(traced, kept, "Engine.aquery", "Shelf.aretrieve")


def test_stream_that_is_left(both):
    traced, kept = both
    stream = engine(streaming=True).query(QUESTION).response_gen
    assert next(stream) == "Cats "
    stream.close()
    assert kept[0].status == "abandoned"
    check(traced, kept, "Engine.query", "Shelf.retrieve")


def test_chat(both):
    traced, kept = both
    context().chat(QUESTION)
    check(traced, kept, "Engine.chat", "Shelf.retrieve")


def test_agent(both):
    async def run():
        tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
        await FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))).run(user_msg=QUESTION)

    traced, kept = both
    asyncio.run(run())
    check(traced, kept, "FunctionAgent.run", "Shelf.aretrieve")


async def test_queries_at_once_keep_their_own_ids(both, caplog):
    traced, kept = both
    await asyncio.gather(*(engine().aquery(f"q{n}") for n in range(20)))
    spans = {
        span.attributes["input.value"]: f"{span.context.span_id:016x}"
        for span in traced._exporter.get_finished_spans()
        if span.name.endswith("Engine.aquery")
    }
    assert {sample.question: sample.ids["otel_span_id"] for sample in kept} == spans
    assert len(spans) == 20
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]


def test_without_an_instrumentor_the_span_that_is_going_on(kit, heard):
    tracer = sdk.TracerProvider().get_tracer("app")
    with tracer.start_as_current_span("POST /ask") as span:
        kit.engine().query(QUESTION)
    found = span.get_span_context()
    assert heard.one.ids == {
        "llama_index_span_id": heard.one.id,
        "otel_trace_id": f"{found.trace_id:032x}",
        "otel_span_id": f"{found.span_id:016x}",
    }


def test_with_nothing_going_on_there_are_no_ids(kit, heard):
    kit.engine().query(QUESTION)
    assert heard.one.ids == {"llama_index_span_id": heard.one.id}


def test_a_neighbour_that_breaks_loses_only_its_ids(kit, heard, monkeypatch):
    class Broken:
        open_spans = property(lambda self: 1 / 0)

    Broken.__module__ = "mlflow.llama_index.tracer"
    monkeypatch.setitem(sys.modules, "mlflow.llama_index.tracer", sys)
    monkeypatch.setattr(get_dispatcher(), "span_handlers", [*get_dispatcher().span_handlers, Broken()])
    kit.engine().query(QUESTION)
    (sample,) = heard
    assert (sample.answer, sample.ids) == (ANSWER, {"llama_index_span_id": sample.id})
    assert heard.errors["ZeroDivisionError"] >= 2


def test_ids_of_a_span_that_nobody_knows() -> None:
    assert span_ids("Nobody.knows-1") == {}
    assert root_ids("Nobody.knows-1", {"otel_trace_id": "t", "otel_span_id": "s"}) == {
        "otel_trace_id": "t",
        "otel_span_id": "s",
    }


MLFLOW = """
import sys, mlflow
from assay_llama_index import AssayInstrumentation
from llama_index.core.llms import MockLLM
from integrations.llama_index.tests.fakes import Kept, engine
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("cats")
kept = Kept()
first = AssayInstrumentation(scorer=kept).attach()
mlflow.llama_index.autolog()
last = AssayInstrumentation(scorer=kept).attach()
for streaming in (False, True):
    assert str(engine(llm=MockLLM(max_tokens=2), streaming=streaming).query("q")) == "text text"
    whoever_was_first, whoever_was_last = kept[-2].ids, kept[-1].ids
    assert whoever_was_first == whoever_was_last, kept
    if not streaming:  # MLflow does not end the trace of a stream, with or without us
        trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
        (root,) = [span for span in trace.data.spans if span.parent_id is None]
        assert kept[-1].ids["mlflow_trace_id"] == trace.info.trace_id, kept
        assert kept[-1].ids["mlflow_span_id"] == root.span_id, kept
assert len({sample.ids["mlflow_trace_id"] for sample in kept}) == 2, kept
assert not kept.errors, kept.errors
print("done")
"""


@pytest.mark.long
def test_mlflow(tmp_path: Path) -> None:
    pytest.importorskip("mlflow.llama_index")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MLFLOW, f"file://{tmp_path / 'store'}"],
        env={"PYTHONPATH": ":".join(sys.path), "MLFLOW_ALLOW_FILE_STORE": "true", "PATH": "/usr/bin:/bin",
             "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false", "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout.endswith("done\n"), done.stderr[-3000:]
