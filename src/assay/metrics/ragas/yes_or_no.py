"""ragas' metrics that are one verdict of the judge, 1 or 0; ragas 0.4.3.

llm_sql_equivalence                    is the query of the response equivalent to that of the reference? The database's
                                       schema, where given, is in the reference contexts. Nothing is executed
agent_goal_accuracy_with_reference     did the conversation arrive at the outcome that the reference describes?
agent_goal_accuracy_without_reference  did it arrive at what the user wanted?

The original has the judge put goal and outcome into words first and compares these; here it compares at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.ragas.conversation import messages_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import transcript
from assay.prompts import Criterion
from assay.records import Sample, Score, Verdict

EQUIVALENT = (
    "Are QUERY and REFERENCE QUERY equivalent: would both give the same result on every database of this SCHEMA "
    "(of any that fits, where no SCHEMA is given)?"
)
ARRIVED = "Is the outcome that the CONVERSATION arrives at the one that REFERENCE describes?"
REACHED = "By the end of the CONVERSATION, has the user got what they wanted to achieve?"

Material = tuple[tuple[str, str], ...]


def value_of(verdict: Verdict) -> float:
    """1 for yes, else 0."""
    return float(verdict.label == "yes")


@dataclass(frozen=True)
class YesOrNo(SystemMetric):
    """What they have in common."""

    asks: ClassVar = (Criterion,)
    question: ClassVar[str]

    def material(self, sample: Sample) -> Material:
        raise NotImplementedError

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        verdict = await judge.find(Criterion(self.question, self.material(sample), language=sample.spoken))
        return self.make_score(value_of(verdict), verdicts={self.name.partition(":")[2]: (verdict,)})


@dataclass(frozen=True)
class LLMSQLEquivalence(YesOrNo):
    """Whether the query in the answer is equivalent to that in the reference."""

    name: ClassVar[str] = "ragas:llm_sql_equivalence"
    needs: ClassVar = ("answer", "reference")
    question: ClassVar[str] = EQUIVALENT

    def material(self, sample: Sample) -> Material:
        schema = "\n".join(context.text for context in sample.reference_contexts or ())
        first = (("SCHEMA", schema),) if schema.strip() else ()
        return (*first, ("QUERY", sample.answer or ""), ("REFERENCE QUERY", sample.reference or ""))


@dataclass(frozen=True)
class AgentGoalAccuracyWithReference(YesOrNo):
    """Whether the conversation arrives at the outcome of the reference."""

    name: ClassVar[str] = "ragas:agent_goal_accuracy_with_reference"
    needs: ClassVar = ("messages", "reference")
    question: ClassVar[str] = ARRIVED

    def material(self, sample: Sample) -> Material:
        told = transcript(messages_of(sample, self))
        return (("CONVERSATION", told), ("REFERENCE", sample.reference or ""))


@dataclass(frozen=True)
class AgentGoalAccuracyWithoutReference(YesOrNo):
    """Whether the user got what they wanted."""

    name: ClassVar[str] = "ragas:agent_goal_accuracy_without_reference"
    needs: ClassVar = ("messages",)
    question: ClassVar[str] = REACHED

    def material(self, sample: Sample) -> Material:
        return (("CONVERSATION", transcript(messages_of(sample, self))),)


def _entry(make: type[YesOrNo], source: str, family: str, steps: Steps, empty: str, *also: str) -> Entry:
    source = f"ragas.metrics.collections.{source}"
    return Entry(make=make, source=source, compared="ragas 0.4.3", family=family, steps=steps, empty=empty, also=also)


ENTRIES = (
    _entry(
        LLMSQLEquivalence,
        "SQLSemanticEquivalence",
        "correctness",
        Steps("the whole answer", "the reference", "equivalent", "yes or no"),
        "an exception",
        "llm_sql_equivalence_with_reference",
        "LLMSQLEquivalence",
        "sql_semantic_equivalence",
    ),
    _entry(
        AgentGoalAccuracyWithReference,
        "AgentGoalAccuracyWithReference",
        "goal",
        Steps("the conversation", "the reference", "arrived at", "yes or no"),
        "an exception for no reference",
        "agent_goal_accuracy",
        "AgentGoalAccuracy",
    ),
    _entry(
        AgentGoalAccuracyWithoutReference,
        "AgentGoalAccuracyWithoutReference",
        "goal",
        Steps("the conversation", "the user's goal", "arrived at", "yes or no"),
        "asked all the same",
    ),
)
