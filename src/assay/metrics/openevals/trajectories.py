"""The ways of agents that openevals compares: the sample's own messages, and those of `metadata["reference_outputs"]`.

A reference is a list of messages, or {"messages": [...]}; each has `role`, `content` and `tool_calls`, as OpenAI writes
them ({"function": {"name", "arguments"}}, the arguments as JSON text) or LangChain ({"name", "args"}).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay._util.byte_limits import check_json
from assay.errors import Cause, InputError, JudgeFailure
from assay.metrics.base import Metric
from assay.metrics.systems.base import given
from assay.metrics.systems.conversation import ARGUMENTS
from assay.records import Message, Sample, ToolCall
from assay.records.field_names import REFERENCE_MESSAGES

KEY = REFERENCE_MESSAGES
_ROLES = {"human": "user", "ai": "assistant", "function": "tool", "developer": "system"}


def trajectory(sample: Sample, metric: Metric) -> tuple[Message, ...]:
    """The sample's messages. Raises JudgeFailure(missing_input) where it has none."""
    if not sample.messages:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs 'messages', which are missing")
    return sample.messages


def reference_trajectory(sample: Sample, metric: Metric) -> tuple[Message, ...]:
    """The messages of the reference. Raises JudgeFailure(missing_input) where there are none, or are no messages."""
    held = sample.metadata.get(KEY)
    listed = held.get("messages") if isinstance(held, Mapping) else given(sample, metric, KEY, list)
    where = f"{metric.label}: metadata[{KEY!r}]"
    if not isinstance(listed, list):
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: expected a list of messages, found {held!r:.80}")
    try:
        return tuple(_message(item) for item in listed)
    except (InputError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: expected messages: {error}") from None


def _message(item: Mapping[str, Any]) -> Message:
    role: Any = item.get("role") or item.get("type")
    content = item.get("content")
    calls = tuple(_call(call) for call in item.get("tool_calls") or ())
    said = content if isinstance(content, str) else "" if content is None else json.dumps(content, ensure_ascii=False)
    return Message(role=_ROLES.get(role, role), content=said, tool_calls=calls)


def _call(item: Mapping[str, Any]) -> ToolCall:
    inner = item.get("function", item)
    arguments: Any = next((inner[name] for name in ARGUMENTS if inner.get(name) is not None), {})
    if isinstance(arguments, str):
        check_json(arguments)
        arguments = json.loads(arguments)
    return ToolCall(name=inner["name"], arguments=arguments)
