"""ragas' topic adherence: does the assistant deal with the topics it is for, and with no others?

Topics that the user raises are listed, and each is said to be answered or refused, and in scope or not:

    precision = answered in scope / answered,  recall = answered in scope / in scope,  f1 = 2pr / (p + r)

Range 0 to 1, higher is better; ragas 0.4.3. The original adds 1e-10 to each denominator, so that nothing divided by
nothing is 0; that is its convention, and skipped without its profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.ragas.conversation import messages_of
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import transcript
from assay.prompts import Classification, Extraction
from assay.records import Sample, Score

Mode = Literal["precision", "recall", "f1"]
TINY = 1e-10

TASK = "List the topics that the user raises in the CONVERSATION, each in a few words."
TREATED = "Does the assistant deal with this topic in the CONVERSATION, or does it decline to?"
TREATMENTS = (("answered", "it answers, or tries to"), ("refused", "it declines to deal with the topic"))
WHERE = "Does this topic fall under one of the TOPICS?"
SCOPES = (("in_scope", "it is one of them, or a part of one"), ("out_of_scope", "it is none of them"))


def value_of(mode: Mode, tp: int, fp: int, fn: int, tiny: float = 0.0) -> float | None:
    """Precision, recall or F1 of these counts, with `tiny` added below; None for nothing divided by nothing."""
    if tiny == 0 and not {"precision": tp + fp, "recall": tp + fn, "f1": tp + fp + fn}[mode]:
        return None
    if tp == 0:
        return 0.0
    precision, recall = tp / (tp + fp + tiny), tp / (tp + fn + tiny)
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall + tiny)}[mode]


def counts(answered: Sequence[bool], inside: Sequence[bool]) -> tuple[int, int, int]:
    """Topics answered in scope, answered out of scope, and refused in scope."""
    pairs = list(zip(answered, inside, strict=True))
    return pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True))


@dataclass(frozen=True)
class TopicAdherence(SystemMetric):
    """Topics in scope that are answered, against those answered, those in scope, or both."""

    name: ClassVar[str] = "ragas:topic_adherence"
    needs: ClassVar = ("messages",)
    asks: ClassVar = (Extraction, Classification)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}
    columns: ClassVar[tuple[str, ...]] = ("reference_topics",)

    mode: Mode = "f1"

    @property
    def label(self) -> str:
        return super().label + ("" if self.mode == "f1" else f"(mode={self.mode})")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        told = (("CONVERSATION", transcript(messages_of(sample, self))),)
        scope = given(sample, self, "reference_topics", list)
        if not scope or not all(isinstance(one, str) for one in scope):
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label}: metadata['reference_topics']: expected texts")
        topics = await judge.find(Extraction("topics", TASK, told, language=sample.spoken))
        if not topics:
            return self.skip(Cause.NO_CLAIMS, "the user raises no topic")
        listed = tuple((f"TOPICS T{number}", one) for number, one in enumerate(scope, 1))
        treated, placed = await ask(
            judge,
            Classification("treatment", TREATED, topics, TREATMENTS, told, language=sample.spoken),
            Classification("scope", WHERE, topics, SCOPES, listed, language=sample.spoken),
        )
        found = counts([one.label == "answered" for one in treated], [one.label == "in_scope" for one in placed])
        evidence = {"topics/conversation": treated, "topics/reference topics": placed}
        value = value_of(self.mode, *found, tiny=TINY if self.original and found[0] else 0.0)
        if value is None:
            message = "no topic counts: none is answered, or none is in scope"
            return self.skip(Cause.NOT_APPLICABLE, message, verdicts=evidence, texts={"topics": topics})
        parts = dict(zip(("answered_in_scope", "answered_out_of_scope", "refused_in_scope"), found, strict=True))
        return self.make_score(value, verdicts=evidence, parts=parts, texts={"topics": topics})


ENTRIES = (
    Entry(
        make=TopicAdherence,
        source="ragas.metrics.collections.TopicAdherence",
        compared="ragas 0.4.3",
        family="topic adherence",
        steps=Steps("topics of the user", "the conversation and the reference topics", "answered in scope", "F1"),
        empty="NaN for no topics; 0 where none counts",
        also=("TopicAdherenceScore",),
    ),
)
