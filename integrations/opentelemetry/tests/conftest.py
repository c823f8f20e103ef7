"""The real instrumentors of OpenInference, exporting into memory and, where asked, to a real OTLP receiver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from integrations.opentelemetry.tests.receiver import receiver


class Exported:
    """The spans that an instrumentor has ended since the last `clear`."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    def clear(self) -> None:
        self.exporter.clear()

    def to_otlp(self, path: Path) -> Path:
        """The same spans, sent by the real exporter to a receiver that writes them to a file."""
        with receiver(path) as address:
            exporter = OTLPSpanExporter(endpoint=f"{address}/v1/traces")
            for span in self.spans:
                exporter.export([span])
            exporter.shutdown()
        return path


@pytest.fixture(scope="module")
def langchain_spans() -> Iterator[Exported]:
    """LangChain, instrumented."""
    from openinference.instrumentation.langchain import LangChainInstrumentor

    exported = Exported()
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=exported.provider)
    yield exported
    instrumentor.uninstrument()


@pytest.fixture(scope="module")
def llama_index_spans() -> Iterator[Exported]:
    """LlamaIndex, instrumented."""
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    exported = Exported()
    instrumentor = LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=exported.provider)
    yield exported
    instrumentor.uninstrument()
