"""Spans by OpenLLMetry's conventions: `traceloop.*`, and the vector stores it listens to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.extension import Document, RunKind
from assay_opentelemetry.attributes import Attributes, from_json, loaded
from assay_opentelemetry.reading import Reading, reading

if TYPE_CHECKING:
    from assay_opentelemetry.span_data import SpanData

_KINDS: dict[str, RunKind] = {"workflow": "chain", "task": "chain", "agent": "agent", "tool": "tool"}


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of a span with `traceloop.span.kind`, or of a query to a vector store; None for any other."""
    found = _documents(span)
    if found is not None:
        return Reading(kind="retriever", documents=found)
    kind = _KINDS.get(attributes.text("traceloop.span.kind") or "")
    if kind is None:
        return None
    inputs, outputs = (loaded(attributes.get(f"traceloop.entity.{side}")) for side in ("input", "output"))
    made = reading(kind, _unwrapped(inputs, "inputs"), _unwrapped(outputs, "outputs"))
    if isinstance(inputs, Mapping) and isinstance(inputs.get("metadata"), Mapping) and "inputs" in inputs:
        made.metadata = dict(inputs["metadata"])
        tags = inputs.get("tags")
        made.tags = tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
    return made


def _unwrapped(value: Any, name: str) -> Any:
    """What a callback was given, out of the call that is dumped around it: {"inputs": …, "kwargs": …}.

    A function's call is dumped as {"args": […], "kwargs": {…}}; one argument alone is the input.
    """
    if not isinstance(value, Mapping):
        return value
    if name in value and value.keys() <= {name, "kwargs", "tags", "metadata", "run_id", "parent_run_id"}:
        return value[name]
    if value.keys() == {"args", "kwargs"}:
        args, kwargs = value["args"], value["kwargs"]
        if isinstance(args, list) and isinstance(kwargs, Mapping):
            return args[0] if len(args) == 1 and not kwargs else kwargs if not args else value
    return value


def _documents(span: SpanData) -> tuple[Document, ...] | None:
    """What a vector store returned: an event for each passage."""
    found = []
    for event in span.events:
        if event.name == "db.query.result":
            text = event.attributes.get("db.query.result.document")
            if isinstance(text, str) and text:
                id = event.attributes.get("db.query.result.id")
                metadata = from_json(event.attributes.get("db.query.result.metadata"))
                metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
                score = event.attributes.get("db.query.result.score")
                if score is not None:
                    metadata.setdefault("score", score)
                found.append(Document(text, None if id is None else str(id), metadata))
    return tuple(found) or None
