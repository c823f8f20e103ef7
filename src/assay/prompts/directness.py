"""Directness: does an answer meet the question that was asked, right or wrong?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, PromptSection, Rule, whole
from assay.prompts.consistency import PassageLabel, consistent, count_unlocated
from assay.prompts.schemas import TEXT, label_of, one_of, probability_of, question_section, record, text_of
from assay.prompts.support import misquoted
from assay.records import Span, Verdict
from assay.text import windows

LABELS: dict[str, str] = {
    "direct": "the answer gives what was asked for, whether or not it is true",
    "indirect": "it refuses or evades, is about something else, or only talks around what was asked for",
}

TASK = """\
Decide whether the ANSWER meets the QUESTION.
It is "direct" when it gives what was asked for. Whether that is true, complete or well put does not count here.
It is "indirect" when it refuses or evades, says that it does not know, is about something else, or only talks around
what was asked for.
Give a "reason" of a few words, the "label", and a "quote": the words of the ANSWER that give what was asked for, copied
exactly, or an empty text when it is indirect."""

#: Characters of a half, at least. Halves help against a text that is too long, hardly against a reply that is.
_HALF = 1000


@dataclass(frozen=True)
class Directness(JudgePrompt[Verdict]):
    """Does this answer give what the question asks for?

    Judgement: one verdict, with the quotes of a direct answer located in it (as passage 0). A long answer is read in
    pieces, and is direct when one of them is.
    """

    name: ClassVar[str] = "directness"
    version: ClassVar[str] = "2"
    judgement: ClassVar[Any] = Verdict

    question: str
    answer: str
    language: str = "en"

    def content(self) -> PromptContent:
        return PromptContent(
            material=(*question_section(self.question), PromptSection("ANSWER", self.answer)),
            task=TASK,
            schema=record(reason=TEXT, label=one_of(*LABELS), quote=TEXT),
            output_tokens=160,
        )

    def read(self, reply: Mapping[str, Any]) -> Verdict:
        label = label_of(reply, tuple(LABELS))
        quoted = [PassageLabel.of(reply, 0, self.answer, label)] if label == "direct" else []
        return Verdict(
            label=consistent(label, "The answer", quoted),
            probability=probability_of(reply, "direct"),
            reason=text_of(reply, "reason"),
            evidence=tuple(found for one in quoted for found in one.evidence(self.answer)),
            unlocated=count_unlocated(quoted),
        )

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def verdicts(self, judgement: Verdict) -> tuple[Verdict, ...]:
        return (judgement,)

    def check(self, judgement: Verdict) -> str | None:
        return super().check(judgement) or misquoted(judgement, (self.answer,))

    def apply_rule(self, rule: Rule) -> Verdict:
        return Verdict(label="direct" if rule(self.question, self.answer) else "indirect")

    def fit(self, chars: int) -> Division[Verdict] | None:
        room = chars - len(self.question)
        if len(self.answer) <= room:
            return whole(self)
        return self._divide(room) or whole(self) if room >= 200 else None

    def halve(self) -> Division[Verdict] | None:
        return self._divide(len(self.answer) // 2) if len(self.answer) >= 2 * _HALF else None

    def _divide(self, room: int) -> Division[Verdict] | None:
        """In pieces of at most `room` characters; None where white space at the ends is all that is too much."""
        spans = windows(self.answer, room, self.language)
        if len(spans) < 2:
            return None
        parts = tuple(replace(self, answer=span.of(self.answer)) for span in spans)
        return Division(parts, lambda judgements: _join(spans, judgements))

    def questions(self) -> tuple[LabelQuestion, ...]:
        return (
            LabelQuestion("directness", "Does the ANSWER give what the QUESTION asks for, right or wrong?", LABELS),
        )

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> Verdict:
        direct = answers["directness"].get("direct", 0.0)
        return Verdict(label="direct" if direct >= 0.5 else "indirect", probability=direct)


def _join(spans: Sequence[Span], judgements: Sequence[Verdict]) -> Verdict:
    """The verdict on the piece that meets the question best, with its quotes where they stand in the whole."""
    moved = [
        replace(
            verdict, evidence=tuple(replace(quote, span=quote.span.shift(span.start)) for quote in verdict.evidence)
        )
        for span, verdict in zip(spans, judgements, strict=True)
    ]
    return max(moved, key=lambda verdict: (verdict.label == "direct", verdict.probability or 0.0))
