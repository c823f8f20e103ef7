"""The text of a chat message, wherever servers put it.

Most put it in `content`. Others answer a request with a schema by a tool call, or put what the schema enforced into the
field of the reasoning; completions of the older kind have no message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

#: Kinds of parts that are the reply. Others (thinking, reasoning) come before it.
_PARTS = (None, "text", "output_text")
_REASONING = ("reasoning_content", "reasoning")


def text_of(message: Mapping[str, Any], choice: Mapping[str, Any], *, whole: bool = True) -> str:
    """Find the text of a reply.

    Args:
        message: The message.
        choice: The choice that has the message.
        whole: Whether the reply ended by itself. Reasoning that was cut is no reply.

    Returns:
        The text. Arguments of tool calls follow the content: if both hold an answer, these must agree.
    """
    texts = [_content(message.get("content")), *_arguments(message)]
    text = "\n".join(part for part in texts if part.strip())
    if text:
        return text if len(texts) > 1 else texts[0]
    plain = choice.get("text")
    return plain if isinstance(plain, str) else _reasoned(message) if whole else ""


def _content(content: Any) -> str:
    """The content of a message: a text, a list of parts, or an object that the server has read already."""
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    if isinstance(content, Mapping):
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else ""


def _part(part: Any) -> str:
    if isinstance(part, Mapping) and part.get("type") in _PARTS:
        return str(part.get("text") or "")
    return part if isinstance(part, str) else ""


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    """The arguments of all calls of tools and functions, as JSON texts."""
    calls = message.get("tool_calls")
    tools = [call.get("function") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    for function in (*tools, message.get("function_call")):
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if arguments:
            yield arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _reasoned(message: Mapping[str, Any]) -> str:
    """Reasoning that is one object from start to end: a schema was enforced on it. Prose with an object is a draft."""
    for name in _REASONING:
        text = message.get(name)
        if isinstance(text, str) and text.strip().startswith("{") and text.strip().endswith("}"):
            return text
    return ""
