"""A real Phoenix server, and a LangChain application whose spans the OpenInference instrumentor sends there."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

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
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
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


@dataclass
class Application:
    """A RAG application that reports to one project of the server. `held`: spans are kept back until `release`."""

    url: str
    project: str = field(default_factory=lambda: f"cats-{uuid.uuid4().hex[:8]}")
    held: bool = False

    def __post_init__(self) -> None:
        self.memory = InMemorySpanExporter()
        self.exporter = OTLPSpanExporter(f"{self.url}/v1/traces")
        self.provider = TracerProvider(resource=Resource({"openinference.project.name": self.project}))
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))
        if not self.held:
            self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def ask(
        self, question: str = QUESTION, answer: str = ANSWER, retriever: Any = None, callbacks: Any = None
    ) -> Sample:
        """Run the chain once, instrumented; the sample of it, with the ids of its spans."""
        self.memory.clear()
        prompt = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")
        model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
        source = {"context": retriever or Shelf(), "question": RunnablePassthrough()}
        instrumentor = LangChainInstrumentor()
        instrumentor.instrument(tracer_provider=self.provider)
        try:
            chain = source | prompt | model | StrOutputParser()
            assert chain.invoke(question, config={"callbacks": callbacks}) == answer
        finally:
            instrumentor.uninstrument()
        contexts = tuple(Context(text=each.page_content, id=each.id) for each in DOCUMENTS)
        return Sample(question=question, contexts=contexts, answer=answer, ids=self.ids())

    def ids(self) -> dict[str, str]:
        """The ids of the last trace."""
        spans = self.memory.get_finished_spans()
        (root,) = (span for span in spans if span.parent is None)
        retrievers = [span for span in spans if (span.attributes or {}).get("openinference.span.kind") == "RETRIEVER"]
        found = {"otel_trace_id": f"{root.context.trace_id:032x}", "otel_span_id": f"{root.context.span_id:016x}"}
        return found | ({"otel_retriever_span_id": f"{retrievers[0].context.span_id:016x}"} if retrievers else {})

    def release(self) -> None:
        """Send the spans of the last trace."""
        assert self.exporter.export(self.memory.get_finished_spans()).name == "SUCCESS"

    def arrive(self) -> None:
        """Wait until the server has taken in the spans of the last trace: it does so after it has answered."""
        wanted = {f"{span.context.span_id:016x}" for span in self.memory.get_finished_spans()}
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            response = httpx.get(f"{self.url}/v1/projects/{quote(self.project, safe='')}/spans", params={"limit": 1000})
            spans = response.json()["data"] if response.status_code == 200 else []
            if wanted <= {span["context"]["span_id"] for span in spans}:
                return
            time.sleep(0.02)
        raise TimeoutError("the server does not take in the spans")

    def roots(self, count: int) -> list[dict[str, str]]:
        """The ids of so many traces of one span, sent together."""
        self.memory.clear()
        tracer = self.provider.get_tracer("app")
        for number in range(count):
            tracer.start_span(f"request {number}").end()
        spans: tuple[ReadableSpan, ...] = self.memory.get_finished_spans()
        if self.held:
            self.release()
        return [
            {"otel_trace_id": f"{span.context.trace_id:032x}", "otel_span_id": f"{span.context.span_id:016x}"}
            for span in spans
        ]


@dataclass
class Reader:
    """What the server holds, read through its own API."""

    url: str

    def annotations(self, sample: Sample, level: str = "span") -> list[dict[str, Any]]:
        """All annotations of the sample's span or trace, in whatever project it is."""
        target = sample.ids[f"otel_{level}_id"]
        for project in httpx.get(f"{self.url}/v1/projects").json()["data"]:
            response = httpx.get(
                f"{self.url}/v1/projects/{project['id']}/{level}_annotations",
                params={f"{level}_ids": target, "limit": 1000},
            )
            if response.status_code == 200:  # 404 where the project does not have it
                found: list[dict[str, Any]] = response.json()["data"]
                return found
        raise LookupError(f"no project has the {level} {target}")

    def one(self, sample: Sample, name: str, level: str = "span") -> dict[str, Any]:
        """The only annotation of that name."""
        (found,) = (each for each in self.annotations(sample, level) if each["name"] == name)
        return found

    def documents(self, span_id: str) -> list[dict[str, Any]]:
        """The annotations of a span's documents."""
        query = (
            "query($id: String!) { getSpanByOtelId(spanId: $id)"
            " { documentEvaluations { name documentPosition score label explanation annotatorKind } } }"
        )
        response = httpx.post(f"{self.url}/graphql", json={"query": query, "variables": {"id": span_id}})
        found: list[dict[str, Any]] = response.json()["data"]["getSpanByOtelId"]["documentEvaluations"]
        return sorted(found, key=lambda one: one["documentPosition"])

    def everything(self, sample: Sample) -> str:
        """All that was written about the sample's spans, as one text."""
        documents = self.documents(sample.ids["otel_retriever_span_id"])
        return json.dumps([self.annotations(sample), self.annotations(sample, "trace"), documents])


Score = Callable[..., ScoredSample]


@pytest.fixture(scope="session")
def url(phoenix_url: str) -> str:
    """The base URL of a Phoenix server."""
    return phoenix_url


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
    """An application that reports to a project of its own."""
    return apps()


@pytest.fixture
def reader(url: str) -> Reader:
    return Reader(url)


@pytest.fixture
def scored() -> Score:
    """Scores a sample with a judge that reads literally."""

    def score(sample: Sample, metrics: Any = "faithfulness", judge: str = "openai/model@host#1") -> ScoredSample:
        literal = ScriptedJudge(
            support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
            usefulness=lambda question, passage: "useless" not in passage,
            name=judge,
        )
        return asyncio.run(score_sample(sample, resolve_metrics(metrics), literal))

    return score
