"""Passages as objects whose text has a key of their own: answers of search services, hits of vector stores.

The text is the only one of an object that can be a passage: ids, titles, addresses and names of files are none. It may
lie in an object within, such as `payload`, `_source` or `document`. Where two texts can be the passage, both are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay._util.normalise import finite, json_object
from assay.capture.contexts import context_of
from assay.capture.result_items import result_document
from assay.capture.tool_results import listed_results
from assay.errors import InputError
from assay.records import Context
from assay.records.field_names import ID_KEYS, TEXT_KEYS, context_text

#: Parts of names under which there is something about a passage, and not the passage.
_ABOUT = frozenset({
    "id", "ids", "uid", "uuid", "guid", "key", "title", "name", "heading", "headline", "url", "uri", "link", "href",
    "address", "file", "filename", "path", "folder", "source", "src", "origin", "reference", "ref", "author",
    "authors", "creator", "publisher", "owner", "date", "time", "timestamp", "at", "created", "updated", "modified",
    "lang", "language", "locale", "type", "kind", "category", "class", "label", "tag", "tags", "topic", "keyword",
    "keywords", "score", "rank", "distance", "similarity", "relevance", "confidence", "index", "indexname",
    "namespace", "collection", "table", "database", "store", "model", "version", "hash", "checksum", "digest",
    "etag", "page", "section", "chapter", "position", "offset", "number", "count", "size", "length", "mime",
    "format", "encoding", "status", "role", "shard", "vector", "embedding", "question", "query",
})  # fmt: skip
_SCORES = ("score", "_score", "@search.score", "relevance_score", "similarity")
_IDS = (*ID_KEYS, "_id", "chunk_id", "key")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_DEPTH = 3


def passage_of(item: object) -> Context:
    """Read one passage.

    Args:
        item: A passage as `context_text` takes it, or an object whose only text is the passage.

    Returns:
        The context. Of an object, the values beside the text are its metadata.

    Raises:
        InputError: It is no passage, or two of its texts can be one. The message names them.
    """
    if not isinstance(item, Mapping):
        return context_text(item)
    try:
        path = own_path(item)
    except InputError:
        # of a search, whose fields have known names
        if (found := result_document(item)) is None:
            raise
        return context_of(found)
    return context_text(item) if path is None else _made(item, path)


def results_in(value: Mapping[Any, Any]) -> tuple[Context, ...] | None:
    """Read the answer of a search service or a retriever that stands in a cell as it came.

    Args:
        value: The object.

    Returns:
        One context for each result, with its source. None for an object that is a passage itself, and for one without
        a list of results.
    """
    if any(isinstance(value.get(key), str) for key in TEXT_KEYS) or result_document(value) is not None:
        return None
    found = listed_results(value)
    return tuple(map(context_of, found)) if found else None


def own_path(item: object) -> tuple[str, ...] | None:
    """Find the keys to the text of a passage, where they are of its own.

    Args:
        item: A passage.

    Returns:
        The keys; None for a passage that `context_text` reads. Raises InputError as `passage_path`.
    """
    if not isinstance(item, Mapping):
        return None
    try:
        context_text(item)
    except InputError:
        return passage_path(item)
    return None


def passage_path(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Find the keys that lead to the text of a passage.

    Args:
        item: The object.

    Returns:
        The keys, from the outermost on.

    Raises:
        InputError: No text can be the passage, or more than one can.
    """
    lists = [key for key, value in item.items() if _holds_texts(value) and not _is_about(str(key))]
    if lists:
        raise InputError(
            f"expected a passage, found an object with a list under {lists[0]!r}; if these are the passages, name the "
            f"list, for example --map contexts=COLUMN.{lists[0]}"
        )
    # an address or a label that stands under an unknown name is one word
    found = [path for path in _texts(item, ()) if path[-1] in TEXT_KEYS or _has_words(_at(item, path))]
    own = [path for path in found if not path[1:]]
    chosen = own or [path for path in found if path[0] not in ("metadata", "meta")] or found
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        keys = ", ".join(repr(key) for key in list(item)[:10])
        raise InputError(
            f"a passage given as a dict needs a text under {', '.join(TEXT_KEYS[:3])}, or one text alone; found the "
            f"keys {keys}"
        )
    names = [".".join(path) for path in chosen[:5]]
    raise InputError(
        f"{' and '.join(map(repr, names))} can each be the text of the passage; name it, for example "
        f"--map contexts=COLUMN.{names[0]}"
    )


def _texts(item: Mapping[Any, Any], before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths to texts that can be a passage; where an object names its text as passages do, to that alone."""
    known = next((key for key in TEXT_KEYS if isinstance(item.get(key), str)), None)
    if known is not None:
        yield (*before, known)
        return
    for key, value in item.items():
        name = str(key)
        if isinstance(value, Mapping) and len(before) < _DEPTH:
            yield from _texts(value, (*before, name))
        elif isinstance(value, str) and value.strip() and not _is_about(name):
            yield (*before, name)


def _holds_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(part, (str, Mapping)) for part in value)


def _is_about(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return words[-1] in _ABOUT if words else name.isascii()


def _has_words(text: Any) -> bool:
    return len(str(text).split(None, 2)) > 1 or not str(text).isascii()  # some scripts put no blanks between words


def _at(item: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        item = item[key]
    return item


def _made(item: Mapping[str, Any], path: tuple[str, ...]) -> Context:
    inner = _at(item, path[:-1])
    about = {key: value for key, value in item.items() if key != path[0]}
    if inner is not item:
        about |= {key: value for key, value in inner.items() if key != path[-1]}
    metadata = about.pop("metadata", None) or about.pop("meta", None)
    score = next((found for key in _SCORES if (found := finite(about.pop(key, None))) is not None), None)
    identity = next((found for key in _IDS if isinstance(found := about.pop(key, None), (str, int))), None)
    return Context(
        text=_at(item, path),
        id=None if identity is None else str(identity),
        score=score,
        metadata={**json_object(about), **json_object(metadata)},
    )
