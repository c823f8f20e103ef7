"""What a convention tells of a span, and what several of them have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.extension import (
    Document,
    RunKind,
    artifacts_in,
    document_of,
    document_texts,
    is_resume,
    messages_in,
    passages_in,
    passed_on,
    text_written,
    texts_sent,
    unwrap_value,
)


@dataclass(slots=True)
class Reading:
    """The fields of a run, as far as a span tells them.

    Attributes:
        judges: This step judges others: a guardrail, an evaluation.
        resumed: This graph goes on where it was interrupted.
    """

    kind: RunKind | None = None
    inputs: Any = None
    outputs: Any = None
    prompt: tuple[str, ...] | None = None
    documents: tuple[Document, ...] | None = None
    given: Mapping[str, Sequence[str]] | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    judges: bool = False
    resumed: bool = False

    def add(self, other: Reading | None) -> None:
        """Take from another convention what this one has not told."""
        if other is None:
            return
        for name in ("kind", "inputs", "outputs", "prompt", "documents", "given"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))
        self.tags = self.tags or other.tags
        self.metadata = {**other.metadata, **self.metadata}
        self.ids = {**other.ids, **self.ids}
        self.judges = self.judges or other.judges
        self.resumed = self.resumed or other.resumed


def reading(kind: RunKind, inputs: Any, outputs: Any) -> Reading:
    """The reading of a step of this kind from its inputs and outputs, parsed from JSON already."""
    resumed = is_resume(inputs)
    inputs, outputs = unwrap_value(inputs), unwrap_value(outputs)
    made = Reading(kind=kind, inputs=inputs, outputs=outputs, resumed=resumed)
    if kind == "llm":
        made.inputs = messages_in(inputs) or inputs
        made.prompt = texts_sent(inputs) or None
        made.outputs = text_written(outputs)
    elif kind == "retriever":
        made.documents = passages_in(outputs)
    elif kind == "reranker":
        made.given = document_texts(inputs)
        made.documents = passages_in(outputs)
    elif kind == "tool":
        made.documents = documents_of_tool(outputs)
    else:
        made.given = document_texts(inputs)
        made.documents = passed_on(outputs, made.given) if kind in ("chain", "agent") else None
    return made


def documents_of_tool(output: Any) -> tuple[Document, ...] | None:
    """The documents that a tool returned or attached: itself, as its message's artifact, or in the state it updates."""
    if isinstance(output, Mapping):
        messages = output.get("messages")
        if isinstance(messages, list):
            attached = [found for message in messages for found in documents_of_tool(message) or ()]
            if attached:
                return tuple(attached)
        for name in ("artifact", "raw_output"):  # LangChain's messages, LlamaIndex' outputs
            if output.get(name) is not None:
                output = output[name]
                break
    found = artifacts_in(output)
    return None if found is None else tuple(map(document_of, found))
