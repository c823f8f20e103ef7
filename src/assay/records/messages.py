"""Messages and tool calls as whole records, from whatever other tools call so.

Read are dicts and objects of these makes: OpenAI's chat messages (`role`, `content`, `tool_calls[].function`, a tool's
result under `tool_call_id`), LangChain's and ragas' messages (`type` human, ai, tool, system; `tool_calls` with `name`
and `args`), DeepEval's turns (`tools_called` with `name`, `input_parameters`, `output`), assay's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay._util.normalise import json_object, missing
from assay.errors import InputError
from assay.records.field_names import describe
from assay.records.sample import Message, Role, ToolCall

_ROLES: Mapping[str, Role] = {
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "model": "assistant",
    "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_ARGUMENTS = ("arguments", "args", "input_parameters", "input", "parameters")
_CALLS = ("tool_calls", "tools_called")
_TEXTS = ("text", "input_text", "output_text")


def is_message(value: object) -> bool:
    """Whether this says who speaks, as messages do and passages do not."""
    role = _get(value, "role") or _get(value, "type")
    return isinstance(role, str) and role.casefold() in _ROLES


def messages_of(value: object, *, lenient: bool = False) -> tuple[Message, ...]:
    """The messages in a list; results of tools are also put into the calls that asked for them.

    Raises InputError naming the message that cannot be read; `lenient` leaves it out.
    """
    if not isinstance(value, (list, tuple)):
        raise InputError(f"expected a list of messages with role and content, found {describe(value)}")
    made: list[Message] = []
    results: dict[str, str] = {}
    for number, item in enumerate(value, 1):
        try:
            message = message_of(item)
        except InputError as error:
            if lenient:
                continue
            raise InputError(f"message {number} of {len(value)}: {error}") from None
        made.append(message)
        answers = _get(item, "tool_call_id") if message.role == "tool" else None
        if isinstance(answers, str) and answers:
            results.setdefault(answers, message.content)
    return tuple(_with_results(message, results) for message in made)


def _with_results(message: Message, results: Mapping[str, str]) -> Message:
    calls = tuple(
        replace(call, output=results.get(call.id or "")) if call.output is None else call for call in message.tool_calls
    )
    return message if calls == message.tool_calls else replace(message, tool_calls=calls)


def message_of(value: object) -> Message:
    """One message. Raises InputError."""
    if isinstance(value, Message):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(one, str) for one in value):
        value = {"role": value[0], "content": value[1]}
    if isinstance(value, Mapping) and "lc" in value and isinstance(value.get("kwargs"), Mapping):
        value = value["kwargs"]  # as LangChain serialises it
    role, content = _get(value, "role"), _get(value, "content")
    role = _get(value, "type") if role is None else role
    known = _ROLES.get(role.lower().removesuffix("messagechunk")) if isinstance(role, str) else None
    if known is None:
        raise InputError(f"expected role and content, with a role of {', '.join(_ROLES)}; found {describe(value)}")
    listed: Any = []
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):  # as ragas writes messages with calls
        content, listed = content["text"], content.get("tool_calls")
    for name in _CALLS:
        listed = listed or _get(value, name)
    return Message(role=known, content=_text(content), tool_calls=_calls(listed))


def tool_call_of(value: object) -> ToolCall:
    """One call of a tool. Raises InputError."""
    if isinstance(value, ToolCall):
        return value
    inner = _get(value, "function")
    body = value if inner is None or isinstance(inner, str) else inner
    name = _get(body, "name")
    if not isinstance(name, str) or not name:
        raise InputError(f"expected a tool call with a name, found {describe(value)}")
    given: object = next((found for key in _ARGUMENTS if not missing(found := _get(body, key))), {})
    if isinstance(given, str):
        given = _parsed(name, given)
    if not isinstance(given, Mapping):
        raise InputError(f"tool call {name!r}: expected arguments as an object, found {describe(given)}")
    output, identity = _get(body, "output"), _get(value, "id")
    return ToolCall(
        name=name,
        arguments=json_object(given),
        output=output if isinstance(output, str) or missing(output) else json.dumps(output, default=str),
        id=identity if isinstance(identity, str) and identity else None,
    )


def _parsed(name: str, text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"tool call {name!r}: expected arguments as JSON, found {describe(text)}") from None


def _calls(listed: object) -> tuple[ToolCall, ...]:
    if missing(listed):
        return ()
    if not isinstance(listed, (list, tuple)):
        raise InputError(f"expected a list of tool calls, found {describe(listed)}")
    made = []
    for number, item in enumerate(listed, 1):
        try:
            made.append(tool_call_of(item))
        except InputError as error:
            raise InputError(f"tool call {number} of {len(listed)}: {error}") from None
    return tuple(made)


def _text(content: object) -> str:
    """The text of a message's content, without reasoning and images."""
    if isinstance(content, str):
        return content
    if missing(content):
        return ""
    if isinstance(content, Sequence):
        parts = [block if isinstance(block, str) else _block(block) for block in content]
        return "".join(parts)
    raise InputError(f"expected a content of text, found {describe(content)}")


def _block(block: object) -> str:
    return str(block.get("text", "")) if isinstance(block, Mapping) and block.get("type") in _TEXTS else ""


def _get(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
