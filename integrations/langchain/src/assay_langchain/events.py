"""What LangChain's events carry, in the words of capture. Called in hooks: they take microseconds and copy no texts."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, cast

from assay.extension import artifacts_in, document_of, merge_updates, pictures_in, search_results_in, text_of

#: Types of what `plain` gives as it is: not asking it is quicker. It adds those that it has met.
AS_THEY_ARE: set[type] = {type(None), str, dict}
_MOST = 256  # of them


def plain(value: Any) -> Any:
    """What a step took or gave, with LangGraph's commands and states of its own types as the dicts they stand for.

    A command is the update it makes; of several commands, all their updates. Messages, documents and prompts stay what
    they are.
    """
    if value is None or type(value) in (dict, str):
        return value
    if type(value) is list:
        if value and all(_is_command(item) for item in value):
            return merge_updates([item.update for item in value])
        return value
    if _is_command(value):
        return plain(value.update)
    return _fields(value)


def is_resume(inputs: Any) -> bool:
    """Whether a graph was given a human's word, with which it goes on."""
    return _is_command(inputs) and getattr(inputs, "resume", None) is not None


def _is_command(value: Any) -> bool:
    return type(value).__name__ == "Command" and hasattr(value, "update")


def _fields(value: Any) -> Any:
    """The fields of a dataclass or a pydantic model that is the state of a graph; anything else as it is."""
    kind: type = type(value)
    names = _field_names(cast("Hashable", kind))
    if names is None:
        if len(AS_THEY_ARE) < _MOST:
            AS_THEY_ARE.add(kind)
        return value
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


@lru_cache(maxsize=256)  # asking pydantic's classes for what they lack takes microseconds
def _field_names(cls: Hashable) -> tuple[str, ...] | None:
    names = getattr(cls, "__dataclass_fields__", None) or getattr(cls, "__pydantic_fields__", None)
    if names is None or "content" in names or "page_content" in names or hasattr(cls, "to_messages"):
        return None
    return tuple(names)


def tools_offered(described: Any) -> tuple[str, ...]:
    """What tools say of themselves: of one, or of all those that a model may call by its parameters."""
    if isinstance(described, str):
        return (described,)
    tools = described.get("tools") if isinstance(described, dict) else None
    if type(tools) is not list:
        return ()
    dicts = [item.get("function", item) for item in tools if isinstance(item, dict)]
    texts = [item.get("description") for item in dicts if isinstance(item, dict)]
    return tuple([text for text in texts if type(text) is str])


def text_written(response: Any) -> str | None:
    """The text that a model wrote, without reasoning and tool calls."""
    generations = getattr(response, "generations", None)
    if not generations or not generations[0]:
        return None
    generation = generations[0][0]
    message = getattr(generation, "message", None)
    if message is None:
        return getattr(generation, "text", None)
    return message.content if isinstance(message.content, str) else text_of(message)


def documents_of_tool(output: Any) -> list[Any] | None:
    """The documents that a tool returned or attached: itself, as its message's artifact, or in the update it makes."""
    found = _documents_of_tool(output)
    return found and [item if hasattr(item, "page_content") else document_of(item) for item in found]


def _documents_of_tool(output: Any) -> list[Any] | None:
    if type(output) is str:
        return None
    if _is_command(output):
        update = output.update if isinstance(output.update, dict) else {}
        messages = update.get("messages")
        attached = [artifacts_in(getattr(item, "artifact", None)) for item in messages or ()]
        return [item for items in attached for item in items or ()] or artifacts_in(update)
    artifact = getattr(output, "artifact", None)
    if artifact is not None:
        return artifacts_in(artifact)
    content = getattr(output, "content", output if type(output) is list else None)
    return search_results_in(content) or pictures_in(content) or artifacts_in(output)
