"""The arguments of LlamaIndex's evaluators as rows.

Objects of LlamaIndex become their texts and passages. Any other value is read by the rules of
`assay.evaluation.adapters`, which never make a text of what is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.extension import HostRow, row_of_values
from assay_llama_index.kinds import has_base
from assay_llama_index.records import (
    answer_of,
    context_of,
    contexts_of,
    is_chat_stream,
    is_query_stream,
    is_stream,
    items_of,
)

_NAMES = {"question": "query", "answer": "response"}


def row_of_arguments(
    query: Any, response: Any, contexts: Any, reference: Any, reference_contexts: Any, more: Mapping[str, Any]
) -> HostRow:
    """The row in the arguments of `evaluate`; further arguments are the metadata of the sample."""
    row = row_of_values(
        _text_in(query),
        _text_in(response),
        _text_in(reference),
        contexts=_passages_in(contexts),
        reference_contexts=_passages_in(reference_contexts),
        texts=True,
        names=_NAMES,
    )
    return replace(row, sample=replace(row.sample, metadata=dict(more)))


def row_of_response(query: Any, response: Any, answer: Any, more: Mapping[str, Any]) -> HostRow:
    """The row in the arguments of `evaluate_response`, whose passages are the source nodes of the response."""
    nodes = getattr(response, "source_nodes", None)
    found = nodes if nodes is None or items_of(nodes) is None else contexts_of(nodes)
    reference, ideal = more.get("reference"), more.get("reference_contexts")
    metadata = {name: value for name, value in more.items() if name not in ("reference", "reference_contexts")}
    return row_of_arguments(query, answer, found, reference, ideal, metadata)


def _text_in(value: Any) -> Any:
    """The text of an object of LlamaIndex, of a structured answer its JSON, of an unread stream None.

    Any other value is returned as it is.
    """
    if is_stream(value) or is_query_stream(value) or is_chat_stream(value):  # only the host may read it
        return answer_of(value) if is_query_stream(value) else None
    for name in ("query_str", "content"):  # QueryBundle, ChatMessage
        if isinstance(text := getattr(value, name, None), str):
            return text
    if has_base(value, "ChatMessage"):
        return None
    if has_base(value, "ChatResponse", "CompletionResponse"):
        return _text_in(getattr(value, "message", None) or value.text)
    if has_base(value, "AgentOutput") or hasattr(value, "source_nodes"):
        return _text_in(value.response)
    as_json = None if isinstance(value, type) else getattr(value, "model_dump_json", None)
    return str(as_json()) if callable(as_json) else value


def _passages_in(value: Any) -> Any:
    """Passages in which nodes of LlamaIndex are contexts."""
    if _is_node(value):
        return [context_of(value)]
    items = items_of(value)
    return value if items is None else [context_of(item) if _is_node(item) else item for item in items]


def _is_node(item: Any) -> bool:
    return hasattr(getattr(item, "node", item), "get_content")
