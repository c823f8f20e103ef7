"""Inputs and outputs as frameworks write them to JSON, in the forms that the rest of capture reads.

Messages become dicts with `type` or `role` and `content`, documents dicts with `page_content`. Used where traces are
read from a store or a file; live capture sees the objects themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.capture.passages import passages_by_type
from assay.capture.snapshots import document_of
from assay.capture.tree import Document
from assay.errors import InputError
from assay.records.messages import is_message, prompt_of, role_of, text_of, unwrap_message

DEPTH = 24  # how deep messages and documents are looked for

_COMMAND = frozenset({"update", "goto", "resume"})
_CHAT_NAMES = ("messages", "message", "input", "inputs", "prompt", "prompts", "args", "text", "contents")
_TEXT_NAMES = ("text", "content", "answer", "response", "output", "outputs", "completion", "message")


def unwrap_value(value: Any, depth: int = DEPTH) -> Any:
    """Unwrap the messages and documents that frameworks wrote to JSON.

    - The forms {"lc": 1, "kwargs": …} and {"type": "human", "data": …}, and messages of parts, become plain messages
      and documents.
    - A pair of role and text becomes a message, in a list of messages.
    - A LangGraph command becomes its update. A list of commands becomes one dict of their updates.

    Args:
        value: Value read from JSON.
        depth: Levels to unwrap.

    Returns:
        The unwrapped value. The argument itself does not change.
    """
    if depth == 0:
        return value
    if isinstance(value, list):
        items = [unwrap_value(item, depth - 1) for item in value]
        if value and all(map(_is_command, value)):
            return merge_updates(items)
        if any(_is_pair(item) for item in items) and all(role_of(item) is not None for item in items):
            return [{"role": item[0], "content": item[1]} if _is_pair(item) else item for item in items]
        return items
    if not isinstance(value, dict):
        return value
    if _is_command(value):
        return unwrap_value(value["update"], depth - 1)
    unwrapped = unwrap_message(value)
    if unwrapped is not value:
        return unwrap_value(unwrapped, depth - 1)
    return {key: unwrap_value(item, depth - 1) for key, item in value.items()}


def is_resume(value: Any) -> bool:
    """Check whether the input of a graph is a command with which it goes on after an interrupt.

    Args:
        value: The input, read from JSON.

    Returns:
        True for a LangGraph command with a value under `resume`.
    """
    return _is_command(value) and value["resume"] is not None


def documents_in(value: Any) -> dict[str, list[Document]]:
    """The lists of passages by type in a plain value: by key in a dict, under "" where the value itself is one."""
    if isinstance(value, Mapping):
        found = {str(key): _documents(item) for key, item in value.items()}
    else:
        found = {"": _documents(value)}
    return {key: items for key, items in found.items() if items}


def document_texts(value: Any) -> dict[str, tuple[str, ...]] | None:
    """Return the texts of the documents in the input of a run.

    Args:
        value: Unwrapped input: see `unwrap_value`.

    Returns:
        The texts by key of the input. The key is "" if the input itself is a list. None if there are no documents.
    """
    return {key: tuple(item.text for item in items) for key, items in documents_in(value).items()} or None


def passed_on(outputs: Any, given: Mapping[str, Sequence[str]] | None) -> tuple[Document, ...] | None:
    """Return the documents that a run passes on.

    A list that the run got in the same form under the same key is left out.

    Args:
        outputs: Unwrapped output of the run: see `unwrap_value`.
        given: Texts of the documents in its input, by key: see `document_texts`. None: there are none.

    Returns:
        The documents of all other lists in the output. None if there are none.
    """
    given = given or {}
    lists = documents_in(outputs)
    new = [items for key, items in lists.items() if given.get(key) != tuple(item.text for item in items)]
    return tuple(item for items in new for item in items) or None


def passages_in(value: Any) -> tuple[Document, ...] | None:
    """Find the passages in the output of a retriever.

    They are a list, or the first list of passages in a mapping. Items without a text are left out.

    Args:
        value: Unwrapped output: see `unwrap_value`.

    Returns:
        The passages as documents. An empty list in the data gives (). None if there is no list, or no item is a
        passage.
    """
    if isinstance(value, Mapping):
        inner = (value[key] for key in value if isinstance(value[key], (list, tuple)))
        return next((found for found in map(passages_in, inner) if found is not None), None)
    if not isinstance(value, (list, tuple)):
        return None
    found = tuple(item for item in map(_passage, value) if item is not None)
    return found if found or not value else None


def messages_in(value: Any, depth: int = 4) -> list[Any]:
    """Find the chat messages in the input of an LLM.

    Args:
        value: Unwrapped input: a list of messages, a batch of one, one message, or a mapping with messages under a
            usual key.
        depth: Levels to search.

    Returns:
        The messages, in order. Empty if there are none.
    """
    if depth == 0:
        return []
    if isinstance(value, list):
        if value and all(role_of(item) is not None for item in value):
            return value
        return messages_in(value[0], depth - 1) if len(value) == 1 else []
    if is_message(value):
        return [value]
    if isinstance(value, Mapping):
        under = (messages_in(value[name], depth - 1) for name in _CHAT_NAMES if value.get(name) is not None)
        return next((messages for messages in under if messages), [])
    return []


def texts_sent(value: Any, depth: int = 4) -> tuple[str, ...]:
    """Find the texts in the input of an LLM.

    Args:
        value: Unwrapped input: messages, a text, a list of texts, or a mapping with one of them under a usual key.
        depth: Levels to search.

    Returns:
        The texts of the messages or prompts, in order. Empty if there are none.
    """
    messages = messages_in(value)
    if messages:
        return prompt_of(messages)
    if isinstance(value, str):
        return (value,)
    if depth == 0:
        return ()
    if isinstance(value, (list, tuple)):
        return tuple(text for item in value for text in texts_sent(item, depth - 1))
    if isinstance(value, Mapping):
        under = (texts_sent(value[name], depth - 1) for name in _CHAT_NAMES if value.get(name) is not None)
        return next((texts for texts in under if texts), ())
    return ()


def text_written(value: Any, depth: int = 6) -> str | None:
    """Find the text in the output of an LLM.

    The output has the form of LangChain (generations), OpenAI (choices) or Gemini (candidates), or is a message or a
    text. The first reply counts.

    Args:
        value: Unwrapped output: see `unwrap_value`.
        depth: Levels to search.

    Returns:
        The text. None if there is none, or it is empty.
    """
    if isinstance(value, str):
        return value or None
    if depth == 0 or value is None:
        return None
    if is_message(value):
        return text_of(value) or None
    if isinstance(value, (list, tuple)):
        return text_written(value[0], depth - 1) if value else None
    if not isinstance(value, Mapping):
        return None
    message = value.get("message")
    if message is not None and (is_message(message) or isinstance(message, Mapping)):
        return text_written(message, depth - 1)
    for name in ("generations", "choices", "candidates", *_TEXT_NAMES):
        if value.get(name) is not None:
            return text_written(value[name], depth - 1)
    return None


def merge_updates(updates: Iterable[Any]) -> dict[str, Any]:
    """Merge updates of a state into one dict.

    Lists under the same key are joined. Of other values, the last one counts.

    Args:
        updates: Updates, in order. A value that is not a dict is ignored.

    Returns:
        A new dict. Empty without updates.
    """
    made: dict[str, Any] = {}
    for update in updates:
        for key, value in update.items() if isinstance(update, dict) else ():
            known = made.get(key)
            made[key] = known + value if isinstance(known, list) and isinstance(value, list) else value
    return made


def _documents(value: Any) -> list[Document]:
    return (passages_by_type(value) or []) if isinstance(value, list) and value else []


def _passage(value: Any) -> Document | None:
    try:
        return document_of(value)
    except InputError:
        return None


def _is_command(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _COMMAND


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and role_of(value) is not None
