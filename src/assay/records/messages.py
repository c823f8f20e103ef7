"""Read chat messages of any make: who speaks, the text, and the tool calls. The one place that knows their forms.

Forms:
    - OpenAI's chat messages (`role`, `content`, `tool_calls[].function`, a tool's result under `tool_call_id`).
    - LangChain's and ragas' messages (`type` human, ai, tool, system; `tool_calls` with `name` and `args`), also as
      LangChain writes them to JSON: {"lc": 1, "kwargs": ...}, {"type": "human", "data": ...}.
    - LlamaIndex' messages (`role`, `content`) and DeepEval's turns (`tools_called` with `name`, `input_parameters`,
      `output`).
    - Messages of parts (`role`, `parts`), as Gemini and the OpenTelemetry conventions have them.
    - Those of `assay.records.message_forms`: Anthropic, Bedrock, the Responses API, ShareGPT and others.
    - Pairs of role and text, and assay's own `Message`.

`role_of` and `text_of` never raise, and are cheap enough for hooks. `message_of` and `messages_of` make whole records,
and raise InputError for what cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from assay._util.byte_limits import check_json, located
from assay._util.normalise import json_object, missing, well_formed
from assay.errors import InputError
from assay.records.field_names import describe
from assay.records.message_forms import expand_messages
from assay.records.sample import Message, Role, ToolCall

_ROLES: Mapping[str, Role] = {
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "model": "assistant", "chatbot": "assistant",
    "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_OTHER = frozenset({"chat", "remove", "other"})
_ARGUMENTS = ("arguments", "args", "input_parameters", "input", "parameters")
_CALLS = ("tool_calls", "tools_called")
_TEXTS = ("text", "input_text", "output_text")
_ABSENT = object()


# -- one message: role and text ----------------------------------------------------------------------------------------


def role_named(name: object) -> Role | None:
    """The role that a name means in any of the forms; None for any other value."""
    return _ROLES.get(name.lower().removesuffix("messagechunk")) if isinstance(name, str) else None


def role_of(message: Any) -> Role | Literal["other"] | None:
    """Return the role of a chat message. Never raises an exception.

    Args:
        message: A message of any framework, or any other value.

    Returns:
        The role. "other" for a known kind of message without one of the four roles. None if the value has no content or
        no known role.
    """
    name, content = _role_and_content(message)
    if content is _ABSENT or not isinstance(name, str):
        return None
    return role_named(name) or ("other" if name.lower() in _OTHER else None)


def is_message(value: Any, *, content: bool = True) -> bool:
    """Check whether a value is one chat message. A text or a list is not.

    Args:
        value: Any value.
        content: False accepts messages without a content, such as those that only call tools.

    Returns:
        True for a message.
    """
    if isinstance(value, (str, list)):
        return False
    return (role_of(value) if content else role_named(_role_and_content(value)[0])) is not None


def role_and_content(value: Any) -> tuple[Any, Any]:
    """What stands for the role and the content of a message, as it was written; None for each that is missing."""
    name, content = _role_and_content(value)
    return name, None if content is _ABSENT else content


def text_of(message: Any) -> str:
    """Return the text of a chat message, without reasoning, images and tool calls. Never raises an exception.

    Args:
        message: A message of any framework, or any other value.

    Returns:
        The text. "" if there is none.
    """
    return well_formed(text_in(role_and_content(message)[1]) or "")


def text_in(content: Any) -> str | None:
    """The text in a content: a text, or blocks of text and others. None for any other value."""
    if isinstance(content, str):
        return str(content)
    if not isinstance(content, (list, tuple)):
        return None
    return "".join([block if isinstance(block, str) else _block(block) for block in content])


def prompt_of(messages: Any) -> tuple[str, ...]:
    """Return the texts of the messages or prompts sent to a model. It is fast enough for a hook, and copies no text.

    Args:
        messages: One prompt, a list of messages or prompts, or a list of such lists (a batch). None: there are none.

    Returns:
        The texts, in order. A message of several blocks gives one text for each text block.
    """
    if isinstance(messages, str):
        return (messages,)
    texts: list[str] = []
    for message in messages or ():
        if isinstance(message, list):  # a batch
            texts += prompt_of(message)
        elif isinstance(message, str):
            texts.append(message)
        else:
            content = message.get("content") if isinstance(message, dict) else _attribute(message, "content", None)
            if type(content) is str:  # the usual case, and quicker
                texts.append(content)
            else:
                texts += texts_in(content)
    return tuple(texts)


def texts_in(content: Any) -> list[str]:
    """The texts in a content one by one, those of search results and of reasoning included."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, (list, tuple)):
        return []
    texts: list[str] = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "search_result":
            texts += texts_in(block.get("content"))
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            texts.append(text)
    return texts


# -- wrappings ---------------------------------------------------------------------------------------------------------


def unwrap_message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message, or any other object that LangChain wrote to JSON, without its wrapping; other mappings as they are."""
    kwargs = value.get("kwargs")
    if "lc" in value and isinstance(kwargs, Mapping):
        return {**_type_of_class(value.get("id")), **kwargs}
    data = value.get("data")
    if isinstance(data, Mapping) and isinstance(value.get("type"), str) and "content" in data and len(value) == 2:
        return {**data, "type": value["type"]}
    parts = value.get("parts")
    if isinstance(parts, list) and isinstance(value.get("role"), str):
        return {**{key: item for key, item in value.items() if key != "parts"}, "content": _content_of_parts(parts)}
    return value


def _type_of_class(id: Any) -> dict[str, str]:
    """The `type` of a message that was written without one, by the name of its class."""
    name = str(id[-1]) if isinstance(id, list) and id else ""
    kind = name.removesuffix("Chunk").removesuffix("Message").lower()
    return {"type": kind} if kind in ("human", "ai", "system", "tool", "function") else {}


def _content_of_parts(parts: Sequence[Any]) -> Any:
    """Text as the content of a message; what a tool answered is text too. Reasoning, calls and media are left out."""
    texts: list[dict[str, str]] = []
    for part in parts:
        if isinstance(part, str):
            texts.append({"type": "text", "text": part})
        elif isinstance(part, dict):
            kind = part.get("type", "text")
            content = part.get("content", part.get("text"))
            if kind == "tool_call_response":
                content = part.get("response", part.get("result", content))
            if kind in ("text", "tool_call_response") and isinstance(content, str):
                texts.append({"type": "text", "text": content})
    return texts[0]["text"] if len(texts) == 1 else texts


# -- whole records -----------------------------------------------------------------------------------------------------


def messages_of(value: object, *, lenient: bool = False) -> tuple[Message, ...]:
    """The messages in a list; results of tools are also put into the calls that asked for them.

    Raises InputError naming the message that cannot be read; `lenient` leaves it out.
    """
    if not isinstance(value, (list, tuple)):
        raise InputError(f"expected a list of messages with role and content, found {describe(value)}")
    value = expand_messages(value)
    made: list[Message] = []
    results: dict[str, str] = {}
    for number, item in enumerate(value, 1):
        try:
            message = message_of(item)
        except InputError as error:
            if lenient:
                continue
            raise located(error, f"message {number} of {len(value)}") from None
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
    """One message as a record. Raises InputError."""
    if isinstance(value, Message):
        return value
    if isinstance(value, Mapping):
        value = unwrap_message(value)
    name, content = role_and_content(value)
    role = role_named(name)
    if role is None:
        raise InputError(f"expected role and content, with a role of {', '.join(_ROLES)}; found {describe(value)}")
    listed: Any = []
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):  # as ragas writes messages with calls
        content, listed = content["text"], content.get("tool_calls")
    for key in _CALLS:
        listed = listed or _get(value, key)
    text = text_in(content)
    if text is None and not missing(content):
        raise InputError(f"expected a content of text, found {describe(content)}")
    return Message(role=role, content=text or "", tool_calls=_calls(listed))


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
        arguments=json_object(given, nulls=True),
        output=output if isinstance(output, str) or missing(output) else json.dumps(output, default=str),
        id=identity if isinstance(identity, str) and identity else None,
    )


def _parsed(name: str, text: str) -> object:
    if not text.strip():
        return {}
    try:
        check_json(text)
    except InputError as error:
        raise located(error, f"tool call {name!r}: arguments") from None
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
            raise located(error, f"tool call {number} of {len(listed)}") from None
    return tuple(made)


def _role_and_content(value: Any) -> tuple[Any, Any]:
    if isinstance(value, (list, tuple)):
        pair = len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], (str, list))
        return (value[0], value[1]) if pair else (None, _ABSENT)
    if isinstance(value, Mapping):
        value = unwrap_message(value)
        name, content = value.get("role"), value.get("content", _ABSENT)
        return (value.get("type") if name is None else name), content
    name = _attribute(value, "role", None)
    return (_attribute(value, "type", None) if name is None else name), _attribute(value, "content", _ABSENT)


def _attribute(value: object, name: str, default: object) -> Any:
    """An attribute of an object of somebody's; the default where reading it raises or ends the process."""
    try:
        return getattr(value, name, default)
    except (Exception, SystemExit):
        return default


def _block(block: object) -> str:
    text = block.get("text") if isinstance(block, Mapping) and block.get("type") in _TEXTS else None
    return text if isinstance(text, str) else ""


def _get(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else _attribute(value, name, None)
