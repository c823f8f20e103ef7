"""An argument that is null was given: `c(q=null)` is not `c()`, in any metric that compares tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Metric, ScriptedJudge, ToolCall, evaluate
from assay.metrics.deepeval.tool_correctness import ToolCorrectness

COMPARED = ToolCorrectness(evaluation_params=("input_parameters",))
EXACT = ToolCorrectness(evaluation_params=("input_parameters",), should_exact_match=True)
METRICS: list[str | Metric] = ["ragas:tool_call_accuracy", "ragas:tool_call_f1", "openevals:trajectory_strict_match"]


def value(metric: str | Metric, expected: dict[str, Any], called: dict[str, Any]) -> float | None:
    """The score of a conversation as files have it: calls in the form of OpenAI, references in that of each system."""
    call, reference = (
        {"id": "1", "type": "function", "function": {"name": "c", "arguments": json.dumps(arguments)}}
        for arguments in (called, expected)
    )
    ask = {"role": "user", "content": "Do."}
    row = {
        "messages": [ask, {"role": "assistant", "content": "", "tool_calls": [call]}],
        "reference_tool_calls": [{"name": "c", "args": expected}],
        "expected_tools": [{"name": "c", "input_parameters": expected}],
        "reference_outputs": [ask, {"role": "assistant", "content": "", "tool_calls": [reference]}],
    }
    (scored,) = evaluate([row], [metric], ScriptedJudge(), store=None, progress=False)
    (score,) = scored.scores.values()
    assert score.error is None, score
    return score.value


@pytest.mark.parametrize("metric", [*METRICS, COMPARED, EXACT], ids=str)
def test_a_null_that_was_left_out_is_no_match(metric: str | Metric) -> None:
    assert value(metric, {"q": None}, {}) == 0.0
    assert value(metric, {"q": None}, {"q": None}) == 1.0


@pytest.mark.parametrize("metric", [*METRICS, EXACT], ids=str)
def test_a_null_that_nobody_expected_is_no_exact_match(metric: str | Metric) -> None:
    """ragas' accuracy asks for the arguments of the reference alone; what is over is free."""
    free = metric == "ragas:tool_call_accuracy"
    assert value(metric, {"p": 1}, {"p": 1, "q": None}) == (1.0 if free else 0.0)


def test_half_of_the_arguments_are_equal() -> None:
    """{"q": null, "p": 1} and {"p": 1}: one of two names."""
    assert value(COMPARED, {"q": None, "p": 1}, {"p": 1}) == 0.5


def test_a_call_is_read_as_it_was_written() -> None:
    call = ToolCall(name="c", arguments={"q": None, "p": {"r": None}, "s": float("nan")})
    assert call.arguments == {"q": None, "p": {"r": None}}  # JSON has no NaN
    assert ToolCall.from_dict(json.loads(json.dumps(call.to_dict()))) == call
