"""LlamaIndex objects as assay's records: plain functions that copy what they read and keep nothing of the host's.

Objects are known by the names of their classes and attributes, so that llama_index.core need not be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set, ValuesView
from dataclasses import replace
from operator import is_
from typing import Any

from assay import Context
from assay.extension import IMAGE_PREFIX, Document, structured_answer
from assay.extension import context_of as passage_of
from assay_llama_index.kinds import cache_by_class, derives, has_base

_SCHEMA = "llama_index.core.schema"
_PLAIN = frozenset({str, int, float, bool})
_PLAIN_VALUES = _PLAIN | {type(None)}
_TEXT = frozenset({str})

_new = tuple.__new__  # `Found(...)` takes twice as long

DEPTH = 3  # levels of nested metadata that are copied; what lies deeper becomes text


def text_of(value: Any) -> str | None:
    """The text of a query, a query bundle or a chat message."""
    if value is None or isinstance(value, str):
        return value
    for name in ("query_str", "content"):
        text = getattr(value, name, None)
        if isinstance(text, str):
            return text
    if is_stream(value) or is_query_stream(value) or is_chat_stream(value):  # as a text they would be read
        return None
    return str(value)


def answer_text(value: Any) -> str | None:
    """The text of an answer, of a structured object its field `answer` or its JSON, of an unread stream none."""
    if value is None or isinstance(value, str):
        return value
    if is_stream(value):
        return None
    found = structured_answer(value)
    if found is not None:
        return found
    as_json = getattr(value, "model_dump_json", None)
    return str(as_json()) if callable(as_json) else str(value)


def answer_of(result: Any) -> str | None:
    """The text of a finished answer. Reads no stream."""
    if result is None or isinstance(result, str):
        return result
    if is_query_stream(result):
        return answer_text(result.response_txt)
    return answer_text(getattr(result, "response", None))


def is_query_stream(result: Any) -> bool:
    """Is this the streaming response of a query engine?"""
    return has_base(result, "StreamingResponse", "AsyncStreamingResponse")


def is_chat_stream(result: Any) -> bool:
    """Is this the streaming response of a chat engine?"""
    return has_base(result, "StreamingAgentChatResponse")


def content_of(node: Any) -> str:
    """The text of a node, without its metadata: of plain text nodes the field itself, as the method takes longer."""
    return _content_and_id(node)[0]


def _content_and_id(node: Any) -> tuple[str, str, bool]:
    """The text of a node and its id, and whether it is one of those that hold text and nothing else."""
    kind: type = type(node)
    if _is_plain_text(kind) and type(node.text) is str:
        return node.text, node.id_, True
    return str(node.get_content()), node.node_id, False


@cache_by_class
def _is_plain_text(kind: type) -> bool:
    """Whether this is LlamaIndex' own class of nodes that hold text and nothing else."""
    return kind.__name__ == "TextNode" and kind.__module__ == _SCHEMA


@cache_by_class
def _is_scored(kind: type) -> bool:
    """Whether this is LlamaIndex' own class of nodes with scores."""
    return kind.__name__ == "NodeWithScore" and kind.__module__ == _SCHEMA


def copies_of(nodes: Iterable[Any]) -> list[Document]:
    """`found_of` each of the nodes. Of plain text nodes that is done in place, and so in `are_copies` and `texts_in`.

    A call a node, of code that is in no cache by the time a hook is called, takes longer than all the rest.
    """
    copies = []
    for node in nodes:
        scored = _is_scored(type(node))
        inner = node.node if scored else node
        known = inner.metadata if _is_plain_text(type(inner)) and type(inner.text) is str else None
        if type(known) is dict:
            for name, value in known.items():
                if type(value) not in _PLAIN_VALUES or type(name) is not str:
                    break
            else:  # a shallow copy of such metadata holds nothing that the host may change
                metadata = known.copy()
                if scored and node.score is not None:
                    metadata["score"] = float(node.score)
                copies.append(_new(Document, (inner.text, inner.id_, metadata, None)))
                continue
        copies.append(document_of(node))
    return copies


def document_of(node: Any) -> Document:
    """One node, with or without its retrieval score, copied. The text is that of the node, without its metadata.

    An image is named as the application did, and nothing of it is decoded. One that has no text is called
    `[image: PATH]`, by its path, its address or the id of its node, until it is a context.
    """
    if type(node) is Document:
        return node
    inner = getattr(node, "node", node)
    score = getattr(node, "score", None)
    text, id, plain_text = _content_and_id(inner)
    known = inner.metadata or {}
    if _TEXT.issuperset(map(type, known)) and _PLAIN_VALUES.issuperset(map(type, known.values())):
        metadata = dict(known)  # the usual case, and quicker
    else:
        metadata = {str(key): plain(value) for key, value in known.items()}
    if score is not None:
        metadata["score"] = float(score)
    # to look for what a class does not have takes pydantic longer than all the rest
    image = None if plain_text else image_of(inner)
    if image is not None and not text.strip():
        text = f"{IMAGE_PREFIX}{id if isinstance(image, tuple) else image}]"
    return Document(text, id, metadata, image)


def is_copy(found: Document, node: Any) -> bool:
    """Whether `found` is a copy of this node as it is now; False where that takes as long to see as to copy it."""
    inner = getattr(node, "node", node)
    text, id, _ = _content_and_id(inner)
    if found.image is not None or text is not found.text or id != found.id:
        return False
    score, known, metadata = getattr(node, "score", None), inner.metadata or {}, found.metadata
    if len(metadata) != len(known) + (score is not None) or (score is not None and metadata.get("score") != score):
        return False
    return all(map(is_, map(metadata.get, known), known.values()))


def are_copies(copies: Sequence[Document], nodes: Sequence[Any]) -> bool:
    """Whether these are copies of these nodes, in this order, as they are now: see `is_copy`."""
    if len(copies) != len(nodes):
        return False
    for copy, node in zip(copies, nodes, strict=True):
        inner: Any = node.node if _is_scored(type(node)) else None
        if not _is_plain_text(type(inner)):
            if not is_copy(copy, node):
                return False
            continue
        text, id, metadata, image = copy
        known, score = inner.metadata or {}, node.score
        if inner.text is not text or inner.id_ != id or image is not None:
            return False
        if score is None:
            if len(metadata) != len(known):
                return False
        elif len(metadata) != len(known) + 1 or metadata.get("score") != score:
            return False
        for key, value in known.items():
            if metadata.get(key) is not value:
                return False
    return True


def texts_in(nodes: Iterable[Any]) -> list[str]:
    """The texts of the contexts that nodes become, without those that only hold an intermediate answer."""
    texts = []
    for node in nodes:
        # what has a score was found, and is no answer
        plain_text = _is_scored(type(node)) and node.score is not None and _is_plain_text(type(node.node))
        text = node.node.text if plain_text else None
        if type(text) is str and text and not text.isspace():
            texts.append(text)
        elif not is_intermediate_answer(node):
            texts.append(text_in(node))
    return texts


def text_in(node: Any) -> str:
    """The text of the context that a node becomes."""
    inner = getattr(node, "node", node)
    text = content_of(inner)
    return text if text and not text.isspace() else document_of(node).text


def image_of(node: Any) -> str | tuple[str, str | bytes] | None:
    """A node's image: its path or address, or its media type and base64, as it stands. None: the node holds none."""
    for holder, prefix, data in ((node, "image_", "image"), (getattr(node, "image_resource", None), "", "data")):
        held = getattr(holder, data, None)
        if held and isinstance(held, (str, bytes)):
            kind = getattr(holder, f"{prefix}mimetype", None)
            return (kind if isinstance(kind, str) else "", held)
        for name in ("path", "url"):
            place = getattr(holder, prefix + name, None)
            if holder is not None and place:
                return str(place)
    return None


def context_of(node: Any) -> Context:
    """One node as a context."""
    context = passage_of(document_of(node))
    metadata = dict(context.metadata)
    score = metadata.pop("score", None) if getattr(node, "score", None) is not None else None
    return replace(context, score=score, metadata=metadata)


def contexts_of(nodes: Iterable[Any]) -> tuple[Context, ...]:
    """Nodes as contexts, in order, each once, without those that only hold an intermediate answer."""
    unique: dict[tuple[str | None, str, str | None], Context] = {}
    for context in (context_of(node) for node in nodes if not is_intermediate_answer(node)):
        unique.setdefault((context.id, context.text, context.image), context)
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


def is_stream(value: Any) -> bool:
    """Is this an iterator, sync or async, that nobody may read but the host?"""
    return hasattr(type(value), "__next__") or hasattr(type(value), "__anext__")


@cache_by_class
def streams(cls: type) -> bool:
    """Whether objects of this class may be an answer that is not complete: see `is_stream`, `is_query_stream` …"""
    names = ("StreamingResponse", "AsyncStreamingResponse", "StreamingAgentChatResponse")
    return derives(cls, *names) or hasattr(cls, "__next__") or hasattr(cls, "__anext__")


@cache_by_class
def is_plain_answer(cls: type) -> bool:
    """Whether this is LlamaIndex' own class of responses that hold a text and the nodes that it was written from."""
    return cls.__name__ == "Response" and cls.__module__ == "llama_index.core.base.response.schema"


def items_of(value: Any) -> Sequence[Any] | None:
    """The items of what may be read more than once; None for iterators and whatever else is used up by reading."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (Sequence, Set, ValuesView)) and not isinstance(value, (str, bytes)):
        return list(value)
    return None


def plain(value: Any, depth: int = DEPTH) -> Any:
    """A copy of a value as plain JSON; what JSON does not know becomes text, and a stream that nobody has read None."""
    if value is None or type(value) in _PLAIN:
        return value
    if is_stream(value):
        return None
    if is_query_stream(value) or is_chat_stream(value):  # as a text they would be read to their end
        return answer_of(value)
    if depth and isinstance(value, Mapping):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth - 1) for item in value]
    return str(value)
