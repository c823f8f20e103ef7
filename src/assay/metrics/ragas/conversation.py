"""What ragas' metrics on conversations read: the messages, the tools called, and those to be called."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import Cause, JudgeFailure
from assay.metrics.systems import conversation
from assay.metrics.systems.base import SystemMetric, given
from assay.records import Message, Sample, ToolCall
from assay.records.messages import tool_call_of


def messages_of(sample: Sample, metric: SystemMetric) -> tuple[Message, ...]:
    """The conversation. Raises JudgeFailure(missing_input) where the sample has none."""
    if not sample.messages and not sample.history:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs 'messages', which are missing")
    return conversation.messages_of(sample)


def tools_called(messages: Sequence[Message]) -> list[ToolCall]:
    """What the assistant called, in order."""
    return [call for message in messages if message.role == "assistant" for call in message.tool_calls]


def tools_wanted(sample: Sample, metric: SystemMetric) -> list[ToolCall]:
    """`metadata["reference_tool_calls"]`. Raises JudgeFailure(missing_input) where it is missing or holds no calls."""
    listed = given(sample, metric, "reference_tool_calls", list)
    try:
        return [tool_call_of(one) for one in listed]
    except ValueError as error:
        where = f"{metric.label}: metadata['reference_tool_calls']"
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: {error}") from None
