"""The arguments of langchain-classic's evaluators as rows.

Texts are read by the rules of `assay.evaluation.adapters`. JSON takes its place where a metric compares structured
values. Nothing else becomes a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from typing import Any
from uuid import UUID

from assay import InputError, Message, Sample, ToolCall
from assay.extension import HostRow, is_message, json_value, missing, row_of_values, text_argument, text_of

_NAMES = {"question": "input", "answer": "prediction"}


def row_of_arguments(prediction: Any, reference: Any, question: Any, contexts: Any = None) -> HostRow:
    """The row in the arguments of an evaluator of texts."""
    return row_of_values(question, prediction, reference, contexts=contexts, texts=True, names=_NAMES)


def read_json(prediction: Any, reference: Any) -> HostRow:
    """The row in a prediction and a reference that are JSON, as text or as values. Raises InputError."""
    return HostRow(Sample(answer=json_text(prediction, "prediction"), reference=json_text(reference, "reference")))


def read_pair(prediction: Any, second: Any, reference: Any, question: Any) -> HostRow:
    """The row in the arguments of a pairwise evaluator. Raises InputError where the second answer is no text."""
    row = row_of_arguments(prediction, reference, question)
    metadata = {"prediction_b": text_argument(second, "prediction_b")}
    return replace(row, sample=replace(row.sample, metadata=metadata))


def read_trajectory(
    prediction: Any, steps: Any, question: Any, reference: Any, tools: Sequence[str | dict[str, str]]
) -> HostRow:
    """The row in the arguments of a trajectory evaluator. Raises InputError where a step cannot be read."""
    row = row_of_arguments(prediction, reference, question)
    written = {"agent_trajectory": steps} if isinstance(steps, str) else {}
    messages = () if written or missing(steps) else _messages(steps)
    return replace(row, sample=replace(row.sample, messages=messages, metadata={**written, "agent_tools": tools}))


def json_text(value: Any, argument: str) -> str | None:
    """A text as it is, any other JSON value as JSON; None where it is missing.

    Raises InputError, which names the argument, for a value that JSON does not have, and for one that holds NaN.
    """
    if missing(value) or isinstance(value, str):
        return None if missing(value) else value
    if is_message(value):
        return text_of(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_json_scalar)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{argument}: expected JSON, found {type(value).__name__} that is none ({error})") from None


def _json_scalar(value: Any) -> Any:
    """A date, a UUID, numpy's values or a pydantic model as JSON. Raises TypeError for anything else."""
    if isinstance(value, (date, time, UUID)) and not missing(value):
        return json_value(value)
    for method in ("tolist", "model_dump"):  # NaN in what they return is refused, as anywhere else
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    raise TypeError(f"it holds {type(value).__name__}")


def _messages(steps: Any) -> tuple[Message, ...]:
    if not isinstance(steps, (list, tuple)):
        raise InputError(f"agent_trajectory: expected a text or a list of steps, found {type(steps).__name__}")
    return tuple(_step(item, f"step {position} of {len(steps)}") for position, item in enumerate(steps, 1))


def _step(item: Any, place: str) -> Message:
    """One step of an agent: the tool, the input of the tool, and its output."""
    action: Any
    action, output = item if isinstance(item, (list, tuple)) and len(item) == 2 else (None, None)
    if not isinstance(getattr(action, "tool", None), str) or not hasattr(action, "tool_input"):
        raise InputError(
            f"agent_trajectory: {place}: expected a pair of an action and its output, found {type(item).__name__}"
        )
    given = action.tool_input if isinstance(action.tool_input, Mapping) else {"input": action.tool_input}
    return Message(role="assistant", tool_calls=(ToolCall(name=action.tool, arguments=given, output=_output(output)),))


def _output(value: Any) -> str | None:
    """The output of a tool, which may be any object: a text as it is, anything else as JSON."""
    if missing(value):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
