"""What other systems call a span: asked of libraries that the application has loaded anyway, in the hook.

OpenTelemetry   the span of OpenInference's instrumentor for this very span, while it is open; else what is going on
MLflow          the span of its autologging for this very span; else the trace that is going on
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index_instrumentation import get_dispatcher

from assay.extension import current_ids, otel_ids
from assay_llama_index.kinds import cache_by_class

_ROOT = get_dispatcher()
_NEIGHBOURS = ("openinference.instrumentation.llama_index", "mlflow.llama_index.tracer")


def span_ids(span_id: str) -> dict[str, str]:
    """The ids of the spans that other handlers have open for the span `span_id`."""
    ids: dict[str, str] = {}
    for handler in _ROOT.span_handlers:
        if _is_neighbour(type(handler)):
            open_span = handler.open_spans.get(span_id)
            ids |= otel_ids(getattr(open_span, "_otel_span", None))
            ids |= _mlflow_ids(getattr(open_span, "_mlflow_span", None))
    return ids


def root_ids(span_id: str, known: Mapping[str, str]) -> dict[str, str]:
    """The ids of the outermost span, besides those known; asked at its start and again at its end.

    A system whose handler comes after ours has not opened its span yet when ours starts, and one whose handler comes
    before has closed it when ours ends.
    """
    found = current_ids()
    if known:
        found |= known
    if "otel_trace_id" in known:  # a span that was going on at the start and one that is at the end do not mix
        found = {name: value for name, value in found.items() if not name.startswith("otel_")} | {
            name: value for name, value in known.items() if name.startswith("otel_")
        }
    return found | span_ids(span_id)


@cache_by_class
def _is_neighbour(handler: type) -> bool:
    return handler.__module__.startswith(_NEIGHBOURS)


def _mlflow_ids(span: Any) -> dict[str, str]:
    trace_id, found = getattr(span, "trace_id", None), getattr(span, "span_id", None)
    if not isinstance(trace_id, str) or not trace_id.startswith("tr-") or not found:  # a span that goes nowhere
        return {}
    return {"mlflow_trace_id": trace_id, "mlflow_span_id": str(found)}
