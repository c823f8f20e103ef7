"""TruLens' ratings of a whole conversation.

    conversation_helpfulness, topic_adherence, coherence_across_turns     level / 3
    agent_goal_accuracy                                                   0 or 1

Range 0 to 1, higher is better. trulens 2.16.0. The conversation is `messages`, or the history with this exchange.
`topic_adherence` needs metadata["reference_topics"], a list; `agent_goal_accuracy` takes metadata["reference_goal"],
and without it the judge infers what the user wants.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import Cause, JudgeFailure
from assay.metrics.base import Metric
from assay.metrics.systems.base import given
from assay.metrics.systems.conversation import conversation, transcript_section
from assay.metrics.trulens.judge_rating import JudgeRating, Material, entry
from assay.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The conversation of a sample; with its `topics`, which it needs then, or with the user's `goal`, if known."""

    topics: bool = False
    goal: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return ("reference_topics",) if self.topics else ()

    @property
    def may_read(self) -> tuple[str, ...]:
        return ("reference_goal",) if self.goal else ()

    def material(self, sample: Sample, metric: Metric) -> Material:
        beside = _topics(sample, metric) if self.topics else _goal(sample, metric) if self.goal else ()
        return (transcript_section(conversation(sample, metric)), *beside)


def _topics(sample: Sample, metric: Metric) -> Material:
    topics = given(sample, metric, "reference_topics", list)
    if not topics:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs metadata['reference_topics'], which is empty")
    return (("TOPICS", "\n".join(map(str, topics))),)


def _goal(sample: Sample, metric: Metric) -> Material:
    goal = given(sample, metric, "reference_goal", str, "")
    return (("GOAL", goal),) if goal.strip() else ()


CONVERSATIONS = (
    JudgeRating(
        name="trulens:conversation_helpfulness",
        shows=Conversation(),
        question="How helpful is the assistant over all turns of the CONVERSATION?",
        lowest="it is of no help, or misleads",
        highest="it is clear and thorough, and meets every need of the user",
    ),
    JudgeRating(
        name="trulens:topic_adherence",
        shows=Conversation(topics=True),
        question="How closely does the CONVERSATION keep to the TOPICS?",
        lowest="it is wholly off these topics",
        highest="it keeps to them throughout",
    ),
    JudgeRating(
        name="trulens:coherence_across_turns",
        shows=Conversation(),
        question="How coherent is the CONVERSATION over its turns: does it keep what was said before, without "
        "contradictions?",
        lowest="it contradicts itself gravely, or jumps",
        highest="it flows, keeps its context and never contradicts itself",
    ),
)

GOAL = JudgeRating(
    name="trulens:agent_goal_accuracy",
    shows=Conversation(goal=True),
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
