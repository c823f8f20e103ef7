"""A FastAPI application with a span of the server around each request, the chain below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from assay_opentelemetry import spans_to_samples
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from opentelemetry.trace import SpanKind

from assay.records import Sample
from integrations.langchain.tests.shapes.parts import rag
from integrations.opentelemetry.tests.conftest import Exported


def application(exported: Exported) -> FastAPI:
    app = FastAPI()
    tracer = exported.provider.get_tracer("server")
    chain = rag()

    @app.middleware("http")
    async def traced(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        name, attributes = f"{request.method} {request.url.path}", {"http.request.method": request.method}
        with tracer.start_as_current_span(name, kind=SpanKind.SERVER, attributes=attributes):
            return await call_next(request)

    @app.get("/ask")
    async def ask(question: str) -> dict[str, Any]:
        return {"answer": await chain.ainvoke(question)}

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "fine"}

    return app


def test_the_sample_is_the_chain_below_the_server(langchain_spans: Exported) -> None:
    langchain_spans.clear()
    with TestClient(application(langchain_spans)) as client:
        answered = client.get("/ask", params={"question": "Why do cats purr?"}).json()["answer"]
        client.get("/health")
    spans = langchain_spans.spans
    servers = [span for span in spans if span.kind is SpanKind.SERVER]
    assert len(servers) == 2
    (root,) = (span for span in spans if span.parent is not None and span.parent == servers[0].get_span_context())
    (one,) = spans_to_samples(spans)
    assert isinstance(one, Sample)
    assert (one.question, one.answer) == ("Why do cats purr?", answered)
    assert [context.in_prompt for context in one.contexts or ()] == [True, True]
    assert one.ids["otel_span_id"] == f"{root.get_span_context().span_id:016x}"
    assert one.ids["otel_trace_id"] == f"{servers[0].get_span_context().trace_id:032x}"
