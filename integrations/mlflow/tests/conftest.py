"""A real MLflow server, and LangChain applications that report to it: over OTLP, and through MLflow's own autolog."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from assay.evaluation.score_sample import score_sample
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.names import resolve_metrics
from assay.records import Context, Sample, ScoredSample

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm. They also sing."
DOCUMENTS = (
    Document(id="d1", page_content="Cats purr when calm.", metadata={"page": 3}),
    Document(id="d2", page_content="A useless remark.", metadata={"source": "cats.txt"}),
)


class Shelf(BaseRetriever):
    """Returns its documents, whatever is asked."""

    documents: tuple[Document, ...] = DOCUMENTS

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(self.documents)


def chain(answer: str = ANSWER, retriever: Any = None) -> Any:
    """The LCEL chain of the documentation, around a model that gives one answer."""
    prompt = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")
    model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
    source = {"context": retriever or Shelf(), "question": RunnablePassthrough()}
    return source | prompt | model | StrOutputParser()


@dataclass
class Application:
    """A RAG application that reports to one experiment. `held`: spans are kept back until `release`."""

    url: str
    held: bool = False
    experiment: str = field(default_factory=lambda: f"cats-{uuid.uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        created = httpx.post(f"{self.url}/api/2.0/mlflow/experiments/create", json={"name": self.experiment})
        self.experiment_id: str = created.json()["experiment_id"]
        self.memory = InMemorySpanExporter()
        headers = {"x-mlflow-experiment-id": self.experiment_id}
        self.exporter = OTLPSpanExporter(f"{self.url}/v1/traces", headers=headers)
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))

    def ask(
        self, question: str = QUESTION, answer: str = ANSWER, retriever: Any = None, callbacks: Any = None
    ) -> Sample:
        """Run the chain once, instrumented; the sample of it, with the ids of its root span."""
        self.memory.clear()
        instrumentor = LangChainInstrumentor()
        instrumentor.instrument(tracer_provider=self.provider)
        try:
            assert chain(answer, retriever).invoke(question, config={"callbacks": callbacks}) == answer
        finally:
            instrumentor.uninstrument()
        if not self.held:
            self.release()
        (root,) = (span for span in self.memory.get_finished_spans() if span.parent is None)
        ids = {"otel_trace_id": f"{root.context.trace_id:032x}", "otel_span_id": f"{root.context.span_id:016x}"}
        contexts = tuple(Context(text=each.page_content, id=each.id) for each in DOCUMENTS)
        return Sample(question=question, contexts=contexts, answer=answer, ids=ids)

    def release(self) -> None:
        """Send the spans that have ended."""
        assert self.exporter.export(self.memory.get_finished_spans()).name == "SUCCESS"

    def roots(self, count: int) -> list[dict[str, str]]:
        """The ids of so many traces of one span, sent together."""
        self.memory.clear()
        tracer = self.provider.get_tracer("app")
        for number in range(count):
            tracer.start_span(f"request {number}").end()
        self.release()
        spans = self.memory.get_finished_spans()
        return [{"otel_trace_id": f"{span.context.trace_id:032x}"} for span in spans]


@dataclass
class Reader:
    """What the server holds, read with MLflow's own client."""

    url: str

    def __post_init__(self) -> None:
        from mlflow import MlflowClient

        self.client = MlflowClient(self.url)

    def assessments(self, sample: Sample) -> list[Any]:
        """All assessments of the sample's trace."""
        trace_id = sample.ids.get("mlflow_trace_id") or f"tr-{sample.ids['otel_trace_id']}"
        found: list[Any] = self.client.get_trace(trace_id, display=False).info.assessments
        return found

    def one(self, sample: Sample, name: str = "faithfulness") -> Any:
        """The only assessment of that name."""
        (found,) = (each for each in self.assessments(sample) if each.name == name)
        return found

    def everything(self, sample: Sample) -> str:
        """All that was written about the sample's trace, as one text."""
        return json.dumps([each.to_dictionary() for each in self.assessments(sample)])


@pytest.fixture(scope="session")
def url(mlflow_url: str) -> str:
    """The tracking URI of an MLflow server."""
    return mlflow_url


@pytest.fixture
def apps(url: str) -> Iterator[Callable[..., Application]]:
    """Makes applications."""
    with contextlib.ExitStack() as stack:

        def make(**options: Any) -> Application:
            application = Application(url, **options)
            stack.callback(application.provider.shutdown)
            return application

        yield make


@pytest.fixture
def app(apps: Callable[..., Application]) -> Application:
    """An application that reports to an experiment of its own."""
    return apps()


@pytest.fixture
def reader(url: str) -> Reader:
    return Reader(url)


@pytest.fixture
def scored() -> Callable[..., ScoredSample]:
    """Scores a sample with a judge that reads literally."""

    def score(sample: Sample, metrics: Any = "faithfulness", judge: str = "openai/model@host#1") -> ScoredSample:
        literal = ScriptedJudge(
            support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
            usefulness=lambda question, passage: "useless" not in passage,
            name=judge,
        )
        return asyncio.run(score_sample(sample, resolve_metrics(metrics), literal))

    return score


@pytest.fixture(scope="session")
def autologged(url: str) -> dict[str, Any]:
    """Three exchanges of an application under `mlflow.langchain.autolog`: see `autologged_app`."""
    return run_autologged(url)


def run_autologged(url: str, *options: str) -> dict[str, Any]:
    """Run `autologged_app` in a process of its own; what it prints."""
    result = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("autologged_app.py")), url, *options],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


@pytest.fixture
def autologged_and_scored(url: str) -> dict[str, Any]:
    """The same, scored while it runs by a handler of assay with an MLflow sink."""
    return run_autologged(url, "scored")
