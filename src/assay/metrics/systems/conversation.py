"""Conversations and agents' ways as the metrics of several systems read them: exchanges, windows, tool calls.

All is taken from `Sample.messages`, after those turns of the history that they do not hold. Where a sample has none,
its history and its own question and answer are the conversation. What a tool gave back stands in `ToolCall.output` or
in a message of the role "tool" after the call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from assay._util.byte_limits import TooLargeError, check_json
from assay.errors import Cause, InputError, JudgeFailure
from assay.metrics.base import Metric
from assay.metrics.systems.base import given
from assay.metrics.tool_calls import calls, outputs
from assay.records import Message, Sample, ToolCall

T = TypeVar("T")

#: The names that formats give to what a tool is called with.
ARGUMENTS = ("arguments", "args", "input_parameters", "input", "parameters")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of a conversation: its messages, and the passages that were found for it."""

    messages: tuple[Message, ...]
    contexts: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """What the user says in it, message by message on a line each."""
        return role_text(self.messages, "user")

    @property
    def answer(self) -> str:
        """What the assistant says in it."""
        return role_text(self.messages, "assistant")

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that it calls."""
        return calls(self.messages)


def messages_of(sample: Sample) -> tuple[Message, ...]:
    """The conversation of a sample: what its messages tell, after those turns of its history of which they do not."""
    told = {message.content.strip() for message in sample.messages if message.role == "user"}
    pairs = [(turn.question, turn.answer) for turn in sample.history if turn.question.strip() not in told]
    if not sample.messages:
        pairs += [(sample.question or "", sample.answer or "")]
    found = (
        message for question, answer in pairs for message in (_message("user", question), _message("assistant", answer))
    )
    return (*(message for message in found if message.content.strip()), *sample.messages)


def conversation(sample: Sample, metric: Metric) -> tuple[Message, ...]:
    """The same. Raises JudgeFailure(missing_input), which makes the score skipped, where there is none."""
    messages = messages_of(sample)
    if not any(message.role == "assistant" for message in messages):
        raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs 'messages' in which an assistant speaks")
    return messages


def exchanges(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """The messages by exchanges: a new one begins with what the user says after an assistant has spoken.

    What an assistant says before any user belongs to the first. An exchange without a user or without the assistant's
    last word is none. Messages of the system are left out.
    """
    found: list[tuple[Message, ...]] = []
    current: list[Message] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user" and _complete(current):
            found.append(tuple(current))
            current = []
        current.append(message)
    return (*found, tuple(current)) if _complete(current) else tuple(found)


def exchanges_of(sample: Sample) -> tuple[Exchange, ...]:
    """The exchanges of a sample with their passages.

    These are the contexts of the turn of the history with the same question, for the last one those of the sample;
    else what the tools gave back that it called.
    """
    known = [(turn.question, tuple(context.text for context in turn.contexts)) for turn in sample.history]
    if sample.contexts is not None:
        known.append((sample.question or "", sample.passages))
    passages: dict[str, list[tuple[str, ...]]] = {}
    for question, texts in known:
        passages.setdefault(question.strip(), []).append(texts)
    found = []
    for messages in exchanges(messages_of(sample)):
        exchange = Exchange(messages)
        own = passages.get(exchange.question.strip())
        found.append(replace(exchange, contexts=own.pop(0) if own else outputs(exchange.calls)))
    return tuple(found)


def windows(items: Sequence[T], size: int) -> Iterator[tuple[T, ...]]:
    """For each item the last `size` ones up to and with it."""
    return (tuple(items[max(0, end - size) : end]) for end in range(1, len(items) + 1))


def role_text(messages: Iterable[Message], role: str) -> str:
    """What a role says in these messages, on a line each."""
    return "\n".join(message.content for message in messages if message.role == role and message.content.strip())


def call_text(call: ToolCall, *, output: bool = True) -> str:
    """A tool call on a line: search({"query": "bridge"}) -> what it gave back."""
    arguments = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
    return f"{call.name}({arguments})" + (f" -> {call.output}" if output and call.output is not None else "")


def transcript(messages: Iterable[Message], *, tools: bool = True) -> str:
    """The messages as one text, a line for each that says something and, with `tools`, for each tool call."""
    lines: list[str] = []
    for message in messages:
        if message.role == "tool" and not tools:
            continue
        if message.content.strip():
            lines.append(f"{message.role.upper()}: {message.content}")
        if tools:
            lines += [f"CALLS {call_text(call)}" for call in message.tool_calls]
    return "\n".join(lines)


def transcript_section(messages: Iterable[Message], *, tools: bool = True) -> tuple[str, str]:
    """The section of a question's material that shows a conversation."""
    return ("CONVERSATION", transcript(messages, tools=tools))


def tool_calls(sample: Sample, metric: Metric, key: str) -> tuple[ToolCall, ...]:
    """The tool calls that a sample's metadata lists under `key`, such as "expected_tools".

    Each is a name, or an object with `name` and its arguments under one of `ARGUMENTS`, also as JSON text, and where it
    is known `output`; the form of OpenAI, with all this under "function", is read as well. Raises JudgeFailure
    (missing_input) for what is none.
    """
    return tuple(_tool_call(item, f"{metric.label}: metadata[{key!r}]") for item in given(sample, metric, key, list))


def _tool_call(item: Any, where: str) -> ToolCall:
    if isinstance(item, str):
        return ToolCall(name=item)
    inner = item.get("function", item) if isinstance(item, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: expected tool calls with a name, found {item!r:.80}")
    arguments: Any = next((inner[name] for name in ARGUMENTS if inner.get(name) is not None), {})
    if isinstance(arguments, str):
        try:
            check_json(arguments)
            arguments = json.loads(arguments)
        except TooLargeError as error:
            raise JudgeFailure(Cause.TOO_LARGE, f"{where}: arguments: {error}") from None
        except (ValueError, RecursionError):
            arguments = {"": arguments}
    if not isinstance(arguments, Mapping):
        arguments = {"": arguments}
    output = inner.get("output")
    text = output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    try:
        return ToolCall(name=inner["name"], arguments=arguments, output=text)
    except InputError as error:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: {error}") from None


def _message(role: Any, content: str) -> Message:
    return Message(role=role, content=content)


def _complete(messages: Sequence[Message]) -> bool:
    """Whether a user speaks in these messages, and an assistant last."""
    speakers = [message.role for message in messages if message.role in ("user", "assistant")]
    return "user" in speakers and speakers[-1] == "assistant"


def called_tools(sample: Sample, metric: Metric, key: str = "tools_called") -> tuple[ToolCall, ...]:
    """The tools that an agent called: those of its messages, else those that the metadata lists under `key`."""
    return calls(sample.messages) if sample.messages else tool_calls(sample, metric, key)


def tools_section(sample: Sample, metric: Metric, title: str, key: str) -> tuple[str, str]:
    """The section of a question's material that shows what the metadata lists under `key`, an item on each line."""
    items = given(sample, metric, key, list)
    lines = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, sort_keys=True) for item in items)
    return (title, "\n".join(lines))
