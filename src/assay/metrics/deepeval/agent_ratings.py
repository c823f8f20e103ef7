"""DeepEval's ratings of an agent's whole way: task completion, step efficiency, plan quality, plan adherence.

    the level that a judge gives / the highest level

Range 0 to 1, higher is better. DeepEval 4.3.1, whose judge first writes down the task (and the plan) from the trace
and then gives a number from 0 to 1; here it gives one of five levels. Without a plan in the way the original gives 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.scales import Material, rate
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import conversation, transcript_section
from assay.prompts.extraction import Extraction
from assay.prompts.rating import Rating
from assay.records import Sample, Score

PLAN = "The steps that the agent in the CONVERSATION says it plans to take, before or while it works."


def _material(sample: Sample, metric: SystemMetric) -> Material:
    task = sample.metadata.get("task")
    shown = (("TASK", task),) if isinstance(task, str) and task.strip() else ()
    return (*shown, transcript_section(conversation(sample, metric)))


@dataclass(frozen=True)
class TaskCompletion(SystemMetric):
    """How far the outcome of the agent's way does what the user asked; metadata["task"] says it where known."""

    name: ClassVar[str] = "deepeval:task_completion"
    asks: ClassVar = (Rating,)
    question: ClassVar[str] = "How far does what came out at the end of the CONVERSATION complete the user's task?"
    may_read: ClassVar[tuple[str, ...]] = ("task",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = await rate(self.question, (_material(sample, self),), sample, judge)
        return self.make_score(found.mean, verdicts={"conversation": found.verdicts})


@dataclass(frozen=True)
class StepEfficiency(TaskCompletion):
    """How far the agent's way does without needless steps."""

    name: ClassVar[str] = "deepeval:step_efficiency"
    question: ClassVar[str] = (
        "How far does the agent in the CONVERSATION do without steps and tool calls that its task did not need?"
    )
    may_read: ClassVar[tuple[str, ...]] = ("task",)


@dataclass(frozen=True)
class PlanQuality(SystemMetric):
    """How good the plan is that the agent makes for its task."""

    name: ClassVar[str] = "deepeval:plan_quality"
    asks: ClassVar = (Extraction, Rating)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}
    question: ClassVar[str] = "How far is the PLAN complete, in a sensible order and fit for the task?"
    may_read: ClassVar[tuple[str, ...]] = ("task",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = _material(sample, self)
        plan = await judge.find(Extraction("plan", PLAN, material, 0, sample.spoken))
        if not plan:
            return self.skip(Cause.NOT_APPLICABLE, "the agent makes no plan")
        found = await rate(self.question, ((*material, ("PLAN", "\n".join(plan))),), sample, judge)
        return self.make_score(found.mean, verdicts={"plan": found.verdicts}, texts={"plan": plan})


@dataclass(frozen=True)
class PlanAdherence(PlanQuality):
    """How far the agent keeps to its plan."""

    name: ClassVar[str] = "deepeval:plan_adherence"
    question: ClassVar[str] = "How far does the agent in the CONVERSATION keep to its PLAN?"
    may_read: ClassVar[tuple[str, ...]] = ("task",)


def _entry(make: type[SystemMetric], called: str, family: str, unit: str, against: str, empty: str) -> Entry:
    steps = Steps(unit, against, "rating 0 to 4", "the rating / 4")
    source = f"deepeval.metrics.{called}Metric"
    return Entry(make=make, source=source, compared="deepeval 4.3.1", family=family, steps=steps, empty=empty)


ENTRIES = (
    _entry(TaskCompletion, "TaskCompletion", "goal", "the whole conversation", "the task", ""),
    _entry(StepEfficiency, "StepEfficiency", "trajectory", "the whole conversation", "the task", ""),
    _entry(PlanQuality, "PlanQuality", "plan", "the plan", "the task", "1 where there is no plan"),
    _entry(PlanAdherence, "PlanAdherence", "plan", "the whole conversation", "the plan", "1 where there is no plan"),
)
