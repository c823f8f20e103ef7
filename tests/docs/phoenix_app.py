"""The LangChain application, traced into the project `my-app` of the Phoenix server that the page names."""

from __future__ import annotations

from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from tests.docs.langchain_app import chain

provider = TracerProvider(resource=Resource({"openinference.project.name": "my-app"}))
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter("http://localhost:6006/v1/traces")))
LangChainInstrumentor().instrument(tracer_provider=provider)

__all__ = ["chain"]
