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
    """`value` with what LangChain, LangGraph and the OpenTelemetry conventions wrap taken out of its wrapping.

    - {"lc": 1, "kwargs": …}, {"type": "human", "data": …} and messages of parts become plain messages and documents;
    - a pair of role and text, among messages, becomes a message;
    - a LangGraph command becomes the update it makes, several commands all their updates.
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


def documents_in(value: Any) -> dict[str, list[Document]]:
    """The lists of passages by type in a plain value: by key in a dict, under "" where the value itself is one."""
    if isinstance(value, Mapping):
        found = {str(key): _documents(item) for key, item in value.items()}
    else:
        found = {"": _documents(value)}
    return {key: items for key, items in found.items() if items}


def document_texts(value: Any) -> dict[str, tuple[str, ...]] | None:
    """The texts of the documents that a step was given, by key; None where there are none."""
    return {key: tuple(item.text for item in items) for key, items in documents_in(value).items()} or None


def passed_on(outputs: Any, given: Mapping[str, Sequence[str]] | None) -> tuple[Document, ...] | None:
    """The documents among a step's outputs that it was not given as they are; None where there are none."""
    given = given or {}
    lists = documents_in(outputs)
    new = [items for key, items in lists.items() if given.get(key) != tuple(item.text for item in items)]
    return tuple(item for items in new for item in items) or None


def passages_in(value: Any) -> tuple[Document, ...] | None:
    """What a retriever returned: a list of passages of any make, also one under a key. None: there is no such list.

    An empty list is nothing found, and is given as such. Entries without a text are left out; a list of nothing but
    such entries tells of no passages.
    """
    if isinstance(value, Mapping):
        inner = (value[key] for key in value if isinstance(value[key], (list, tuple)))
        return next((found for found in map(passages_in, inner) if found is not None), None)
    if not isinstance(value, (list, tuple)):
        return None
    found = tuple(item for item in map(_passage, value) if item is not None)
    return found if found or not value else None


def messages_in(value: Any, depth: int = 4) -> list[Any]:
    """The chat messages in a model's plain input: a list of them, a batch of one, or under a usual name."""
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
    """The texts in a model's plain input: one per message or prompt."""
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
    """The text in a model's plain output: LangChain's generations, choices, candidates, a message or a text."""
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
    """One dict of several updates; lists under the same key follow one another."""
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
