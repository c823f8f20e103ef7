"""What other systems call a run: asked of libraries that the application has loaded anyway, in the hook.

OpenTelemetry   the span of OpenInference's instrumentor for this very run, else the span that is going on
LangSmith       the run itself, where tracing is on: asking LangSmith for that takes as long as three of our hooks, so
                its tracer is looked for among the handlers, where they can be seen
Langfuse        its handler keeps what it made of each run while the run is open
MLflow          its tracer does so too; else the trace that is going on
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import Any
from uuid import UUID

from assay.extension import current_ids, otel_ids
from assay_langchain.environment import going_on

_NONE: Mapping[str, str] = {}
_OPENINFERENCE = "openinference.instrumentation.langchain"
_LANGFUSE = "langfuse.langchain"
_MLFLOW = "mlflow.langchain.langchain_tracer"
_OPENLLMETRY = "opentelemetry.instrumentation.langchain"
_TRACER = "langchain_core.tracers.langchain"


def ids_at_start(run_id: UUID, parent: UUID | None) -> dict[str, str]:
    """The ids of a run that nobody above is known of, as far as they are known when it starts."""
    found = current_ids()
    if _OPENINFERENCE in sys.modules:
        found |= span_ids(run_id)
    if _LANGFUSE in sys.modules:
        found |= _langfuse_ids()
    return found


def ids_at_end(run_id: UUID, known: Mapping[str, str]) -> Mapping[str, str]:
    """The ids that were not known at the start: a system whose handler comes after ours had not seen the run then."""
    span = span_ids(run_id)
    now = {**current_ids(), **_langfuse_ids()}
    if not now:
        return span
    found = {name: value for name, value in now.items() if name not in known}
    if "otel_trace_id" in known:  # a span that was going on at the start and one that is at the end do not mix
        found.pop("otel_span_id", None)
    return {**found, **span}


def span_ids(run_id: UUID) -> dict[str, str]:
    """The span that OpenInference's instrumentor has open for a run."""
    module = sys.modules.get(_OPENINFERENCE)
    if module is None:
        return {}
    instrumentor = getattr(module, "LangChainInstrumentor", None)
    tracer = getattr(instrumentor() if instrumentor is not None else None, "_tracer", None)  # without one it prints
    return otel_ids(tracer.get_span(run_id)) if tracer is not None else {}


def followed() -> bool:
    """Whether a system is loaded that follows runs by a handler of its own: it may see a run later than we do."""
    return _OPENINFERENCE in sys.modules or _OPENLLMETRY in sys.modules or has_neighbours()


def has_neighbours() -> bool:
    """Whether a system is loaded whose handler is to be asked for the ids of a run."""
    return _LANGFUSE in sys.modules or _MLFLOW in sys.modules


def neighbour_ids(run_id: Hashable) -> dict[str, str]:
    """What the other handlers of the chain that is going on in this context made of the run `run_id`, still open."""
    ids: dict[str, str] = {}
    for handler in getattr(going_on().get("callbacks"), "handlers", ()):
        made = type(handler).__module__
        if made.startswith("langfuse."):
            observation = getattr(handler, "_runs", {}).get(run_id)
            if observation is not None:
                ids["langfuse_trace_id"] = str(observation.trace_id)
                ids["langfuse_observation_id"] = str(observation.id)
        elif made.startswith("mlflow."):
            open_span = getattr(handler, "_run_span_mapping", {}).get(str(run_id))
            if open_span is not None and open_span.span.span_id:  # without a store to write to, spans are empty
                ids["mlflow_trace_id"] = str(open_span.span.trace_id)
                ids["mlflow_span_id"] = str(open_span.span.span_id)
    return ids


def _langfuse_ids() -> dict[str, str]:
    """The trace of the observation that is going on; which of its observations the run is, its handler has to tell."""
    trace = sys.modules.get("opentelemetry.trace") if _LANGFUSE in sys.modules else None
    span = trace.get_current_span() if trace is not None else None
    if getattr(getattr(span, "instrumentation_scope", None), "name", None) != "langfuse-sdk":
        return {}
    found = otel_ids(span).get("otel_trace_id")
    return {} if found is None else {"langfuse_trace_id": found}


def langsmith_ids(run_id: Hashable, parent: Hashable | None) -> Mapping[str, str]:
    """What LangSmith calls a run whose child starts in this context, or that ends in it."""
    utils = sys.modules.get("langsmith.utils")
    if utils is None:
        return _NONE
    handlers = getattr(going_on().get("callbacks"), "handlers", None)
    if not (utils.tracing_is_enabled() if handlers is None else _is_traced(handlers)):
        return _NONE
    ids = {"langsmith_run_id": str(run_id)}
    above = sys.modules["langsmith.run_helpers"].get_current_run_tree()
    if above is not None:
        ids["langsmith_trace_id"] = str(above.trace_id)
    elif parent is None:
        ids["langsmith_trace_id"] = str(run_id)
    return ids


def _is_traced(handlers: Iterable[Any]) -> bool:
    """Whether LangSmith's tracer is one of these handlers: LangChain adds it where tracing is on."""
    module = sys.modules.get(_TRACER)
    if module is not None:
        tracer = module.LangChainTracer
        for handler in handlers:
            if tracer in type(handler).__mro__:
                return True
    return False
