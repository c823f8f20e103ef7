"""The passages in what a tool returned: result lists of searches, and content blocks of MCP. Pure functions.

A result is a mapping with a text and its source, in a list, also within a mapping or in JSON. A number, a row of a
table and a plain text may be anything: they are passages only where `CaptureRules.contexts_tools` names the tool.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from assay._util.byte_limits import check_json
from assay.capture.messages import pictures_in, search_results_in
from assay.capture.passages import document_of
from assay.capture.result_items import result_document, snake_case
from assay.capture.tree import Document, Run, Trace

DEPTH = 6  # levels of mappings in which a list of results is looked for

#: Where a list of results stands: web searches, vector stores, search servers.
_LISTS = (
    "results", "documents", "sources", "matches", "hits", "items", "organic", "organic_results", "data", "docs",
    "passages", "chunks", "contexts", "result", "value", "points", "search_results", "source_documents", "children",
    "records",
)  # fmt: skip
#: Where a mapping has another with such a list: {"web": {"results": [...]}}, MCP's structured content.
_WRAPPERS = (
    "web", "webPages", "news", "response", "structured_content", "structuredContent", "output", "search", "query",
    "root",
)  # fmt: skip
_NAMES = (*_LISTS, *_WRAPPERS, "messages")
_BLOCKS = frozenset(("text", "resource", "resource_link", "image", "audio", "file"))

#: The tools whose texts are passages, by name or pattern, with what separates the passages in a text.
Separators = Mapping[str, str | None]


def add_tool_results(trace: Trace, tools: Iterable[str] | Mapping[str, str | None] | None = None) -> None:
    """Give tools the documents in what they returned, where no step in them delivered any.

    Args:
        trace: The finished trace. Its runs of tools get `documents`.
        tools: Names of tools whose texts are passages: see `CaptureRules.contexts_tools`.
    """
    if not any(run.kind == "tool" for run in trace.members):
        return
    named = separators(tools)
    children = trace.children()
    for run in reversed(trace.members):  # what lies below was added later
        if run.kind != "tool" or run.below_retriever or run.error is not None or run.outputs is None:
            continue
        by_name, separator = _rule_for(run.name, named)
        if not run.documents and not _delivers(run, children):
            found = texts_in_result(run.outputs, separator) if by_name else documents_in_result(run.outputs)
            if found:
                run.documents = tuple(found)


def separators(tools: Iterable[str] | Mapping[str, str | None] | None) -> Separators:
    """The rule `contexts_tools` as a mapping of names to separators."""
    if tools is None:
        return {}
    if isinstance(tools, str):
        return {tools: None}
    return tools if isinstance(tools, Mapping) else dict.fromkeys(tools)


def documents_in_result(value: Any, depth: int = DEPTH) -> list[Document] | None:
    """Find the results in what a tool returned.

    Args:
        value: What the tool returned: a text, a message, content blocks, a list or a mapping.
        depth: Levels to search.

    Returns:
        One document for each result, with its source in the metadata. None if there are no results.
    """
    if depth == 0 or value is None:
        return None
    if isinstance(value, str):
        return documents_in_result(_parsed(value), depth - 1)
    if isinstance(value, (list, tuple)):
        return _in_list(value, depth)
    if isinstance(value, Mapping):
        return _in_mapping(value, depth)
    if hasattr(value, "content"):
        artifact = getattr(value, "artifact", None) or getattr(value, "structuredContent", None)
        return _in_message(artifact, value.content, _status(value), depth)
    return None


def texts_in_result(value: Any, separator: str | None = None) -> list[Document] | None:
    """The results in what a tool returned; where there are none, its texts.

    Args:
        value: What the tool returned.
        separator: What separates the passages in one text. None: a text is one passage.

    Returns:
        The documents. None if the tool returned no text.
    """
    found = documents_in_result(value)
    if found is None:
        found = [Document(text, None, {}) for text in _texts(value, separator) if text.strip()]
    return found or None


def blocks_in(content: Any) -> list[dict[str, Any]] | None:
    """Find the content blocks of MCP in what a tool returned.

    Args:
        content: Content of a result: blocks as MCP's objects or as dicts.

    Returns:
        The blocks as dicts. None if it holds anything else.
    """
    blocks = [_plain_block(item) for item in content] if isinstance(content, list) else []
    return [dict(block) for block in blocks] if blocks and all(map(_is_block, blocks)) else None


def _rule_for(name: str | None, tools: Separators) -> tuple[bool, str | None]:
    for pattern, separator in tools.items():
        if name is not None and fnmatchcase(name, pattern):
            return True, separator
    return False, None


def _delivers(run: Run, children: Mapping[Hashable, Sequence[Run]]) -> bool:
    """Whether a step below a tool delivered documents: the tool's text is made of these."""
    waiting = list(children.get(run.id, ()))
    while waiting:
        below = waiting.pop()
        if below.documents is not None or below.recorded:
            return True
        waiting += children.get(below.id, ())
    return bool(run.recorded)


def _texts(value: Any, separator: str | None) -> list[str]:
    if isinstance(value, Document):
        return [value.text]
    if isinstance(value, str):
        return value.split(separator) if separator else [value]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(_block_text(item), separator)]
    content = value.get("content") if isinstance(value, Mapping) else getattr(value, "content", None)
    if _status(value) == "error":
        return []
    if content is not None:
        return _texts(content, separator)
    if isinstance(value, Mapping) and isinstance(value.get("messages"), (list, tuple)):
        return _texts(value["messages"], separator)
    return [] if value is None else [json.dumps(value, ensure_ascii=False, default=str)]


def _block_text(item: Any) -> Any:
    """The text of a content block; anything else as it is."""
    item = _plain_block(item)
    if not isinstance(item, Mapping):
        return item
    resource = item.get("resource")
    if item.get("type") == "resource" and isinstance(resource, Mapping):
        return resource.get("text")
    return item["text"] if item.get("type") == "text" and isinstance(item.get("text"), str) else item


def _in_message(artifact: Any, content: Any, status: Any, depth: int) -> list[Document] | None:
    if status == "error":
        return None
    found = documents_in_result(artifact, depth) if isinstance(artifact, (Mapping, list)) else None
    return found or documents_in_result(content, depth)


def _in_list(items: Sequence[Any], depth: int) -> list[Document] | None:
    if not items:
        return None
    items = [_plain_block(item) for item in items]
    declared = search_results_in(items) or pictures_in(items)
    if declared:
        return [document_of(item) for item in declared]
    if all(map(_is_block, items)):
        lists = [_in_block(item, depth) for item in items]
        return [found for one in lists for found in one or ()] or None
    if any(hasattr(item, "content") or (isinstance(item, Mapping) and "tool_call_id" in item) for item in items):
        lists = [documents_in_result(item, depth - 1) for item in items]
        return [found for one in lists for found in one or ()] or None
    if all(isinstance(item, Mapping) for item in items):
        results = [result_document(item) for item in items]
        return [found for found in results if found is not None] or None
    documents = [item for item in items if hasattr(item, "page_content") or isinstance(item, Document)]
    return list(map(document_of, items)) if len(documents) == len(items) else None


def _in_block(block: Mapping[str, Any], depth: int) -> list[Document] | None:
    if block.get("type") == "text":
        return documents_in_result(block.get("text"), depth - 1)
    resource = block.get("resource")
    found = result_document(resource) if isinstance(resource, Mapping) else None
    return None if found is None else [found]


def _in_mapping(value: Mapping[Any, Any], depth: int) -> list[Document] | None:
    if "tool_call_id" in value:  # a tool's message, as JSON has it
        return _in_message(value.get("artifact"), value.get("content"), value.get("status"), depth)
    columns = _in_columns(value)
    if columns:
        return columns
    found = _in_lists(value, depth)
    if found:
        return found
    fetched = any(value.get(name) not in (None, "", {}) for name in ("url", "link", "uri"))
    alone = result_document(value) if fetched else None
    return None if alone is None else [alone]


def listed_results(value: Mapping[Any, Any]) -> list[Document] | None:
    """Find the results in the answer of a search or a retriever, and not the answer itself.

    Args:
        value: The answer.

    Returns:
        One document for each result of the first list that holds any. None if there is none.
    """
    return _in_columns(value) or _in_lists(value, DEPTH)


def _in_lists(value: Mapping[Any, Any], depth: int) -> list[Document] | None:
    for name in (*_NAMES, *_others(value)):
        inner = value.get(name)
        found = documents_in_result(inner, depth - 1) if isinstance(inner, (list, tuple, Mapping)) else None
        if found:
            return found
    return None


def _others(value: Mapping[Any, Any]) -> list[Any]:
    """Other keys that end as those of lists do (`retrievalResults`, `scored_chunks`), or that stand alone."""
    others = [key for key in value if key not in _NAMES]
    return [key for key in others if len(value) == 1 or snake_case(str(key)).rsplit("_", 1)[-1] in _LISTS]


def _in_columns(value: Mapping[Any, Any]) -> list[Document] | None:
    """The documents of a vector store that gives columns, as Chroma does; a list of lists is a batch."""
    texts, ids, about = (_column(value.get(name)) for name in ("documents", "ids", "metadatas"))
    if not texts or not ids or len(ids) != len(texts) or not all(isinstance(text, str) for text in texts):
        return None
    about = about if len(about) == len(texts) else [{}] * len(texts)
    return [
        Document(text, str(id), dict(known) if isinstance(known, Mapping) else {})
        for text, id, known in zip(texts, ids, about, strict=True)
    ]


def _column(value: Any) -> list[Any]:
    items = list(value) if isinstance(value, (list, tuple)) else []
    return [inner for one in items for inner in one] if items and all(isinstance(one, list) for one in items) else items


def _is_block(item: Any) -> bool:
    return isinstance(item, Mapping) and str(item.get("type")) in _BLOCKS and ("text" in item or "resource" in item)


def _plain_block(item: Any) -> Any:
    """A content block of MCP as a dict; anything else as it is."""
    dump = getattr(item, "model_dump", None) if str(getattr(item, "type", None)) in _BLOCKS else None
    return dump() if callable(dump) else item


def _status(value: Any) -> Any:
    """The status of a tool's message; "error" also where MCP says that a call failed."""
    if getattr(value, "isError", False) is True:
        return "error"
    return value.get("status") if isinstance(value, Mapping) else getattr(value, "status", None)


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    for read in (json.loads, ast.literal_eval):  # as JSON, or as Python prints it
        try:
            check_json(text)
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None
