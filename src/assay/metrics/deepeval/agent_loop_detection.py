"""DeepEval's agent loop detection: the weighted mean of three signs that an agent runs in circles.

    (0.40 repetition + 0.35 stagnation + 0.25 cycles) / the weights of those that are looked at

Range 0 (it does) to 1 (it does not), higher is better; no judge is asked. DeepEval 4.3.1; the signs are those of
`loops`. Cycles are seen only in a tree of steps, metadata["trace"], an object with `type`, `name`, `input` and
`children`; the original counts what cannot be looked at as 1, here it is left out. Of each text of the model the first
5000 characters are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.loops import combined, cycles, most_alike_calls, most_alike_texts, repetition, stagnation
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least, given
from assay.metrics.tool_calls import calls
from assay.records import Sample, Score

WEIGHTS: Mapping[str, float] = {"tool_repetition": 0.40, "reasoning_stagnation": 0.35, "call_graph_cycles": 0.25}


@dataclass(frozen=True)
class AgentLoopDetection(SystemMetric):
    """The weighted mean of tool repetition, reasoning stagnation and call graph cycles."""

    name: ClassVar[str] = "deepeval:agent_loop_detection"
    conventions: ClassVar = {Cause.MISSING_INPUT: 0.0}
    may_read: ClassVar[tuple[str, ...]] = ("trace",)

    repetition_threshold: int = 3
    similarity_threshold: float = 0.85
    check_tool_repetition: bool = True
    check_reasoning_stagnation: bool = True
    check_call_graph_cycles: bool = True

    def __post_init__(self) -> None:
        at_least(self, "repetition_threshold")
        if not 0 < self.similarity_threshold <= 1:
            raise InputError(
                f"AgentLoopDetection: similarity_threshold must be in (0, 1], not {self.similarity_threshold}"
            )

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        trace = given(sample, self, "trace", dict, {})
        if not sample.messages and not trace:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'messages' or metadata['trace']")
        found = self._signs(sample, trace)
        wanted = {name: value for name, value in found.items() if getattr(self, f"check_{name}")}
        signs = {
            name: 1.0 if value is None else value
            for name, value in wanted.items()
            if self.original or value is not None
        }
        if not signs:
            return self.skip(Cause.NOT_APPLICABLE, "no sign of a loop can be looked at in this way")
        return self.make_score(combined(signs, WEIGHTS), parts=signs)

    def _signs(self, sample: Sample, trace: Mapping[str, Any]) -> dict[str, float | None]:
        called = calls(sample.messages)
        alike = most_alike_texts([message.content for message in sample.messages if message.role == "assistant"])
        return {
            "tool_repetition": repetition(most_alike_calls(called), self.repetition_threshold) if called else None,
            "reasoning_stagnation": None if alike is None else stagnation(alike, self.similarity_threshold),
            "call_graph_cycles": cycles(trace) if trace else None,
        }


ENTRIES = (
    Entry(
        make=AgentLoopDetection,
        source="deepeval.metrics.AgentLoopDetectionMetric",
        compared="deepeval 4.3.1",
        family="trajectory",
        steps=Steps("tool calls and texts of the model", "each other", "not repeated", "weighted mean"),
        empty="0 without a trace; 1 for each sign that cannot be looked at",
    ),
)
