"""Copies of what a host hands over: enough to be read later, so that the host may go on changing its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.capture.tree import Found
from assay.fields import context_text


def copy_document(document: Any) -> Found:
    """A LangChain-like document (`page_content`, `id`, `metadata`), copied."""
    if isinstance(document, Found):
        return document
    found = getattr(document, "id", None)
    return Found(document.page_content, found, dict(document.metadata))


def is_copy(found: Found, document: Any) -> bool:
    """Whether `found` is a copy of this document as it is now."""
    return (
        found.text is document.page_content
        and found.metadata == document.metadata
        and found.id == getattr(document, "id", None)
    )


def found_of(item: Any) -> Found:
    """A passage of any make, as a document that was found. Raises InputError for what is no passage."""
    if isinstance(item, Found):
        return item
    context = context_text(item)
    metadata = dict(context.metadata)
    if context.score is not None:
        metadata.setdefault("score", context.score)
    return Found(context.text, context.id, metadata)


def copy_value(value: Any, copy: Callable[[Any], Found] = copy_document) -> Any:
    """Inputs and outputs, so that the host may go on changing its dicts, lists and documents."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _copy_item(item, copy) for key, item in value.items()}
    return _copy_item(value, copy)


def _copy_item(value: Any, copy: Callable[[Any], Found]) -> Any:
    if isinstance(value, (list, tuple)):
        return [copy(item) if hasattr(item, "page_content") else item for item in value]
    if isinstance(value, dict):
        return dict(value)
    return value


def documents_in(value: Any) -> Mapping[str, list[Any]]:
    """The lists of LangChain-like documents in a value: by key in a dict, under "" where the value itself is one."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if _is_documents(item)}
    return {"": value} if _is_documents(value) else {}


def _is_documents(value: Any) -> bool:
    if type(value) is not list or not value or not hasattr(value[0], "page_content"):
        return False
    kind = type(value[0])  # most lists hold one kind of document, and asking a type is quicker than asking an object
    return all(type(item) is kind or hasattr(item, "page_content") for item in value)


def size_of(value: Any) -> int:
    """Roughly how many characters a copied value holds, looking no deeper than two levels."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_size_of_item(item) for item in value.values())
    return _size_of_item(value)


def _size_of_item(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Found):
        return len(value.text)
    if isinstance(value, (list, tuple)):
        return sum(len(item if isinstance(item, str) else _text_of(item)) for item in value)
    return 0


def _text_of(item: Any) -> str:
    text = item.text if isinstance(item, Found) else getattr(item, "content", "")
    return text if isinstance(text, str) else ""
