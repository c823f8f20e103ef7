"""LlamaIndex objects as assay's records: plain functions that copy what they read and keep nothing of the host's.

Objects are known by the names of their classes and attributes, so that llama_index.core need not be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.records import Context, Turn

DEPTH = 3  # levels of nested metadata that are copied; what lies deeper becomes text


def text_of(value: Any) -> str | None:
    """The text of a query, a query bundle or a chat message."""
    if value is None or isinstance(value, str):
        return value
    for name in ("query_str", "content"):
        text = getattr(value, name, None)
        if isinstance(text, str):
            return text
    return str(value)


def answer_text(value: Any) -> str | None:
    """The text of an answer, which may be a structured object: then its JSON."""
    if value is None or isinstance(value, str):
        return value
    as_json = getattr(value, "model_dump_json", None)
    return str(as_json()) if callable(as_json) else str(value)


def question_of(arguments: Mapping[str, Any]) -> str | None:
    """The question among the arguments of `query` or `chat`: the one with the usual name, else the first."""
    for name in ("str_or_query_bundle", "message"):
        if name in arguments:
            return text_of(arguments[name])
    return text_of(next(iter(arguments.values()), None))


def answer_of(result: Any) -> str | None:
    """The text of a finished answer. Reads no stream."""
    if result is None or isinstance(result, str):
        return result
    if has_base(result, "StreamingResponse", "AsyncStreamingResponse"):
        return answer_text(result.response_txt)
    return answer_text(getattr(result, "response", None))


def context_of(node: Any) -> Context:
    """One node, with or without its retrieval score. The text is that of the node, without its metadata."""
    inner = getattr(node, "node", node)
    score = getattr(node, "score", None)
    return Context(
        text=str(inner.get_content()),
        id=inner.node_id,
        score=None if score is None else float(score),
        metadata={str(key): plain(value) for key, value in (inner.metadata or {}).items()},
    )


def contexts_of(nodes: Iterable[Any]) -> tuple[Context, ...]:
    """Nodes as contexts, in order, each once, without those that only hold an intermediate answer."""
    return each_once(context_of(node) for node in nodes if not is_intermediate_answer(node))


def each_once(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """Contexts without repetitions. Several sub-questions often find the same passage."""
    unique: dict[tuple[str | None, str], Context] = {}
    for context in contexts:
        unique.setdefault((context.id, context.text), context)
    return tuple(unique.values())


def is_intermediate_answer(node: Any) -> bool:
    """Is this a node that the engine wrote itself, to hold the answer to a sub-question?

    `SubQuestionQueryEngine` and `MultiStepQueryEngine` list such nodes among the sources, before the passages that
    were found. What the model said earlier is no evidence for what it says now. They carry a fixed form of text, and
    neither score nor metadata nor relationships.
    """
    inner = getattr(node, "node", node)
    if getattr(node, "score", None) is not None or inner.metadata or getattr(inner, "relationships", None):
        return False
    text = str(inner.get_content())
    return (text.startswith("Sub question: ") and "\nResponse: " in text) or (
        text.startswith("\nQuestion: ") and "\nAnswer: " in text
    )


def node_ids(nodes: Iterable[Any]) -> frozenset[str]:
    """The ids of nodes."""
    return frozenset(getattr(node, "node", node).node_id for node in nodes)


def turns_of(messages: Sequence[Any] | None) -> tuple[Turn, ...]:
    """Earlier exchanges from a list of chat messages: each user message with the assistant's next one."""
    turns: list[Turn] = []
    question: str | None = None
    for message in messages or ():
        role = getattr(message.role, "value", message.role)
        text = text_of(message) or ""
        if role == "user":
            question = text
        elif role == "assistant" and question is not None:
            turns.append(Turn(question=question, answer=text))
            question = None
    return tuple(turns)


def plain(value: Any, depth: int = DEPTH) -> Any:
    """A copy of a value as plain JSON; what JSON does not know becomes text."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if depth and isinstance(value, Mapping):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth - 1) for item in value]
    return str(value)


def has_base(value: Any, *names: str) -> bool:
    """Is this an instance of one of these llama_index classes?"""
    return any(base.__name__ in names and base.__module__.startswith("llama_index.") for base in type(value).__mro__)
