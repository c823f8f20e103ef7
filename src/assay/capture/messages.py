"""Conversations in lists of chat messages: question, answer, earlier turns, and the passages that messages carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import InputError
from assay.records import Context, Turn
from assay.records.field_names import CONTEXT_NAMES, context_text, well_formed
from assay.records.images import base64_uri, is_data_uri
from assay.records.messages import role_of, text_of, texts_in


def search_results_in(content: Any) -> list[dict[str, Any]]:
    """Find the passages in the content of a message: its blocks of type `search_result`.

    Args:
        content: Content of the message.

    Returns:
        One dict for each block, with `text` and `metadata` (title and source). Empty if there are none.
    """
    blocks = content if isinstance(content, (list, tuple)) else ()
    return [
        {
            "text": "\n".join(texts_in(block.get("content"))),
            "metadata": {key: block[key] for key in ("title", "source") if isinstance(block.get(key), str)},
        }
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "search_result" and "content" in block
    ]


def pictures_in(content: Any) -> list[dict[str, Any]]:
    """Find the passages in the content of a message that has pictures.

    Nothing is decoded or fetched.

    Args:
        content: Content of the message.

    Returns:
        One dict for each picture, with an empty `text` and `image`, and one for each text, in order. Empty without
        pictures.
    """
    blocks = content if isinstance(content, (list, tuple)) else ()
    images = [_image_of(block) if isinstance(block, dict) else None for block in blocks]
    if not any(images):
        return []
    both = zip(blocks, images, strict=True)
    passages = [
        {"text": "", "image": image} if image else {"text": "".join(texts_in([block]))} for block, image in both
    ]
    return [passage for passage in passages if passage.get("image") or passage["text"].strip()]


def _image_of(block: dict[str, Any]) -> str | None:
    """The picture of a content block, as OpenAI, Anthropic, LangChain and MCP have them; nothing is decoded."""
    if block.get("type") not in ("image", "image_url", "input_image"):
        return None
    inner = next((block[key] for key in ("image_url", "source") if isinstance(block.get(key), dict)), block)
    for value in (inner.get("url"), inner.get("image_url")):
        if isinstance(value, str) and value:
            return value
    data = next((inner[key] for key in ("base64", "data") if isinstance(inner.get(key), str)), "")
    kind = next((inner[key] for key in ("mime_type", "media_type", "mimeType") if isinstance(inner.get(key), str)), "")
    if not data or is_data_uri(data):
        return data or None
    return base64_uri(kind, data)


def last_question(messages: Sequence[Any]) -> str | None:
    """Return the text of the last user message.

    Args:
        messages: Chat messages of any framework, in order.

    Returns:
        The text. None if there is no user message, or its text is empty.
    """
    at = _last_human(messages)
    return None if at is None else text_of(messages[at]) or None


def last_answer(messages: Sequence[Any]) -> str | None:
    """The last text of the model, looking no further back than the last message of a human."""
    for message in reversed(messages):
        role = role_of(message)
        if role == "user":
            return None
        if role == "assistant" and text_of(message).strip():
            return text_of(message)
    return None


def last_result(messages: Sequence[Any]) -> str | None:
    """The text of the last message, if it is the result of a tool that did not fail."""
    last = messages[-1] if messages else None
    if last is None or role_of(last) != "tool":
        return None
    status = last.get("status") if isinstance(last, Mapping) else getattr(last, "status", None)
    text = text_of(last)
    return text if text.strip() and status != "error" else None


def artifacts_of(messages: Sequence[Any]) -> tuple[Context, ...]:
    """The documents that tools attached to their messages, each once."""
    found: dict[str, Context] = {}
    for message in messages:
        artifact = message.get("artifact") if isinstance(message, dict) else getattr(message, "artifact", None)
        for document in artifacts_in(artifact) or ():
            passage = context_text(document)
            found.setdefault(passage.text or passage.image or "", passage)
    return tuple(found.values())


def artifacts_in(artifact: Any) -> list[Any] | None:
    """Find the documents in the artifact of a tool.

    The artifact is a list of documents or pictures, or has a list of documents in a field. Documents are objects with
    `page_content`, or passages as objects or dicts. In a field, passages count only under an accepted name of contexts.

    Args:
        artifact: The artifact. It may be any object.

    Returns:
        The documents. None if there are none.
    """
    if artifact is None or isinstance(artifact, (str, bytes, int, float)):
        return None
    if isinstance(artifact, (list, tuple)):
        return pictures_in(artifact) or (list(artifact) if _are_passages(artifact) else None)
    if isinstance(artifact, dict) and (shown := pictures_in([artifact])):
        return shown
    fields = artifact if isinstance(artifact, Mapping) else getattr(artifact, "__dict__", None) or {}
    for name, value in fields.items():
        if isinstance(value, (list, tuple)) and value:
            documents = all(hasattr(item, "page_content") for item in value)
            if documents or (name in CONTEXT_NAMES and _are_passages(value)):
                return list(value)
    return None


def _are_passages(items: Sequence[Any]) -> bool:
    if not items or any(isinstance(item, str) or role_of(item) is not None for item in items):
        return False
    try:
        return all(hasattr(item, "page_content") or context_text(item) is not None for item in items)
    except InputError:
        return False


def after_last_question(messages: Sequence[Any]) -> Sequence[Any]:
    """The messages of this turn: those after the last one of a human."""
    at = _last_human(messages)
    return messages if at is None else messages[at + 1 :]


def from_last_question(messages: Sequence[Any]) -> Sequence[Any]:
    """The messages of this turn, with the one that asked."""
    return messages[_last_human(messages) or 0 :]


def turns_before(messages: Sequence[Any], *, whole: bool = False) -> tuple[Turn, ...]:
    """The exchanges before the last message of a human; all of them where `messages` is a history (`whole`).

    The documents that tools attached to their messages are the contexts of their turn. A history may also be a list
    of pairs (question, answer).
    """
    if whole and messages and all(_is_pair(item) for item in messages):
        return tuple(Turn(question=well_formed(item[0]), answer=well_formed(item[1])) for item in messages)
    turns: list[Turn] = []
    question, answer = None, None
    between: list[Any] = []
    for message in messages if whole else messages[: _last_human(messages) or 0]:
        role = role_of(message)
        if role == "user":
            if question and answer:
                turns.append(Turn(question=question, answer=answer, contexts=artifacts_of(between)))
            question, answer = text_of(message), None
            between = []
        elif role == "assistant" and text_of(message).strip():
            answer = text_of(message)
        elif role not in (None, "assistant"):
            between.append(message)
    if question and answer:
        turns.append(Turn(question=question, answer=answer, contexts=artifacts_of(between)))
    return tuple(turns)


def _last_human(messages: Sequence[Any]) -> int | None:
    return next((n for n in range(len(messages) - 1, -1, -1) if role_of(messages[n]) == "user"), None)


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, (tuple, list))
        and len(item) == 2
        and all(isinstance(part, str) for part in item)
        and role_of(item) is None
    )
