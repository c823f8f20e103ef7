"""CPU per request with the handlers of several tools attached in turn; run by `bench_rivals` where all are installed.

    python -m tests.benchmarks.rivals_worker langchain|llama_index ROUNDS

Prints one JSON object: for each variant the microseconds of the host's own thread and of the whole process per request,
as medians over rounds in which every variant had its turn.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1", "CONFIDENT_TRACE_FLUSH": "NO"}

Variant = Callable[[], Any]  # a context manager around one request; gives the callbacks to pass, if any


def _provider() -> Any:
    """An OpenTelemetry provider that exports in the background, to nowhere."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Nowhere(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    return provider


@contextlib.contextmanager
def _instrumented(instrumentor: Any, provider: Any) -> Iterator[list[Any]]:
    instrumentor.instrument(tracer_provider=provider)
    try:
        yield []
    finally:
        instrumentor.uninstrument()


def langchain() -> tuple[Callable[[list[Any]], Any], dict[str, Variant]]:
    from deepeval.integrations.langchain import CallbackHandler
    from openinference.instrumentation.langchain import LangChainInstrumentor

    from tests.benchmarks.bench_langchain import TEXT, Silent, chain, handler

    pipeline, assay, provider = chain(), handler(), _provider()
    variants: dict[str, Variant] = {
        "no handler": lambda: contextlib.nullcontext([]),
        "a handler that does nothing": lambda: contextlib.nullcontext([Silent()]),
        "assay": lambda: contextlib.nullcontext([assay]),
        "OpenInference": lambda: _instrumented(LangChainInstrumentor(), provider),
        "DeepEval": lambda: contextlib.nullcontext([CallbackHandler()]),
    }
    return lambda callbacks: pipeline.invoke(TEXT, config={"callbacks": callbacks}), variants


def llama_index() -> tuple[Callable[[list[Any]], Any], dict[str, Variant]]:
    from deepeval.integrations.llama_index.handler import LLamaIndexHandler
    from llama_index_instrumentation import get_dispatcher
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    from tests.benchmarks.bench_llama_index import TEXT, Silent, engine, instrumentation

    @contextlib.contextmanager
    def attached(make: Callable[[], Any]) -> Iterator[list[Any]]:
        made = make()
        made.attach()
        try:
            yield []
        finally:
            made.detach()

    class DeepEval:
        def attach(self) -> None:
            self.handler = LLamaIndexHandler()
            get_dispatcher().add_event_handler(self.handler)
            get_dispatcher().add_span_handler(self.handler)

        def detach(self) -> None:
            root = get_dispatcher()
            root.event_handlers = [one for one in root.event_handlers if one is not self.handler]
            root.span_handlers = [one for one in root.span_handlers if one is not self.handler]

    queries, assay, provider = engine(), instrumentation(), _provider()
    variants: dict[str, Variant] = {
        "no handler": lambda: contextlib.nullcontext([]),
        "handlers that do nothing": lambda: attached(Silent),
        "assay": lambda: attached(lambda: assay),
        "OpenInference": lambda: _instrumented(LlamaIndexInstrumentor(), provider),
        "DeepEval": lambda: attached(DeepEval),
    }
    return lambda callbacks: queries.query(TEXT[:500]), variants


def measure(run: Callable[[list[Any]], Any], variants: dict[str, Variant], rounds: int, warm: int = 20) -> Any:
    """Medians over the rounds, by variant: host thread and whole process, in µs per request."""
    names = list(variants)
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for number in range(rounds + warm):
        for position in range(len(names)):
            name = names[(number + position) % len(names)]
            with variants[name]() as callbacks:
                thread, process = time.thread_time_ns(), time.process_time_ns()
                run(callbacks)
                took = (time.thread_time_ns() - thread) / 1000, (time.process_time_ns() - process) / 1000
            if number >= warm:
                spent[name].append(took)
    return {
        name: {
            "thread": statistics.median(took[0] for took in times),
            "process": statistics.fmean(took[1] for took in times),
        }
        for name, times in spent.items()
    }


if __name__ == "__main__":
    make = {"langchain": langchain, "llama_index": llama_index}[sys.argv[1]]
    result = measure(*make(), int(sys.argv[2]))
    sys.stdout.write("\n" + json.dumps(result) + "\n")
    sys.stdout.flush()
    os._exit(0)  # other tools' exit handlers would try to send what they have collected
