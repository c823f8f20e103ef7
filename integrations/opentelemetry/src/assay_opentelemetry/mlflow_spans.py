"""Spans that MLflow's tracing wrote: its own attributes, each of them JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.extension import RunKind
from assay_opentelemetry.attributes import Attributes, loaded
from assay_opentelemetry.reading import Reading, reading

if TYPE_CHECKING:
    from assay_opentelemetry.span_data import SpanData

_KINDS: dict[str, RunKind] = {
    "CHAIN": "chain", "WORKFLOW": "chain", "TASK": "chain", "UNKNOWN": "chain", "AGENT": "agent", "LLM": "llm",
    "CHAT_MODEL": "llm", "RETRIEVER": "retriever", "RERANKER": "reranker", "TOOL": "tool", "PARSER": "parser",
    "EMBEDDING": "embedding", "MEMORY": "other",
}  # fmt: skip
_JUDGING = ("GUARDRAIL", "EVALUATOR")


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of a span of MLflow; None for any other."""
    named = [f"mlflow.{name}" for name in ("spanType", "spanInputs", "spanOutputs", "traceRequestId")]
    if not any(name in attributes for name in named):
        return None
    type_, inputs, outputs, trace = (loaded(attributes.get(name)) for name in named)
    kind = _KINDS.get(str(type_ or "UNKNOWN").upper(), "chain")
    judges = type_ in _JUDGING
    if type_ is None and inputs is None and outputs is None:  # another instrumentor's span in a trace of MLflow
        made = Reading()
    else:
        made = reading("other" if judges else kind, inputs, outputs)
    made.judges = judges
    if isinstance(trace, str) and trace:
        made.ids = {"mlflow_trace_id": trace, "mlflow_span_id": span.span_id}
    return made
