"""TruLens' requirement satisfaction: how many of the user's requirements does the assistant's work meet?

    (met + partly met / 2) / requirements

Range 0 to 1, higher is better. trulens 2.16.0, `requirement_satisfaction_with_cot_reasons`. The requirements are
metadata["reference_requirements"], a list of texts; without it the judge lists them from what the user says, without a
look at the answers. What is judged is the conversation, or question and answer. Without requirements the original
raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import conversation, messages_of, role_text, transcript_section
from assay.prompts import Classification, Extraction
from assay.records import Sample, Score

CREDIT = {"met": 1.0, "partly_met": 0.5, "not_met": 0.0}
TASK = "List each distinct requirement that the REQUEST states, in its own words where possible. Infer none."
QUESTION = "Does the assistant's final work in the CONVERSATION fulfil this requirement?"
CHOICES = (
    ("met", "all that matters of it is fulfilled"),
    ("partly_met", "some of it is"),
    ("not_met", "it is not"),
)


def satisfaction(labels: Sequence[str]) -> float:
    """The mean credit of at least one label: 1 for "met", 0.5 for "partly_met"."""
    return sum(CREDIT[label] for label in labels) / len(labels)


@dataclass(frozen=True)
class RequirementSatisfaction(SystemMetric):
    """Requirements met, and half of those partly met / requirements."""

    name: ClassVar[str] = "trulens:requirement_satisfaction"
    asks: ClassVar = (Extraction, Classification)
    may_read: ClassVar[tuple[str, ...]] = ("reference_requirements",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        shown = (transcript_section(conversation(sample, self)),)
        requirements = await self._requirements(sample, judge)
        verdicts = await judge.find(
            Classification("requirement", QUESTION, requirements, CHOICES, shown, 0, sample.spoken)
        )
        labels = [verdict.label for verdict in verdicts]
        return self.make_score(
            satisfaction(labels),
            verdicts={"requirements/conversation": verdicts},
            parts={label: float(labels.count(label)) for label in CREDIT},
            texts={"requirements": requirements},
        )

    async def _requirements(self, sample: Sample, judge: Judge) -> tuple[str, ...]:
        known = given(sample, self, "reference_requirements", list, [])
        if not all(isinstance(one, str) and one.strip() for one in known):
            message = f"{self.label}: metadata['reference_requirements']: expected texts that are not empty"
            raise JudgeFailure(Cause.MISSING_INPUT, message)
        asked = role_text(messages_of(sample), "user")
        if not known and not asked:
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label} needs 'messages' in which a user speaks")
        if known:
            return tuple(known)
        found = await judge.find(Extraction("requirements", TASK, (("REQUEST", asked),), 0, sample.spoken))
        if not found:
            raise JudgeFailure(Cause.NOT_APPLICABLE, "the user states no requirement")
        return found


ENTRIES = (
    Entry(
        make=RequirementSatisfaction,
        source="trulens.feedback.LLMProvider.requirement_satisfaction_with_cot_reasons",
        compared="trulens 2.16.0",
        family="goal",
        steps=Steps("requirements of the user", "the conversation", "met, partly met as 1/2", "share"),
        empty="an error",
        also=("requirement_satisfaction_with_cot_reasons",),
    ),
)
