"""DeepEval's shares over the turns of a conversation.

    turn relevancy               relevant answers in their window / exchanges
    conversation completeness    intentions of the user that are met / intentions
    knowledge retention          answers that forget nothing the user told / answers after the user told something
    role adherence               answers in the role / answers
    topic adherence              (answered on the topics + refused off them) / questions of the user

Range 0 to 1, higher is better. DeepEval 4.3.1; with nothing to count it gives 1, topic adherence 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.shares import share
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least, given
from assay.metrics.systems.conversation import conversation, exchanges, transcript, transcript_section, windows
from assay.prompts import Criterion
from assay.prompts.classification import Classification
from assay.prompts.extraction import Extraction
from assay.records import Sample, Score, Verdict

RELEVANT = "Is the last thing that the ASSISTANT says in the CONVERSATION relevant to what the user said before?"
INTENTIONS = "What the USER wants to have or to get done in the CONVERSATION, each intention once."
MET = "Is this intention of the user met by the end of the CONVERSATION?"
TOLD = "The facts about themselves and their matter that the user states in the MESSAGE."
FORGETS = (
    "Does the MESSAGE show that its writer has forgotten something of the KNOWLEDGE, by asking for it again or by "
    "contradicting it?"
)
IN_ROLE = "Does this message, said by the assistant in the CONVERSATION, keep to its ROLE?"
ASKED = "The questions and requests of the USER in the CONVERSATION."
ON_TOPIC = "Is this question, asked in the CONVERSATION, about one of the TOPICS, and did the assistant answer it?"
#: The affirmative label is the first; the labels in RIGHT count.
HANDLED = (
    ("on_topic_answered", "about one of the topics, and answered"),
    ("off_topic_refused", "about none of the topics, and not answered"),
    ("off_topic_answered", "about none of the topics, and answered all the same"),
    ("on_topic_refused", "about one of the topics, and not answered"),
)
RIGHT = ("on_topic_answered", "off_topic_refused")


def share_right(labels: list[str]) -> float:
    """Questions handled as they should be / questions. Expects at least one."""
    return sum(label in RIGHT for label in labels) / len(labels)


@dataclass(frozen=True)
class TurnRelevancy(SystemMetric):
    """Relevant answers / exchanges; each answer is read with the `window_size` exchanges up to it."""

    name: ClassVar[str] = "deepeval:turn_relevancy"
    asks: ClassVar = (Criterion,)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}

    window_size: int = 10

    def __post_init__(self) -> None:
        at_least(self, "window_size")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = exchanges(conversation(sample, self))
        if not found:
            return self.skip(Cause.NOT_APPLICABLE, "no exchange that ends with the assistant")
        materials = [(transcript_section(chain(*window), tools=False),) for window in windows(found, self.window_size)]
        verdicts = await ask(judge, *(Criterion(RELEVANT, material, 0, sample.spoken) for material in materials))
        return self.make_score(share(verdicts, "yes"), verdicts={"answers/windows": verdicts})


@dataclass(frozen=True)
class ConversationCompleteness(SystemMetric):
    """Intentions met / intentions."""

    name: ClassVar[str] = "deepeval:conversation_completeness"
    asks: ClassVar = (Extraction, Classification)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = (transcript_section(conversation(sample, self), tools=False),)
        wanted = await judge.find(Extraction("intentions", INTENTIONS, material, 0, sample.spoken))
        if not wanted:
            return self.skip(Cause.NOT_APPLICABLE, "the user wants nothing")
        choices = (("met", "it is met"), ("not_met", "it is not met, or in part only"))
        verdicts = await judge.find(Classification("intentions", MET, wanted, choices, material, 0, sample.spoken))
        texts = {"intentions": wanted}
        return self.make_score(share(verdicts, "met"), verdicts={"intentions/conversation": verdicts}, texts=texts)


@dataclass(frozen=True)
class KnowledgeRetention(SystemMetric):
    """Answers that forget nothing / answers of the assistant after the user told something of themselves."""

    name: ClassVar[str] = "deepeval:knowledge_retention"
    asks: ClassVar = (Extraction, Criterion)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        spoken = [message for message in conversation(sample, self) if message.role in ("user", "assistant")]
        asked = [
            Extraction("facts", TOLD, (transcript_section(spoken[:n]), ("MESSAGE", message.content)), 0, sample.spoken)
            for n, message in enumerate(spoken)
            if message.role == "user"
        ]
        told = iter(await ask(judge, *asked))
        known: list[str] = []
        checks: list[Criterion] = []
        for message in spoken:
            if message.role == "user":
                known += next(told)
            elif known:
                material = (("KNOWLEDGE", "\n".join(known)), ("MESSAGE", message.content))
                checks.append(Criterion(FORGETS, material, 0, sample.spoken))
        if not checks:
            return self.skip(Cause.NOT_APPLICABLE, "the user tells nothing that could be forgotten")
        verdicts = await ask(judge, *checks)
        texts = {"knowledge": tuple(known)}
        return self.make_score(share(verdicts, "no"), verdicts={"answers/knowledge": verdicts}, texts=texts)


@dataclass(frozen=True)
class RoleAdherence(SystemMetric):
    """Answers in the role of metadata["chatbot_role"] / answers of the assistant."""

    name: ClassVar[str] = "deepeval:role_adherence"
    asks: ClassVar = (Classification,)
    columns: ClassVar[tuple[str, ...]] = ("chatbot_role",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        messages = conversation(sample, self)
        answers = tuple(message.content for message in messages if message.role == "assistant")
        material = (("ROLE", given(sample, self, "chatbot_role", str)), transcript_section(messages, tools=False))
        choices = (("in_role", "it does"), ("out_of_role", "it falls out of the role"))
        verdicts = await judge.find(Classification("role", IN_ROLE, answers, choices, material, 0, sample.spoken))
        return self.make_score(
            share(verdicts, "in_role"), verdicts={"answers/role": verdicts}, texts={"answers": answers}
        )


@dataclass(frozen=True)
class TopicAdherence(SystemMetric):
    """Questions rightly answered or refused / questions; metadata["relevant_topics"] lists the topics."""

    name: ClassVar[str] = "deepeval:topic_adherence"
    asks: ClassVar = (Extraction, Classification)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}
    columns: ClassVar[tuple[str, ...]] = ("relevant_topics",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        topics = ("TOPICS", "\n".join(map(str, given(sample, self, "relevant_topics", list))))
        shown = [(("CONVERSATION", transcript(one, tools=False)),) for one in exchanges(conversation(sample, self))]
        asked = await ask(judge, *(Extraction("questions", ASKED, material, 0, sample.spoken) for material in shown))
        sortings = [
            Classification("topics", ON_TOPIC, questions, HANDLED, (topics, *material), 0, sample.spoken)
            for questions, material in zip(asked, shown, strict=True)
            if questions
        ]
        if not sortings:
            return self.skip(Cause.NOT_APPLICABLE, "the user asks nothing")
        verdicts: tuple[Verdict, ...] = tuple(chain(*await ask(judge, *sortings)))
        parts = {label: float(sum(one.label == label for one in verdicts)) for label, _ in HANDLED}
        texts = {"questions": tuple(chain(*asked))}
        value = share_right([verdict.label for verdict in verdicts])
        return self.make_score(value, verdicts={"questions/topics": verdicts}, parts=parts, texts=texts)


def _entry(make: type[SystemMetric], called: str, family: str, steps: Steps, empty: str) -> Entry:
    source = f"deepeval.metrics.{called}Metric"
    return Entry(make=make, source=source, compared="deepeval 4.3.1", family=family, steps=steps, empty=empty)


ENTRIES = (
    _entry(
        TurnRelevancy, "TurnRelevancy", "answer relevancy",
        Steps("answers of the conversation", "the turns before", "relevant", "share"), "1 without exchanges",
    ),
    _entry(
        ConversationCompleteness, "ConversationCompleteness", "goal",
        Steps("intentions of the user", "the conversation", "met", "share"), "1 without intentions",
    ),
    _entry(
        KnowledgeRetention, "KnowledgeRetention", "knowledge retention",
        Steps("answers of the conversation", "what the user told", "not forgotten", "share"), "1 where none was told",
    ),
    _entry(
        RoleAdherence, "RoleAdherence", "role adherence",
        Steps("answers of the conversation", "the role", "in the role", "share"), "1 without answers",
    ),
    _entry(
        TopicAdherence, "TopicAdherence", "topic adherence",
        Steps("questions of the user", "the topics", "answered on topic or refused off it", "share"), "0",
    ),
)  # fmt: skip
