"""What other systems call the request that is going on: asked in the hook, of libraries that are loaded anyway."""

from __future__ import annotations

import sys
from typing import Any


def otel_ids(span: Any) -> dict[str, str]:
    """Return the trace id and span id of an OpenTelemetry span.

    Args:
        span: The span, or None.

    Returns:
        "otel_trace_id" with 32 hex digits and "otel_span_id" with 16. Empty for None and for a span without a valid
        context.
    """
    context = span.get_span_context() if span is not None else None
    if context is None or not context.is_valid:
        return {}
    return {"otel_trace_id": f"{context.trace_id:032x}", "otel_span_id": f"{context.span_id:016x}"}


def current_ids() -> dict[str, str]:
    """Return the ids of the active OpenTelemetry span and the active MLflow trace.

    It imports neither library. A library that the application has not imported has no active trace.

    Returns:
        "otel_trace_id", "otel_span_id" and "mlflow_trace_id", as far as they are active. Empty if none is.
    """
    ids: dict[str, str] = {}
    context, trace = sys.modules.get("opentelemetry.context"), sys.modules.get("opentelemetry.trace")
    if trace is not None and context is not None and context.get_current():  # where it is empty there is no span
        span = trace.get_current_span()
        if span is not trace.INVALID_SPAN:
            ids = otel_ids(span)
    mlflow = sys.modules.get("mlflow")
    if mlflow is not None:
        active = getattr(mlflow, "get_active_trace_id", None)
        found = None if active is None else active()
        if isinstance(found, str):
            ids["mlflow_trace_id"] = found
    return ids
