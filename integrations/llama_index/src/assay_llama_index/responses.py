"""What calls return: the nodes and the text in the result of a span."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.extension import Document, blocks_in, documents_in_result, structured_answer
from assay_llama_index.kinds import has_base
from assay_llama_index.records import (
    answer_of,
    are_copies,
    copies_of,
    is_intermediate_answer,
    is_plain_answer,
    is_stream,
    items_of,
    plain,
    text_of,
)
from assay_llama_index.requests import nodes_in_event, nodes_in_list, values_of


def result_of(value: Any) -> Any:
    """What a workflow returned: the result in the event that stopped it, else that event."""
    if not has_base(value, "StopEvent"):
        return value
    return value.result if value.result is not None else value


def documents_of(
    result: Any, given: Sequence[str] | None = None, known: Sequence[Document] = ()
) -> Sequence[Document] | None:
    """The nodes that a step delivered, copied. None: it delivered none, or no others than those it was given.

    They are the sources of a response, the nodes in a list, in a tool's output or in the event of a workflow's step.
    `known` are copies that may be of the same nodes, as they were delivered last.
    """
    if is_plain_answer(type(result)):
        raw = result
    else:
        raw = getattr(result, "raw_output", None) if has_base(result, "ToolOutput") else result_of(result)
    nodes = items_of(getattr(raw, "source_nodes", None)) or nodes_in_list(raw)
    if not nodes and has_base(raw, "Event"):
        nodes = nodes_in_event(raw)
    if not nodes and has_base(result, "ToolOutput"):
        return documents_in_result(raw)
    if known and are_copies(known, nodes):
        return known
    found = copies_of([node for node in nodes if not is_intermediate_answer(node)])
    if not found or (given is not None and [item.text for item in found] == list(given)):
        return None
    return found


def written_by(result: Any) -> str | None:
    """The text that a model wrote; None for a stream of it."""
    # pydantic takes long to find that a model has no such attribute
    message = None if has_base(result, "CompletionResponse") else getattr(result, "message", None)
    text = getattr(message, "content", None) if message is not None else getattr(result, "text", None)
    return text if isinstance(text, str) else None


def outputs_of(result: Any) -> Any:
    """What a call returned, as text or plain values: an answer's text, or the fields of an event, an object or a dict.

    Reads no stream.
    """
    if is_plain_answer(type(result)) and type(result.response) is str:
        return result.response
    result = result_of(result)
    if result is None or isinstance(result, str):
        return result
    if is_stream(result):
        return None
    if has_base(result, "AgentOutput"):
        return text_of(result.response) or _structured(result)
    if isinstance(getattr(result, "source_nodes", None), list):
        return answer_of(result)
    if has_base(result, "ChatResponse", "CompletionResponse", "ChatMessage"):
        return text_of(result) if has_base(result, "ChatMessage") else written_by(result)
    if has_base(result, "ToolOutput"):
        return blocks_in(getattr(result.raw_output, "content", None)) or text_of(result)
    nodes = nodes_in_list(result)
    if nodes:
        return copies_of(nodes)
    return _fields(result)


def _structured(output: Any) -> str | None:
    found = getattr(output, "structured_response", None)
    if found is None:
        return None
    return structured_answer(found) or json.dumps(plain(found), ensure_ascii=False)


def _fields(result: Any) -> Any:
    if has_base(result, "Event"):
        values: Mapping[Any, Any] = values_of(result)
    elif isinstance(result, Mapping):
        values = result
    elif hasattr(type(result), "model_fields"):
        values = {name: getattr(result, name) for name in type(result).model_fields}
    else:
        values = getattr(result, "__dict__", None) or {}
    return {str(name): _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(getattr(value, "source_nodes", None), list) or has_base(value, "ChatMessage"):
        return outputs_of(value)
    nodes = nodes_in_list(value)
    return copies_of(nodes) if nodes else plain(value)
