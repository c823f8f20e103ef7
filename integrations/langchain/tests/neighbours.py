"""Runs chains with another observability library beside the handler, and prints what it and the samples say, as JSON.

    python -m integrations.langchain.tests.neighbours langfuse|mlflow|langsmith

These libraries patch and configure their process for good, so each gets one of its own. Nothing leaves the machine:
the addresses they are given do not answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from assay_langchain import AssayCallbackHandler

from assay.judges.scripted_judge import ScriptedJudge
from assay.sinks import MemorySink
from integrations.langchain.tests.shapes.base import QUESTION
from integrations.langchain.tests.shapes.parts import model, rag

NOWHERE = "http://127.0.0.1:9"


def ids_of(run: Callable[[Any], object]) -> dict[str, str]:
    """The ids of the sample that comes of `run`, which is given a handler."""
    sink = MemorySink()
    judge = ScriptedJudge(usefulness=lambda question, passage: True)
    handler = AssayCallbackHandler("context_utilization", judge, sinks=[sink])
    run(handler)
    health = handler.close(20)
    assert not health.errors, health
    return dict(sink.written[0].sample.ids)


def langfuse() -> dict[str, Any]:
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    client = Langfuse(public_key="pk", secret_key="sk", base_url=NOWHERE, span_exporter=exporter)
    theirs = CallbackHandler(public_key="pk")

    def observed(ours: Any) -> None:
        with client.start_as_current_observation(name="request"):
            rag().invoke(QUESTION, {"callbacks": [ours, theirs]})

    runs: dict[str, Callable[[Any], object]] = {
        "before ours": lambda ours: rag().invoke(QUESTION, {"callbacks": [theirs, ours]}),
        "after ours": lambda ours: rag().invoke(QUESTION, {"callbacks": [ours, theirs]}),
        "async": lambda ours: asyncio.run(rag().ainvoke(QUESTION, {"callbacks": [ours, theirs]})),
        "inside an observation": observed,
        "model alone": lambda ours: model().invoke(QUESTION, {"callbacks": [ours, theirs]}),
        "not attached": lambda ours: rag().invoke(QUESTION, {"callbacks": [ours]}),
    }
    found: dict[str, Any] = {}
    for name, run in runs.items():
        exporter.clear()
        ids = ids_of(run)
        client.flush()
        spans = {f"{span.context.span_id:016x}": span for span in exporter.get_finished_spans()}
        span = spans.get(ids.get("langfuse_observation_id", ""))
        traces = {f"{span.context.trace_id:032x}" for span in spans.values()}
        found[name] = {"ids": ids, "observation": span and span.name, "traces": sorted(traces)}
    return found


def mlflow() -> dict[str, Any]:
    os.environ |= {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_TRACKING_URI": f"file://{tempfile.mkdtemp()}/runs",
    }
    import mlflow

    mlflow.langchain.autolog()
    runs: dict[str, Callable[[Any], object]] = {
        "sync": lambda ours: rag().invoke(QUESTION, {"callbacks": [ours]}),
        "async": lambda ours: asyncio.run(rag().ainvoke(QUESTION, {"callbacks": [ours]})),
        "model alone": lambda ours: model().invoke(QUESTION, {"callbacks": [ours]}),
    }
    found: dict[str, Any] = {}
    seen = {name: ids_of(run) for name, run in runs.items()}
    mlflow.flush_trace_async_logging()
    for name, ids in seen.items():
        trace = mlflow.get_trace(ids.get("mlflow_trace_id", "none"))
        roots = [(span.name, span.span_id) for span in trace.data.spans if span.parent_id is None] if trace else []
        found[name] = {"ids": ids, "roots": roots}
    return found


def langsmith() -> dict[str, Any]:
    os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "x", "LANGSMITH_ENDPOINT": NOWHERE}
    import langsmith
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers import LangChainTracer

    above: list[str] = []

    @langsmith.traceable
    def traced(ours: Any) -> None:
        tree = langsmith.get_current_run_tree()
        above.append(str(tree.trace_id if tree else None))
        rag().invoke(QUESTION, {"callbacks": [ours]})

    def switched_off(ours: Any) -> None:
        with langsmith.tracing_context(enabled=False):
            rag().invoke(QUESTION, {"callbacks": [ours]})

    def tracer_given(ours: Any) -> None:
        with langsmith.tracing_context(enabled=False):
            rag().invoke(QUESTION, {"callbacks": [ours, LangChainTracer()]})

    def config_by_hand(ours: Any) -> None:
        token = var_child_runnable_config.set({"callbacks": [ours]})
        model().invoke(QUESTION)
        var_child_runnable_config.reset(token)

    runs: dict[str, Callable[[Any], object]] = {
        "sync": lambda ours: rag().invoke(QUESTION, {"callbacks": [ours]}),
        "async": lambda ours: asyncio.run(rag().ainvoke(QUESTION, {"callbacks": [ours]})),
        "inside a traced function": traced,
        "switched off": switched_off,
        "model alone": lambda ours: model().invoke(QUESTION, {"callbacks": [ours]}),
        "its own tracer": tracer_given,
        "config by hand": config_by_hand,
    }
    return {name: {"ids": ids_of(run), "above": above} for name, run in runs.items()}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
    sys.stdout.flush()
    os._exit(0)  # their exporters would try for a while to reach an address that does not answer
