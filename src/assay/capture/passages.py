"""What is a passage by its type, wherever it stands: documents, pairs with a score, dicts and dataclasses with a text.

Called in hooks. A list counts only when each of its items is a passage beyond doubt: a text with its source.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, cast

from assay._util.normalise import real_number
from assay.capture.tree import Document
from assay.errors import InputError
from assay.records.field_names import TEXT_KEYS, context_text

#: Beside a text, one of these says that it was found somewhere. An id alone does not: tasks and claims have ids, too.
_SOURCE_KEYS = frozenset(
    (
        "metadata", "meta", "score", "relevance_score", "similarity", "distance", "source", "url", "link", "chunk_id",
        "doc_id",
    )
)  # fmt: skip
#: What has one of these is a message, a part of one, a call or a task.
_OTHER_KEYS = frozenset(("role", "type", "tool_calls", "tool_call_id", "status", "args"))


def document_of(item: Any) -> Document:
    """Convert a passage of any framework to a document.

    A picture without a text gets its source as the text.

    Args:
        item: Text, dict, document, node, or pair of passage and score: see `context_text`.

    Returns:
        The document. The same object if the passage is a `Document`.

    Raises:
        InputError: The value is not a passage.
    """
    if isinstance(item, Document):
        return item
    if type(item) is str:  # whether it is a picture is seen when a sample is made
        return Document(item, None, {})
    context = context_text(item)
    metadata = dict(context.metadata)
    if context.score is not None:
        metadata.setdefault("score", context.score)
    return Document(context.text or context.image or "", context.id, metadata, context.image)


def is_scored(value: Any) -> bool:
    """Whether this is one pair of something and its score."""
    return len(value) == 2 and isinstance(value, (tuple, list)) and _is_number(value[1])


def with_score(document: Any, score: float) -> Document:
    """A document of a pair, copied. Raises InputError where it is no passage."""
    text = getattr(document, "page_content", None)
    if isinstance(text, str):
        metadata = dict(getattr(document, "metadata", None) or {})
        return Document(text, getattr(document, "id", None), {**metadata, "score": float(score)})
    found = document_of(document)
    return found._replace(metadata={**found.metadata, "score": float(score)})


def passages_by_type(value: Sequence[Any]) -> list[Document] | None:
    """The passages of a list or tuple that holds nothing else; None where an item is none, or may be something else."""
    first = value[0]
    if type(first) is tuple or type(first) is list:
        if not all(type(item) in (tuple, list) and is_scored(item) and is_passage(item[0]) for item in value):
            return None
        return _each(lambda pair: with_score(*pair), value)
    if not is_passage(first):
        return None
    if is_scored(value):
        return _each(lambda pair: with_score(*pair), [value])
    return _each(document_of, value) if all(map(is_passage, value)) else None


def is_passage(item: Any) -> bool:
    """Whether this is a passage by its type, and nothing else could be meant."""
    kind = type(item)
    if kind is dict:
        return _has_text(item) and _is_document(item)
    if kind is str or _is_number(item):
        return False
    return kind is Document or hasattr(item, "page_content") or _is_record(cast("Hashable", kind))


def _each(make: Callable[[Any], Document], items: Sequence[Any]) -> list[Document] | None:
    try:
        return [make(item) for item in items]
    except InputError:
        return None


def _has_text(item: dict[Any, Any]) -> bool:
    return any(isinstance(item.get(key), str) for key in TEXT_KEYS)


def _is_document(keys: Any) -> bool:
    return "page_content" in keys or not (_OTHER_KEYS & set(keys) or _SOURCE_KEYS.isdisjoint(keys))


@lru_cache(maxsize=256)
def _is_record(kind: Hashable) -> bool:
    """Whether the objects of a class are passages: nodes, and records with a text and a source."""
    if hasattr(kind, "get_content"):
        return True
    names = getattr(kind, "__dataclass_fields__", None) or getattr(kind, "__pydantic_fields__", None) or ()
    return any(key in names for key in TEXT_KEYS) and _is_document(names)


def _is_number(value: Any) -> bool:
    return type(value) is float or real_number(value) is not None  # numpy's, too
