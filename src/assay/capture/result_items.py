"""One result of a search, a vector store or a retriever as a document: its text and where that comes from.

Services name the fields of a result in many ways, and nest them. The text stands under a name of a text, in the result
or in an object within it (`document`, `payload`, `content`); the source under a name that ends with one of a source
(`DocumentURI`, `sourcepage`, `location.s3Location.uri`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from assay.capture.passages import document_of
from assay.capture.tree import Document
from assay.errors import InputError
from assay.records.field_names import TEXT_KEYS
from assay.records.messages import text_in

#: Where a result has its text. Of several the longest counts: the others are parts of it.
_TEXTS = (
    *TEXT_KEYS, "snippet", "snippets", "raw_content", "passage", "excerpt", "chunk", "body", "markdown", "abstract",
    "description", "highlights",
)  # fmt: skip
#: Further excerpts of the same page, which the text does not hold (Brave).
_FURTHER = "extra_snippets"
#: Tasks and products have these as well: passages only where an address stands beside them.
_WEAK_TEXTS = ("description", "abstract")
#: Where a hit has the fields of its document: Elasticsearch, Pinecone, Qdrant, Milvus, nodes with a score.
_HITS = ("_source", "metadata", "payload", "entity", "document", "node", "fields", "resource")
#: The same, and objects that a result of anything may have.
_INNER = (
    *_HITS, "content", "chunk", "segment", "document_excerpt", "derived_struct_data", "document_metadata",
    "_additional",
)  # fmt: skip
#: What says where a text comes from, beside addresses.
_SOURCES = ("doc_id", "document_id", "documentid", "chunk_id", "file_id", "sourcepage", "sourcefile", *_HITS)
#: The last word of an address's name, and the first of one that is that of a picture beside a text.
_ADDRESSES = frozenset(("url", "link", "uri", "href", "source", "path", "file", "filename"))
_PICTURES = frozenset(("image", "avatar", "icon", "thumbnail", "favicon", "photo", "logo"))
#: What search results have as well, but tasks and notes too.
_WEAK_SOURCES = (
    "title", "score", "_score", "@search.score", "similarity", "distance", "relevance_score", "rank", "relevance",
    "pageid", "text_match",
)  # fmt: skip
#: What has one of these, and no source, is a task, a message or a call.
_OTHER = frozenset(("role", "type", "tool_calls", "tool_call_id", "status", "args"))
_IDS = ("id", "_id", "doc_id", "document_id", "documentid", "chunk_id", "node_id", "file_id", "pageid", "object_id")
_SCORES = ("score", "_score", "@search.score", "relevance_score", "relevance", "similarity")
_DEPTH = 3
_MOST_INNER = 50  # objects in one result
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Fields = Mapping[str, Any]


def result_document(item: Mapping[Any, Any]) -> Document | None:
    """Read one result.

    Args:
        item: The result.

    Returns:
        The document, with its source and other plain values as metadata. None if the result has no text, or if nothing
        says that it was found.
    """
    levels = list(islice(_levels(item, _DEPTH), _MOST_INNER))
    named = [{snake_case(str(key)): value for key, value in level.items()} for level in levels]
    addressed = any(True for fields in named for _ in _addresses(fields))
    text = next((found for fields in named if (found := _longest(fields, addressed))), None)
    if text is None or not _is_result(named[0], addressed):
        return None
    identity = next(
        (fields[name] for fields in named for name in _IDS if isinstance(fields.get(name), (str, int))), None
    )
    try:
        return document_of({"text": text, "id": identity, "metadata": _metadata(levels, named, text)})
    except InputError:
        return None


def snake_case(name: str) -> str:
    """Write a name as most services do: `DocumentURI` as `document_uri`."""
    return _HUMP.sub("_", name).lower()


def _levels(item: Mapping[Any, Any], depth: int) -> Iterator[Mapping[Any, Any]]:
    """The result, and the objects of its document and of its place within it, from the outside in."""
    yield item
    for key, inner in item.items() if depth else ():
        name = snake_case(str(key))
        if isinstance(inner, Mapping) and (name in _INNER or name.endswith("location")):
            yield from _levels(inner, depth - 1)


def _longest(fields: Fields, addressed: bool) -> str | None:
    names = [name for name in _TEXTS if addressed or name not in _WEAK_TEXTS]
    longest = max(filter(None, (_text(fields.get(name)) for name in names)), key=len, default=None)
    return "\n".join(filter(None, (longest, _text(fields.get(_FURTHER))))) or None


def _text(value: Any) -> str | None:
    """A text, the text of content blocks, or parts such as `snippets`, one a line."""
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(part, Mapping) for part in value):
        return text_in(value) or _text([part["snippet"] for part in value if isinstance(part.get("snippet"), str)])
    return "\n".join(value) if all(isinstance(part, str) and part.strip() for part in value) else None


def _is_result(fields: Fields, addressed: bool) -> bool:
    if "role" in fields or "tool_calls" in fields:
        return False
    if addressed or "page_content" in fields or any(_has_value(fields.get(name)) for name in _SOURCES):
        return True
    return any(_has_value(fields.get(name)) for name in _WEAK_SOURCES) and _OTHER.isdisjoint(fields)


def _metadata(levels: Sequence[Mapping[Any, Any]], named: Sequence[Fields], text: str) -> dict[str, Any]:
    """Plain values of the result and of the objects within it, its score as `score`, an address within as `source`."""
    values: dict[str, Any] = {}
    for level in reversed(levels):
        values |= {str(key): value for key, value in level.items() if _is_plain(value) and value != text}
    values = {key: value for key, value in values.items() if snake_case(key) not in _TEXTS}
    found = {"score": next((named[0][name] for name in _SCORES if isinstance(named[0].get(name), (int, float))), None)}
    if not any(True for _ in _addresses(named[0])):
        found["source"] = next((address for fields in named[1:] for address in _addresses(fields)), None)
    return {key: value for key, value in found.items() if value is not None} | values


def _addresses(fields: Fields) -> Iterator[Any]:
    for name, value in fields.items():
        words = name.split("_")
        if words[-1] in _ADDRESSES and words[0] not in _PICTURES and isinstance(value, str) and value:
            yield value


def _has_value(value: Any) -> bool:
    return value not in (None, "", {})


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))
