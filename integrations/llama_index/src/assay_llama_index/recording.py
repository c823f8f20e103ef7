"""`assay.record_context` for LlamaIndex: finds the span that is going on by LlamaIndex' own context variable."""

from __future__ import annotations

from llama_index_instrumentation.span import active_span_id

from assay.extension import Document, add_recorder
from assay_llama_index.capture import Capture
from assay_llama_index.streams import READING

#: The captures that are attached; replaced as a whole, never changed.
_attached: tuple[Capture, ...] = ()


def attach(capture: Capture) -> None:
    """Let `capture` hear what the application records."""
    global _attached
    _attached = (*_attached, capture)


def detach(capture: Capture) -> None:
    """Let it hear no more."""
    global _attached
    _attached = tuple(other for other in _attached if other is not capture)


def record(documents: tuple[Document, ...]) -> bool:
    """Hand the documents to all captures that know the span that is going on. False: none does."""
    going_on = [span_id for span_id in (active_span_id.get(), READING.get()) if span_id is not None]
    taken = [any(capture.record(span_id, documents) for span_id in going_on) for capture in _attached]
    return any(taken)


add_recorder(record)
