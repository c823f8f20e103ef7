"""What an agent called and what it got back, in the order of its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.records import Message, Sample, ToolCall


def calls(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """The tool calls in their order, with what the tools gave back in messages of their own.

    Such a message belongs to the first call that has no output yet.
    """
    found: list[ToolCall] = []
    waiting: list[int] = []
    first = 0  # of those that wait
    for message in messages:
        if message.role == "tool" and first < len(waiting):
            number, first = waiting[first], first + 1
            found[number] = replace(found[number], output=message.content)
        for call in message.tool_calls:
            if call.output is None:
                waiting.append(len(found))
            found.append(call)
    return tuple(found)


def outputs(called: Iterable[ToolCall]) -> tuple[str, ...]:
    """What the tools gave back, without blanks."""
    return tuple(call.output for call in called if call.output and call.output.strip())


def tool_evidence(sample: Sample) -> tuple[str, ...]:
    """What tools gave back, each text once, where it stands in for contexts that are not known; else `()`.

    All of the conversation counts, and results whose call was not logged as well.
    """
    if sample.contexts is not None or not sample.messages:
        return ()
    results = (message.content for message in sample.messages if message.role == "tool" and message.content.strip())
    return tuple(dict.fromkeys([*outputs(calls(sample.messages)), *results]))
