"""TruLens' ratings of a whole conversation.

    conversation_helpfulness, topic_adherence, coherence_across_turns     level / 3
    agent_goal_accuracy                                                   0 or 1

Range 0 to 1, higher is better. trulens 2.16.0. The conversation is `messages`, or the history with this exchange.
`topic_adherence` needs metadata["reference_topics"], a list; `agent_goal_accuracy` takes metadata["reference_goal"],
and without it the judge infers what the user wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, JudgeFailure
from assay.metrics.systems.base import given
from assay.metrics.systems.conversation import conversation, transcript_section
from assay.metrics.trulens.judged import Judged, Material, entry
from assay.records import Sample


@dataclass(frozen=True, kw_only=True)
class OfConversation(Judged):
    """A rating of the conversation."""

    def material(self, sample: Sample) -> Material:
        return (transcript_section(conversation(sample, self)),)


@dataclass(frozen=True, kw_only=True)
class TopicAdherence(OfConversation):
    """A rating of the conversation by a list of topics."""

    columns: ClassVar[tuple[str, ...]] = ("reference_topics",)

    def material(self, sample: Sample) -> Material:
        topics = given(sample, self, "reference_topics", list)
        if not topics:
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label} needs metadata['reference_topics'], which is empty")
        return (*super().material(sample), ("TOPICS", "\n".join(map(str, topics))))


@dataclass(frozen=True, kw_only=True)
class AgentGoalAccuracy(OfConversation):
    """A rating of the conversation by a goal, where one is given."""

    may_read: ClassVar[tuple[str, ...]] = ("reference_goal",)

    def material(self, sample: Sample) -> Material:
        goal = given(sample, self, "reference_goal", str, "")
        return (*super().material(sample), *((("GOAL", goal),) if goal.strip() else ()))


CONVERSATIONS = (
    OfConversation(
        name="trulens:conversation_helpfulness",
        question="How helpful is the assistant over all turns of the CONVERSATION?",
        lowest="it is of no help, or misleads",
        highest="it is clear and thorough, and meets every need of the user",
    ),
    TopicAdherence(
        name="trulens:topic_adherence",
        question="How closely does the CONVERSATION keep to the TOPICS?",
        lowest="it is wholly off these topics",
        highest="it keeps to them throughout",
    ),
    OfConversation(
        name="trulens:coherence_across_turns",
        question="How coherent is the CONVERSATION over its turns: does it keep what was said before, without "
        "contradictions?",
        lowest="it contradicts itself gravely, or jumps",
        highest="it flows, keeps its context and never contradicts itself",
    ),
)

GOAL = AgentGoalAccuracy(
    name="trulens:agent_goal_accuracy",
    question="Did the assistant reach the user's goal in the CONVERSATION? It is the GOAL where one is given; else "
    "infer it from what the user says.",
    lowest="it did not, or not wholly",
    highest="it did",
    max_score_val=1,
)

ENTRIES = (
    *(
        entry(made, family=family, unit="the conversation", against=against)
        for made, family, against in zip(
            CONVERSATIONS,
            ("criteria", "topic adherence", "criteria"),
            ("itself", "the reference topics", "itself"),
            strict=True,
        )
    ),
    entry(GOAL, family="goal", unit="the conversation", against="the goal"),
)
