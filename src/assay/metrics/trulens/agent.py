"""TruLens' ratings of the way that an agent took (its trace).

    level / 3

Range 0 to 1, higher is better. trulens 2.16.0; all have `_with_cot_reasons` at the end of their names there. The trace
is `messages` with their tool calls, or the text metadata["trace"]; spans are not compressed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.base import Metric
from assay.metrics.systems.base import given
from assay.metrics.systems.conversation import transcript
from assay.metrics.trulens.judge_rating import JudgeRating, Material, entry
from assay.records import Sample


@dataclass(frozen=True, slots=True)
class Trace:
    """The way that an agent took."""

    columns: ClassVar[tuple[str, ...]] = ()
    may_read: ClassVar[tuple[str, ...]] = ("trace",)

    def material(self, sample: Sample, metric: Metric) -> Material:
        return (("TRACE", transcript(sample.messages) or given(sample, metric, "trace", str)),)


def _of_trace(name: str, question: str, lowest: str, highest: str) -> JudgeRating:
    return JudgeRating(name=f"trulens:{name}", question=question, lowest=lowest, highest=highest, shows=Trace())


TRACES = (
    _of_trace(
        "logical_consistency",
        "How consistent in logic are plan and steps in the TRACE? Each step and statement should follow from what "
        "stands before it, instructions should be kept, and a mistake be named where it is put right.",
        "many statements are made up or contradict each other, instructions are passed over",
        "every step is justified by what stands before it, without contradictions",
    ),
    _of_trace(
        "execution_efficiency",
        "How efficient are the steps in the TRACE, whether or not they keep to a plan or reach the goal?",
        "loops, repetitions and errors that could have been avoided rule",
        "each needed step is taken once, in a good order, and none is wasted",
    ),
    _of_trace(
        "plan_adherence",
        "How closely do the steps in the TRACE follow the plan in it, or the plan that replaced it? A step that was "
        "left out counts even where the outcome is good.",
        "planned steps are left out, out of order or replaced, without a reason",
        "every step of the plan is done in full, or left for a reason that is given",
    ),
    _of_trace(
        "plan_quality",
        "How good is the plan in the TRACE, by what was known and which tools there were when it was made? Disregard "
        "how it was carried out and what came of it.",
        "it does not serve the user's request, or cannot be carried out",
        "its steps are clear, needed and feasible with the tools, and lead to what was asked",
    ),
    _of_trace(
        "tool_selection",
        "How well were tools chosen for each task in the TRACE? Disregard how they were called and what came back.",
        "tools do not fit their tasks, or needed ones are passed over",
        "each task has the fittest tool, and none where none is needed",
    ),
    _of_trace(
        "tool_calling",
        "How well were the tools called in the TRACE: are arguments valid and complete, are outputs read rightly and "
        "errors noticed? Disregard which tools were chosen, and faults of the tools.",
        "arguments are missing or wrong, outputs are misread or made up",
        "arguments are right and outputs are used faithfully",
    ),
    _of_trace(
        "tool_quality",
        "How reliable and good were the tools themselves in the TRACE, for what they were given? Disregard what the "
        "agent made of them.",
        "they often fail, time out or give back poor results",
        "they answer reliably and give back what is needed",
    ),
)

ENTRIES = tuple(
    entry(
        made,
        family="tool calls" if "tool" in made.name else "agent",
        unit="the agent's way",
        against="itself",
        source=f"{made.name.partition(':')[2]}_with_cot_reasons",
        cot=False,
    )
    for made in TRACES
)
