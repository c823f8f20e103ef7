"""Spans by the OpenTelemetry GenAI conventions, as they are and as they were.

Content stands in attributes of the span, in attributes of an event with all details, in one event per message, or in
numbered attributes (`gen_ai.prompt.0.content`), by the age of the instrumentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.extension import RunKind, passages_in, prompt_of, text_written, unwrap_value
from assay_opentelemetry import conventions as names
from assay_opentelemetry.attributes import Attributes, from_json
from assay_opentelemetry.reading import Reading, documents_of_tool

if TYPE_CHECKING:
    from assay_opentelemetry.span_data import Event, SpanData


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of a span with `gen_ai.*` attributes; None for any other.

    Operations that the conventions do not know are steps of a chain; those that make agents or look after memories
    are no steps of an answer.
    """
    operation = attributes.text(*names.OPERATION)
    if operation is None and "gen_ai" not in attributes:
        return None
    made = Reading(kind=_kind(operation, attributes))
    sent, written = _messages(attributes, span)
    if made.kind == "tool":
        made.inputs = unwrap_value(attributes.json(names.TOOL_ARGUMENTS))
        made.outputs = unwrap_value(attributes.json(names.TOOL_RESULT))
        made.documents = documents_of_tool(made.outputs)
    elif made.kind in ("retriever", "reranker"):
        made.inputs = attributes.text(names.RETRIEVAL_QUERY)
        made.documents = passages_in(unwrap_value(attributes.json(names.RETRIEVAL_DOCUMENTS)))
    elif made.kind == "llm":
        made.inputs = sent or None
        made.prompt = prompt_of(sent) or None
        made.outputs = text_written(written)
    elif made.kind in ("agent", "chain"):
        made.inputs, made.outputs = sent or None, written or None
    conversation = attributes.text(names.CONVERSATION)
    if conversation is not None:
        made.metadata["conversation_id"] = conversation
    response = attributes.text(names.RESPONSE)
    if response is not None:
        made.ids["gen_ai_response_id"] = response
    return made


def _kind(operation: str | None, attributes: Attributes) -> RunKind | None:
    if operation is None:
        model = attributes.text(*names.MODEL)
        return "llm" if model is not None or names.PROMPT in attributes else None
    if operation in names.KINDS:
        return names.KINDS[operation]
    return "other" if operation.startswith("create_") or "memory" in operation else "chain"


def _messages(attributes: Attributes, span: SpanData) -> tuple[list[Any], list[Any]]:
    """What was sent and what was written, as messages, from wherever the span has them."""
    sent, written = _of_attributes(attributes)
    for event in span.events:
        if event.name == names.DETAILS:
            more_sent, more_written = _of_attributes(Attributes(_details(event)))
            sent, written = sent or more_sent, written or more_written
    if not sent and not written:
        sent, written = _of_events(span)
    if not sent:
        sent = _numbered(attributes, names.PROMPT, "user")
    return sent, written or _numbered(attributes, names.COMPLETION, "assistant")


def _details(event: Event) -> Mapping[str, Any]:
    body = event.body if isinstance(event.body, Mapping) else {}
    return {**body, **event.attributes}


def _of_attributes(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    instructions = _list(attributes.json(names.INSTRUCTIONS))
    sent = _list(unwrap_value(attributes.json(names.SENT)))
    if instructions:
        sent = [unwrap_value({"role": "system", "parts": instructions}), *sent]
    return sent, _list(unwrap_value(attributes.json(names.WRITTEN)))


def _of_events(span: SpanData) -> tuple[list[Any], list[Any]]:
    sent: list[Any] = []
    written: list[Any] = []
    for event in sorted(span.events, key=lambda event: event.time or 0.0):
        content = _content(event)
        if event.name in names.MESSAGES:
            sent.append(_message(content, names.MESSAGES[event.name]))
        elif event.name == names.CHOICE:
            inner = content.get("message", content) if isinstance(content, Mapping) else content
            written.append(_message(from_json(inner), "assistant"))
        elif event.name == names.ALL_SENT:
            sent += _whole(event.attributes.get(names.PROMPT), "user")
        elif event.name == names.ALL_WRITTEN:
            written += _whole(event.attributes.get(names.COMPLETION), "assistant")
    return sent, written


def _content(event: Event) -> Any:
    """What an event of one message says: its body, or the attribute that carries one, or its attributes."""
    for value in (event.body, *map(event.attributes.get, names.CONTENT)):
        if value is not None:
            return from_json(value)
    return {key.removeprefix("gen_ai."): value for key, value in event.attributes.items()}


def _message(content: Any, role: str) -> Any:
    if not isinstance(content, Mapping):
        return {"role": role, "content": content if isinstance(content, str) else ""}
    message = unwrap_value({"role": role, **content})
    text = message.get("content")
    return {**message, "content": from_json(text) if isinstance(from_json(text), list) else text or ""}


def _whole(value: Any, role: str) -> list[Any]:
    found = unwrap_value(from_json(value))
    if isinstance(found, list):
        return [item if isinstance(item, str) else _message(item, role) for item in found]
    return [_message(found, role)] if found else []


def _numbered(attributes: Attributes, name: str, role: str) -> list[Any]:
    numbered = attributes.below(name)
    if isinstance(numbered, list):
        return [_message(item, role) for item in numbered if isinstance(item, Mapping)]
    return _whole(attributes.text(name), role)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [{"role": "user", "content": value}] if isinstance(value, str) and value.strip() else []
