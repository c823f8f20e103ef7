"""Copies of what a host hands over: enough to be read later, so that the host may go on changing its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assay.capture.passages import document_of as document_of
from assay.capture.passages import is_scored, passages_by_type, with_score
from assay.capture.tree import Document


def readable(value: Any) -> bool:
    """Whether what a host hands over may be read: reading a sequence changes nothing, an iterator can be read once."""
    kind = type(value)
    return kind is list or kind is tuple or isinstance(value, Sequence)


def copy_document(document: Any) -> Document:
    """A LangChain-like document (`page_content`, `id`, `metadata`), copied; else see `found_of`."""
    text = getattr(document, "page_content", None)
    if not isinstance(text, str):
        return document if isinstance(document, Document) else document_of(document)
    return Document(text, getattr(document, "id", None), dict(getattr(document, "metadata", None) or {}))


def copy_documents(documents: Sequence[Any], copy: Callable[[Any], Document] = copy_document) -> tuple[Document, ...]:
    """Copies of all of these; a text is one passage. LangChain's own documents are common, and read in one go."""
    if isinstance(documents, str):
        return (copy(documents),)
    copies: list[Document] = []
    usual = copy is copy_document
    for item in documents:
        if usual and (type(item) in _LANGCHAINS or _is_langchains(type(item))):
            fields = item.__dict__  # as it is an object of pydantic's, asked once
            text, about = fields.get("page_content"), fields.get("metadata")
            if type(text) is str:
                copies.append(_new(Document, (text, fields.get("id"), dict(about) if about else {}, None)))
                continue
        copies.append(copy(item))
    return tuple(copies)


_LANGCHAINS: set[type] = set()  # LangChain's own class of documents, once one was met


def _is_langchains(kind: type) -> bool:
    if kind.__name__ != "Document" or kind.__module__ != "langchain_core.documents.base":
        return False
    _LANGCHAINS.add(kind)
    return True


_new = tuple.__new__  # what a named tuple's own way of being made comes down to


def are_copies(copies: Sequence[Document], documents: Sequence[Any]) -> bool:
    """Whether `copies` are of these documents, all of them, as they are now."""
    if len(copies) != len(documents):
        return False
    try:
        for found, document in zip(copies, documents):  # noqa: B905  (as many, and this is called in hooks)
            if found is document:
                continue
            if found.text is not document.page_content or found.metadata != document.metadata:
                return False
            if found.id != getattr(document, "id", None):
                return False
    except Exception:  # copies themselves that are others, or metadata that cannot be compared
        return False
    return True


def copy_value(value: Any, copy: Callable[[Any], Document] = copy_document) -> Any:
    """Inputs and outputs, so that the host may go on changing its dicts, lists and documents."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _copy_item(item, copy) for key, item in value.items()}
    return _copy_item(value, copy)


def _copy_item(value: Any, copy: Callable[[Any], Document]) -> Any:
    if isinstance(value, (list, tuple)):
        return [copy(item) if hasattr(item, "page_content") else item for item in value]
    if isinstance(value, dict):
        return dict(value)
    return value


def texts_of(documents: Iterable[Any]) -> tuple[str, ...]:
    """The texts of documents, copied or not."""
    return tuple([item.text if type(item) is Document else item.page_content for item in documents])


def documents_in(value: Any) -> Mapping[str, Sequence[Any]]:
    """The documents in a value: by key in a dict, under "" where the value itself is such a list.

    Lists and tuples of LangChain-like documents are given as they are; those of other passages as copies (see
    `assay.capture.passages`), and so is a document in a pair with its score.
    """
    if isinstance(value, dict):
        found: dict[str, Sequence[Any]] = {}
        for key, item in value.items():
            if (type(item) is list or type(item) is tuple) and (items := _documents(item)) is not None:
                found[key] = items
        return found
    if type(value) is list or type(value) is tuple:
        items = _documents(value)
        return {"": items} if items is not None else {}
    return {}


def _documents(value: Sequence[Any]) -> Sequence[Any] | None:
    if not value:
        return None
    first = value[0]
    kind = type(first)  # most lists hold one kind of document, and asking a type is quicker than asking an object
    if kind is str:
        return None
    if hasattr(first, "page_content"):
        for item in value:
            if type(item) is not kind and not hasattr(item, "page_content"):
                return [with_score(*value)] if is_scored(value) else None
        return value
    return passages_by_type(value)


def size_of(value: Any) -> int:
    """Roughly how many characters a copied value holds, looking no deeper than two levels."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum([_size_of_item(item) for item in value.values()])
    return _size_of_item(value)


def _size_of_item(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Document):
        return len(value.text)
    if isinstance(value, (list, tuple)):
        return sum([len(item if isinstance(item, str) else _text_of(item)) for item in value])
    return 0


def _text_of(item: Any) -> str:
    text = item.text if isinstance(item, Document) else getattr(item, "content", "")
    return text if isinstance(text, str) else ""
