"""Spans that Langfuse's SDK wrote, which is built on OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.extension import RunKind
from assay_opentelemetry.attributes import Attributes, from_json
from assay_opentelemetry.reading import Reading, reading

if TYPE_CHECKING:
    from assay_opentelemetry.span_data import SpanData

_KINDS: dict[str, RunKind] = {
    "span": "chain", "chain": "chain", "agent": "agent", "tool": "tool", "retriever": "retriever",
    "generation": "llm", "embedding": "embedding", "event": "other",
}  # fmt: skip
_JUDGING = ("guardrail", "evaluator")


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of an observation of Langfuse; None for any other span."""
    type_ = attributes.text("langfuse.observation.type")
    named = ("langfuse.observation.input", "langfuse.observation.output", "langfuse.trace")
    if type_ is None and not any(name in attributes for name in named):
        return None
    judges = type_ in _JUDGING
    kind = "other" if judges else _KINDS.get(type_ or "span", "chain")
    made = reading(kind, *(from_json(attributes.get(name)) for name in named[:2]))
    made.judges = judges
    made.ids = {"langfuse_trace_id": span.trace_id, "langfuse_observation_id": span.span_id}
    tags = from_json(attributes.get("langfuse.trace.tags"))
    made.tags = tuple(str(tag) for tag in tags) if isinstance(tags, (list, tuple)) else ()
    made.metadata = _metadata(attributes)
    return made


def _metadata(attributes: Attributes) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for level in ("langfuse.trace.metadata", "langfuse.observation.metadata"):
        found = from_json(attributes.get(level))
        if isinstance(found, Mapping):
            metadata.update({str(key): from_json(value) for key, value in found.items()})
    for name, key in (("session_id", "session.id"), ("user_id", "user.id")):
        value = attributes.text(key)
        if value is not None:
            metadata.setdefault(name, value)
    return metadata
