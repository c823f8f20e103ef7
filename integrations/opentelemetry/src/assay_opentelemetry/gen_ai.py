"""Spans by the OpenTelemetry GenAI conventions, as they are and as they were.

Content stands in attributes of the span, in attributes of an event with all details, in one event per message, or in
numbered attributes (`gen_ai.prompt.0.content`), by the age of the instrumentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.capture.messages import prompt_of
from assay.capture.serialised import passages_in, plain, text_written
from assay.capture.tree import Kind
from assay_opentelemetry.attributes import Attributes, from_json
from assay_opentelemetry.reading import Reading, documents_of_tool

if TYPE_CHECKING:
    from assay_opentelemetry.spans import Event, SpanData

_KINDS: dict[str, Kind] = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "completion": "llm", "response": "llm",
    "embeddings": "embedding", "embedding": "embedding", "execute_tool": "tool", "retrieval": "retriever",
    "rerank": "reranker", "invoke_agent": "agent", "invoke_workflow": "chain",
}  # fmt: skip

_DETAILS = "gen_ai.client.inference.operation.details"
#: Events of one message each, and who speaks in it.
_MESSAGES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def read(attributes: Attributes, span: SpanData) -> Reading | None:
    """The reading of a span with `gen_ai.*` attributes; None for any other.

    Operations that the conventions do not know are steps of a chain; those that make agents or look after memories
    are no steps of an answer.
    """
    operation = attributes.text("gen_ai.operation.name", "llm.request.type")
    if operation is None and "gen_ai" not in attributes:
        return None
    made = Reading(kind=_kind(operation, attributes))
    sent, written = _messages(attributes, span)
    if made.kind == "tool":
        made.inputs = plain(attributes.json("gen_ai.tool.call.arguments"))
        made.outputs = plain(attributes.json("gen_ai.tool.call.result"))
        made.documents = documents_of_tool(made.outputs)
    elif made.kind in ("retriever", "reranker"):
        made.inputs = attributes.text("gen_ai.retrieval.query.text")
        made.documents = passages_in(plain(attributes.json("gen_ai.retrieval.documents")))
    elif made.kind == "llm":
        made.inputs = sent or None
        made.prompt = prompt_of(sent) or None
        made.outputs = text_written(written)
    elif made.kind in ("agent", "chain"):
        made.inputs, made.outputs = sent or None, written or None
    conversation = attributes.text("gen_ai.conversation.id")
    if conversation is not None:
        made.metadata["conversation_id"] = conversation
    response = attributes.text("gen_ai.response.id")
    if response is not None:
        made.ids["gen_ai_response_id"] = response
    return made


def _kind(operation: str | None, attributes: Attributes) -> Kind | None:
    if operation is None:
        model = attributes.text("gen_ai.request.model", "gen_ai.response.model")
        return "llm" if model is not None or "gen_ai.prompt" in attributes else None
    if operation in _KINDS:
        return _KINDS[operation]
    return "other" if operation.startswith("create_") or "memory" in operation else "chain"


def _messages(attributes: Attributes, span: SpanData) -> tuple[list[Any], list[Any]]:
    """What was sent and what was written, as messages, from wherever the span has them."""
    sent, written = _of_attributes(attributes)
    for event in span.events:
        if event.name == _DETAILS:
            more_sent, more_written = _of_attributes(Attributes(_details(event)))
            sent, written = sent or more_sent, written or more_written
    if not sent and not written:
        sent, written = _of_events(span)
    if not sent:
        sent = _numbered(attributes, "gen_ai.prompt", "user")
    return sent, written or _numbered(attributes, "gen_ai.completion", "assistant")


def _details(event: Event) -> Mapping[str, Any]:
    body = event.body if isinstance(event.body, Mapping) else {}
    return {**body, **event.attributes}


def _of_attributes(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    instructions = _list(attributes.json("gen_ai.system_instructions"))
    sent = _list(plain(attributes.json("gen_ai.input.messages")))
    if instructions:
        sent = [plain({"role": "system", "parts": instructions}), *sent]
    return sent, _list(plain(attributes.json("gen_ai.output.messages")))


def _of_events(span: SpanData) -> tuple[list[Any], list[Any]]:
    sent: list[Any] = []
    written: list[Any] = []
    for event in sorted(span.events, key=lambda event: event.time or 0.0):
        content = _content(event)
        if event.name in _MESSAGES:
            sent.append(_message(content, _MESSAGES[event.name]))
        elif event.name == "gen_ai.choice":
            inner = content.get("message", content) if isinstance(content, Mapping) else content
            written.append(_message(from_json(inner), "assistant"))
        elif event.name == "gen_ai.content.prompt":
            sent += _whole(event.attributes.get("gen_ai.prompt"), "user")
        elif event.name == "gen_ai.content.completion":
            written += _whole(event.attributes.get("gen_ai.completion"), "assistant")
    return sent, written


def _content(event: Event) -> Any:
    """What an event of one message says: its body, or the attribute that carries one, or its attributes."""
    for value in (event.body, event.attributes.get("gen_ai.event.content"), event.attributes.get("event_body")):
        if value is not None:
            return from_json(value)
    return {key.removeprefix("gen_ai."): value for key, value in event.attributes.items()}


def _message(content: Any, role: str) -> Any:
    if not isinstance(content, Mapping):
        return {"role": role, "content": content if isinstance(content, str) else ""}
    message = plain({"role": role, **content})
    text = message.get("content")
    return {**message, "content": from_json(text) if isinstance(from_json(text), list) else text or ""}


def _whole(value: Any, role: str) -> list[Any]:
    found = plain(from_json(value))
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
