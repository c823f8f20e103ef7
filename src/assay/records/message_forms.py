"""Messages of other makes in the form of OpenAI's chat messages, before they are read.

- Anthropic: `tool_use` and `tool_result` among the parts of a content; a result goes by the role of the user.
- Bedrock's Converse API: `toolUse` and `toolResult`.
- Gemini: `functionCall` and `functionResponse` among the parts.
- Vercel's AI SDK: `tool-call` and `tool-result`.
- OpenAI's Responses API: items `function_call` and `function_call_output` beside messages.
- OpenAI's older `function_call` of a message, with the result in the role `function`.
- ShareGPT: `from` and `value`.

What is none of these stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: ShareGPT's speakers that have another name elsewhere.
_SPEAKERS = {"gpt": "assistant", "bing": "assistant", "observation": "tool", "function_response": "tool"}
_CALLS = frozenset({"tool_use", "tool-call", "function_call", "toolUse", "functionCall", "tool_call"})
_RESULTS = frozenset({"tool_result", "tool-result", "function_call_output", "toolResult", "functionResponse"})
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("input", "args", "arguments", "parameters")
_IDS = ("id", "call_id", "toolCallId", "toolUseId", "tool_use_id", "tool_call_id")
_CONTENTS = ("content", "output", "result", "response")


def expand_messages(items: Iterable[Any]) -> list[Any]:
    """Bring messages to one form.

    Args:
        items: The messages.

    Returns:
        The messages. A message with the results of several tools gives one for each.
    """
    return [message for item in items for message in _expanded(item)]


def _expanded(item: Any) -> Iterator[Any]:
    if not isinstance(item, Mapping):
        yield item
    elif isinstance(item.get("from"), str) and "value" in item and "role" not in item:
        speaker = item["from"]
        yield from _expanded({"role": _SPEAKERS.get(speaker.lower(), speaker), "content": item["value"]})
    elif item.get("type") in _CALLS and "role" not in item:
        yield {"role": "assistant", "content": "", "tool_calls": [_call(item)]}
    elif item.get("type") in _RESULTS and "role" not in item:
        yield _result(item)
    elif isinstance(item.get("function_call"), Mapping) and not item.get("tool_calls"):
        rest = {key: value for key, value in item.items() if key != "function_call"}
        yield {**rest, "content": item.get("content") or "", "tool_calls": [_call(item["function_call"])]}
    else:
        yield from _of_parts(item)


def _of_parts(item: Mapping[str, Any]) -> Iterator[Any]:
    """A message whose content has calls or results among its parts."""
    key = next((name for name in ("content", "parts") if isinstance(item.get(name), (list, tuple))), None)
    parts = [_kind_of(part) for part in item[key]] if key is not None else []
    calls = [_call(part) for kind, part in parts if kind in _CALLS]
    results = [_result(part) for kind, part in parts if kind in _RESULTS]
    rest = [part for kind, part in parts if kind not in _CALLS and kind not in _RESULTS]
    if key is None or rest == item[key]:
        yield item
        return
    yield from results
    if results and not (calls or rest):
        return
    message = {**item, key: rest}
    if calls:
        listed = list(item.get("tool_calls") or ())
        message["tool_calls"] = [*listed, *(call for call in calls if not _is_listed(call, listed))]
    yield message


def _is_listed(call: Mapping[str, Any], listed: Iterable[Any]) -> bool:
    """Whether a call among the parts is one of the message's own list: LangChain writes both."""
    known = [one for one in listed if isinstance(one, Mapping)]
    if call.get("id") is not None:
        return any(one.get("id") == call["id"] for one in known)
    return any(_first(one.get("function") or one, _NAMES) == call["name"] for one in known)


def _kind_of(part: Any) -> tuple[str, Any]:
    """The kind of a part, and its body: Bedrock and Gemini have the kind as the key."""
    if not isinstance(part, Mapping):
        return "", part
    kind = part.get("type")
    if isinstance(kind, str) and (kind in _CALLS or kind in _RESULTS):
        return kind, part
    for key in ("toolUse", "toolResult", "functionCall", "functionResponse"):
        if isinstance(part.get(key), Mapping):
            return key, part[key]
    if kind is None and set(part) == {"text"}:  # Bedrock and Gemini write texts so
        return "", {"type": "text", "text": part["text"]}
    return "", part


def _call(body: Mapping[str, Any]) -> dict[str, Any]:
    arguments = _first(body, _ARGUMENTS)
    call = {"name": _first(body, _NAMES), "arguments": {} if arguments is None else arguments}
    identity = _first(body, ("call_id", *_IDS))
    return {**call, "id": identity} if identity is not None else call


def _result(body: Mapping[str, Any]) -> dict[str, Any]:
    identity = _first(body, ("tool_use_id", "call_id", *_IDS))
    message = {"role": "tool", "content": _text(_first(body, _CONTENTS))}
    return {**message, "tool_call_id": identity} if identity is not None else message


def _text(content: Any) -> str:
    """The text of a result: of parts the texts, each on a line of its own; of other values their JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) and isinstance(content.get("value"), str):  # the AI SDK's {"type": "text", ...}
        return str(content["value"])
    if isinstance(content, (list, tuple)):
        return "\n".join(filter(None, map(_text_of_part, content)))
    return json.dumps(content, ensure_ascii=False, default=str)


def _text_of_part(part: Any) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(part, Mapping) and "json" in part:
        return json.dumps(part["json"], ensure_ascii=False, default=str)
    if isinstance(part, Mapping) and part.get("type") in ("image", "document"):
        return ""
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)


def _first(body: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((body[name] for name in names if body.get(name) is not None), None)
