"""Criterion: does a text have a named property, yes or no?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from assay.inquiries.base import (
    TEXT,
    Division,
    Inquiry,
    Prompt,
    Question,
    Section,
    array,
    items_by_id,
    label_of,
    one_of,
    probability_of,
    record,
    text_of,
    whole,
)
from assay.records import Verdict

LABELS: dict[str, str] = {"yes": "it does", "no": "it does not"}

TASK = """\
Answer the yes/no QUESTIONS about the other texts. For each question give a "reason" of one short sentence and then the
"label", "yes" or "no"."""


@dataclass(frozen=True)
class Criterion(Inquiry[Verdict]):
    """Is the answer to `question`, asked of `material`, yes or no?

    `material` is pairs of title and text ("ANSWER", ...). `vote` numbers independent votes on one question: each vote
    is asked on its own, sampled where the judge can sample.
    """

    name: ClassVar[str] = "criterion"
    finding: ClassVar[Any] = Verdict

    question: str
    material: tuple[tuple[str, str], ...]
    vote: int = 0
    language: str = "en"

    def merge_key(self) -> Hashable | None:
        return (self.material, self.vote, self.language)

    @classmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        listed = "\n".join(f"Q{n}: {inquiry.question}" for n, inquiry in enumerate(group, 1))
        answer = record(question=TEXT, reason=TEXT, label=one_of(*LABELS))
        return Prompt(
            # fenced as well: key questions are written by a model that has read the judged text
            material=(*(Section(title, text) for title, text in group[0].material), Section("QUESTIONS", listed)),
            task=TASK,
            schema=record(answers=array(answer)),
            output_tokens=40 + 60 * len(group),
            vote=group[0].vote,
        )

    @classmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[Verdict]:
        ids = [f"Q{n}" for n in range(1, len(group) + 1)]
        items = items_by_id(reply.get("answers"), "question", ids, "answer")
        return [_verdict(items[name]) for name in ids]

    def fit(self, chars: int) -> Division[Verdict] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[Question, ...]:
        return (Question("criterion", self.question, LABELS),)

    def sections(self) -> tuple[Section, ...]:
        return tuple(Section(title, text) for title, text in self.material)

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> Verdict:
        yes = answers["criterion"].get("yes", 0.0)
        return Verdict(label="yes" if yes >= 0.5 else "no", probability=yes)


def _verdict(item: Mapping[str, Any]) -> Verdict:
    return Verdict(
        label=label_of(item, tuple(LABELS)), probability=probability_of(item, "yes"), reason=text_of(item, "reason")
    )
