"""Criterion and Checklist: does a text have a named property, or several, yes or no?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.prompts.base import (
    Division,
    JudgePrompt,
    LabelQuestion,
    PromptContent,
    PromptSection,
    Rule,
    whole,
)
from assay.prompts.item_verdicts import ItemVerdicts
from assay.prompts.schemas import TEXT, array, items_by_id, label_of, one_of, probability_of, record, text_of
from assay.records import Verdict

LABELS: dict[str, str] = {"yes": "it does", "no": "it does not"}

TASK = """\
Answer each QUESTION (Q1, Q2, ...), yes or no, about the other texts. For each give its number as "question", a "reason"
of one short sentence and then the "label", "yes" or "no"."""

Material = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Criterion(JudgePrompt[Verdict]):
    """Is the answer to `question`, asked of `material`, yes or no?

    `material` is pairs of title and text ("ANSWER", ...). `vote` numbers independent votes on one question: each vote
    is asked on its own, sampled where the judge can sample.
    """

    name: ClassVar[str] = "criterion"
    judgement: ClassVar[Any] = Verdict
    divisible: ClassVar[bool] = True

    question: str
    material: Material
    vote: int = 0
    language: str = "en"

    def content(self) -> PromptContent:
        return _prompt((self.question,), self.material, self.vote)

    def read(self, reply: Mapping[str, Any]) -> Verdict:
        return _read(reply, 1)[0]

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def verdicts(self, judgement: Verdict) -> tuple[Verdict, ...]:
        return (judgement,)

    def fit(self, chars: int) -> Division[Verdict] | None:
        return whole(self) if _size(self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        return _questions(1)

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> Verdict:
        return _decided(answers["q1"])

    def apply_rule(self, rule: Rule) -> Verdict:
        return Verdict(label="yes" if rule(self.question, self.vote) else "no")


@dataclass(frozen=True)
class Checklist(ItemVerdicts):
    """Is the answer to each of `asking`, asked of `material`, yes or no? Always in one request, in this order.

    For questions that belong together, as those on the key points of one text. Judgement: one verdict per question.
    """

    name: ClassVar[str] = "checklist"
    item_field: ClassVar[str] = "asking"
    rule_name: ClassVar[str] = "criterion"

    asking: tuple[str, ...]
    material: Material
    language: str = "en"

    def content(self) -> PromptContent:
        return _prompt(self.asking, self.material, 0)

    def read(self, reply: Mapping[str, Any]) -> tuple[Verdict, ...]:
        return _read(reply, len(self.asking))

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        return whole(self) if _size(self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        return _questions(len(self.asking))

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        return tuple(_decided(answers[f"q{n}"]) for n in range(1, len(self.asking) + 1))

    def apply_rule(self, rule: Rule) -> tuple[Verdict, ...]:
        return tuple(Verdict(label="yes" if rule(question, 0) else "no") for question in self.asking)


def _prompt(questions: Sequence[str], material: Material, vote: int) -> PromptContent:
    texts = tuple(PromptSection(title, text) for title, text in material)
    # fenced as well: key questions are written by a model that has read the judged text
    asked = tuple(PromptSection(f"QUESTION Q{n}", question) for n, question in enumerate(questions, 1))
    return PromptContent(
        material=texts + asked,
        task=TASK,
        schema=record(answers=array(record(question=TEXT, reason=TEXT, label=one_of(*LABELS)))),
        output_tokens=40 + 60 * len(questions),
        vote=vote,
        shared=len(texts),
    )


def _read(reply: Mapping[str, Any], count: int) -> tuple[Verdict, ...]:
    ids = [f"Q{n}" for n in range(1, count + 1)]
    items = items_by_id(reply.get("answers"), "question", ids, "answer")
    return tuple(
        Verdict(
            label=label_of(items[name], tuple(LABELS)),
            probability=probability_of(items[name], "yes"),
            reason=text_of(items[name], "reason"),
        )
        for name in ids
    )


def _questions(count: int) -> tuple[LabelQuestion, ...]:
    asked = "Is the answer to QUESTION Q{}, asked of the other texts, yes?"
    return tuple(LabelQuestion(f"q{n}", asked.format(n), LABELS) for n in range(1, count + 1))


def _decided(probabilities: Mapping[str, float]) -> Verdict:
    yes = probabilities.get("yes", 0.0)
    return Verdict(label="yes" if yes >= 0.5 else "no", probability=yes)


def _size(material: Material) -> int:
    return sum(len(text) for _, text in material)
