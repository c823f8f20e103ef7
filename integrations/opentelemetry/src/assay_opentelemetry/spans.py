"""One span as a run of the tree that all capture shares: `run_of`.

Which convention a span follows is told by its attributes: OpenInference, the OpenTelemetry GenAI conventions and
their older forms, OpenLLMetry, MLflow, Langfuse. A span that follows none is no part of the RAG system ("other").
"""

from __future__ import annotations

from assay.extension import INTERRUPTS, Run, RunKind
from assay_opentelemetry import conventions, gen_ai, langfuse_spans, mlflow_spans, openinference, openllmetry
from assay_opentelemetry.attributes import Attributes, flatten
from assay_opentelemetry.conventions import evaluation_of_event
from assay_opentelemetry.reading import Reading
from assay_opentelemetry.span_data import SpanData

#: The readers of the conventions. What an earlier one has told, a later one does not change.
_READERS = (
    openinference.read,
    mlflow_spans.read,
    langfuse_spans.read,
    openllmetry.read,
    gen_ai.read,
)

#: Where spans of tools say what the tool does.
_DESCRIPTIONS = ("tool.description", conventions.TOOL_DESCRIPTION)
#: Where they say the name of the tool; the span may have that of a method.
_TOOL_NAMES = ("tool.name", conventions.TOOL_NAME)


def run_of(span: SpanData) -> Run:
    """Read the run that a span stands for. Its id and its parent's are trace id and span id, joined by a dash.

    Never raises for what the attributes hold: what cannot be read is left out.

    Args:
        span: The span.

    Returns:
        The run.
    """
    return run_from(span, reading_of(span))


def run_from(span: SpanData, reading: Reading) -> Run:
    """The run of a span whose attributes have been read."""
    run = Run(
        f"{span.trace_id}-{span.span_id}",
        None if span.parent_id is None else f"{span.trace_id}-{span.parent_id}",
        reading.kind or "other",
        _name_of(span, reading.kind),
        inputs=reading.inputs,
        outputs=reading.outputs,
        prompt=reading.prompt,
        documents=reading.documents,
        given=reading.given,
        error=error_of(span),
        started=span.started,
        ended=span.ended,
        tags=reading.tags,
        metadata=reading.metadata,
        ids={"otel_trace_id": span.trace_id, "otel_span_id": span.span_id, **reading.ids},
    )
    described = (span.attributes.get(name) for name in _DESCRIPTIONS)
    run.resumed = reading.resumed
    run.offered = tuple(text for text in described if isinstance(text, str))
    return run


def _name_of(span: SpanData, kind: RunKind | None) -> str | None:
    told = (span.attributes.get(name) for name in _TOOL_NAMES) if kind == "tool" else ()
    return next((name for name in told if isinstance(name, str) and name), span.name or None)


def reading_of(span: SpanData) -> Reading:
    """What the conventions tell of a span, put together."""
    attributes = Attributes(span.attributes)
    reading = Reading()
    for read in _READERS:
        reading.add(read(attributes, span))
    told = [one for event in span.events if (one := evaluation_of_event(event.name, event.attributes)) is not None]
    if told:
        reading.metadata["evaluations"] = told
    return reading


def error_of(span: SpanData) -> str | None:
    """The type name of the exception by which a span ended, without its module; None where it ended well.

    A step of a graph that stops to ask a human has an exception, and ended well.
    """
    named = [event.attributes.get("exception.type") for event in span.events if event.name == "exception"]
    interrupts = [str(name).rpartition(".")[2] for name in named]
    if span.status != "ERROR":
        return next((name for name in interrupts if name in INTERRUPTS), None)
    for name in (*reversed(named), flatten(span.attributes).get("error.type")):
        if isinstance(name, str) and name:
            return name.rpartition(".")[2]
    return "Error"
