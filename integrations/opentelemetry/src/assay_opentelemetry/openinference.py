"""Spans by the OpenInference conventions, as the instrumentors of LangChain, LlamaIndex and many others write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.extension import Document, RunKind, blocks_in, documents_in_result, prompt_of, text_of
from assay_opentelemetry.attributes import Attributes, from_json, lookup
from assay_opentelemetry.placeholders import (
    is_agent,
    is_object,
    is_step,
    is_workflow,
    recognised,
    tool_text,
    workflow_result,
)
from assay_opentelemetry.reading import Reading, reading

if TYPE_CHECKING:
    from assay_opentelemetry.span_data import SpanData

_KINDS: dict[str, RunKind] = {
    "CHAIN": "chain", "RETRIEVER": "retriever", "RERANKER": "reranker", "LLM": "llm", "TOOL": "tool",
    "AGENT": "agent", "EMBEDDING": "embedding", "PROMPT": "prompt", "UNKNOWN": "chain",
}  # fmt: skip
_JUDGING = ("GUARDRAIL", "EVALUATOR", "DECISION")

#: What masks put in the place of a value.
_REDACTED = "__REDACTED__"


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of an OpenInference span; None for any other."""
    name = str(attributes.get("openinference.span.kind") or "").upper()
    values = "input.value" in attributes or "output.value" in attributes
    if not name and not values:
        return None
    judges = name in _JUDGING
    kind: RunKind = "other" if judges else _KINDS.get(name, "chain")
    inputs, outputs = _value(attributes, "input"), _value(attributes, "output")
    if is_workflow(inputs):
        kind = "agent" if is_agent(inputs) else kind
        # a workflow is asked something, though nobody wrote down what; its parts are no exchanges of their own
        inputs, outputs = (
            None if kind == "agent" else {},
            workflow_result(outputs) if isinstance(outputs, str) else outputs,
        )
    elif is_step(inputs):
        inputs = outputs = None
    made = reading(kind, inputs, outputs)
    made.judges = judges
    if kind == "llm":
        _read_model(attributes, made)
    elif kind == "tool":
        _read_tool(made)
    elif kind == "retriever":
        if isinstance(made.inputs, Mapping) and isinstance(made.inputs.get("query_str"), str):
            made.inputs = made.inputs["query_str"]  # a query of LlamaIndex with all its fields
        found = _documents(attributes, "retrieval.documents")
        made.documents = _merge_ids(found, made.documents)
    elif kind == "reranker":
        given = _documents(attributes, "reranker.input_documents")
        made.given = {"": tuple(item.text for item in given)} if given else made.given
        made.documents = _documents(attributes, "reranker.output_documents") or made.documents
        made.inputs = made.inputs if made.inputs is not None else attributes.text("reranker.query")
    _read_context(attributes, made)
    return made


def _value(attributes: Attributes, side: str) -> Any:
    """The input or the output: parsed where it says that it is JSON, a text otherwise."""
    value = attributes.get(f"{side}.value")
    if value == _REDACTED:
        return None
    if isinstance(value, str):
        if attributes.get(f"{side}.mime_type") == "application/json":
            return recognised(from_json(value)) if value.strip() != "null" else None
        return None if value == "null" else recognised(value)  # what None becomes when it is dumped
    return value


def _read_model(attributes: Attributes, made: Reading) -> None:
    sent = [_message(item) for item in attributes.items("llm.input_messages")]
    prompts = attributes.items("llm.prompts")
    if sent:
        made.inputs = sent
        made.prompt = max(prompt_of(sent), made.prompt or (), key=_length) or None  # the input may hold more, as blocks
    elif prompts:
        texts = (item if isinstance(item, str) else lookup(item, "prompt.text") for item in prompts)
        made.prompt = tuple(text for text in texts if isinstance(text, str)) or None
    elif attributes.text("llm.prompt_template.template") is not None:
        made.prompt = (_filled(attributes),)
    written = [_message(item) for item in attributes.items("llm.output_messages")]
    choices = (lookup(item, "completion.text") for item in attributes.items("llm.choices"))
    if written:
        made.outputs = next((text for text in map(text_of, written) if text), None)
    elif made.outputs is None:
        made.outputs = next((text for text in choices if isinstance(text, str)), None)


def _length(texts: tuple[str, ...]) -> int:
    return sum(map(len, texts))


def _read_tool(made: Reading) -> None:
    """LlamaIndex' calls carry their arguments below `kwargs`, and its results the text among much else."""
    if isinstance(made.inputs, Mapping) and isinstance(made.inputs.get("kwargs"), Mapping):
        made.inputs = {name: value for name, value in made.inputs["kwargs"].items() if not is_object(value)}
    if isinstance(made.outputs, str):
        made.outputs = tool_text(made.outputs)
    blocks = made.outputs.get("blocks") if isinstance(made.outputs, Mapping) else None
    if isinstance(blocks, list) and "tool_name" in made.outputs:
        raw = made.outputs.get("raw_output")
        if made.documents is None and isinstance(raw, (Mapping, list)):
            made.documents = tuple(documents_in_result(raw) or ()) or None
        made.outputs = blocks_in(raw.get("content") if isinstance(raw, Mapping) else None) or text_of(
            {"content": [{"type": "text", **block} for block in blocks if isinstance(block, Mapping)]}
        )


def _filled(attributes: Attributes) -> str:
    """The template of the prompt with its variables in their places."""
    text = attributes.text("llm.prompt_template.template") or ""
    variables = attributes.json("llm.prompt_template.variables")
    for name, value in variables.items() if isinstance(variables, Mapping) else ():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _message(item: Any) -> dict[str, Any]:
    """A message as role and content. Images and calls of tools are left out."""
    content = lookup(item, "message.content")
    if not isinstance(content, str):
        blocks = lookup(item, "message.contents")
        parts = [lookup(block, "message_content.text") for block in blocks] if isinstance(blocks, list) else []
        content = [{"type": "text", "text": part} for part in parts if isinstance(part, str)]
    return {"role": lookup(item, "message.role") or "user", "content": content}


def _documents(attributes: Attributes, name: str) -> tuple[Document, ...]:
    found = (_document(item) for item in attributes.items(name))
    return tuple(item for item in found if item is not None)


def _document(item: Any) -> Document | None:
    text = lookup(item, "document.content")
    if not isinstance(text, str) or text == _REDACTED:
        return None
    id = lookup(item, "document.id")
    metadata = from_json(lookup(item, "document.metadata"))
    metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
    score = lookup(item, "document.score")
    if score is not None:
        metadata.setdefault("score", score)
    return Document(text, None if id is None else str(id), metadata)


def _merge_ids(listed: tuple[Document, ...], returned: tuple[Document, ...] | None) -> tuple[Document, ...] | None:
    """The documents as the attributes list them, with the ids that only the output of the step has."""
    if not listed:
        return returned
    if returned is None or [item.text for item in returned] != [item.text for item in listed]:
        return listed
    return tuple(
        Document(one.text, one.id or other.id, one.metadata or other.metadata)
        for one, other in zip(listed, returned, strict=True)
    )


def _read_context(attributes: Attributes, made: Reading) -> None:
    """What is said about the request: its tags, its metadata, its session and user."""
    tags = from_json(attributes.get("tag.tags"))
    made.tags = tuple(str(tag) for tag in tags) if isinstance(tags, (list, tuple)) else ()
    metadata = from_json(attributes.get("metadata"))
    if isinstance(metadata, Mapping):
        made.metadata.update(metadata)
    for name, key in (("session_id", "session.id"), ("user_id", "user.id")):
        value = attributes.get(key)
        if isinstance(value, (str, int)) and value != "":
            made.metadata.setdefault(name, value)
