"""Classification: each of several items gets one label of a closed set, judged by the same texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import InputError
from assay.prompts.base import (
    Division,
    LabelQuestion,
    PromptContent,
    PromptSection,
    Rule,
    whole,
)
from assay.prompts.item_verdicts import ItemVerdicts
from assay.prompts.schemas import TEXT, array, items_by_id, label_of, one_of, probability_of, record, text_of
from assay.records import Verdict

TASK = """\
{question}

Choose exactly one label for each ITEM (I1, I2, ...):
{labels}

For each item give its number as "item", a "reason" of one short sentence and then the "label"."""


@dataclass(frozen=True)
class Classification(ItemVerdicts):
    """What label fits each of `items`, judged by `material`?

    Judgement: one verdict per item, in order.

    Attributes:
        what: What is asked, in a word or two; a script's rule is told it: classification(what, item, texts).
        question: What is asked of each item, in full, naming the texts by their titles.
        choices: Pairs of label and meaning, the affirmative label first; labels in lower case with underscores.
        given: The items.
    """

    name: ClassVar[str] = "classification"
    item_field: ClassVar[str] = "given"

    what: str
    question: str
    given: tuple[str, ...]
    choices: tuple[tuple[str, str], ...]
    material: tuple[tuple[str, str], ...] = ()
    vote: int = 0
    language: str = "en"

    def __post_init__(self) -> None:
        if len(dict(self.choices)) < 2 or len(dict(self.choices)) != len(self.choices):
            raise InputError(f"Classification: choices: expected two or more labels that differ, got {self.choices!r}")

    def content(self) -> PromptContent:
        texts = tuple(PromptSection(title, text) for title, text in self.material)
        items = tuple(PromptSection(f"ITEM I{n}", text) for n, text in enumerate(self.given, 1))
        listed = "\n".join(f"{label}: {meaning}" for label, meaning in self.choices)
        return PromptContent(
            material=texts + items,
            task=TASK.format(question=self.question, labels=listed),
            schema=record(verdicts=array(record(item=TEXT, reason=TEXT, label=one_of(*self.labels())))),
            output_tokens=40 + 60 * len(self.given),
            vote=self.vote,
            shared=len(texts),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Verdict, ...]:
        ids = [f"I{n}" for n in range(1, len(self.given) + 1)]
        found = items_by_id(reply.get("verdicts"), "item", ids, "verdict")
        return tuple(
            Verdict(
                label=label_of(found[name], self.labels()),
                probability=probability_of(found[name], self.labels()[0]),
                reason=text_of(found[name], "reason"),
            )
            for name in ids
        )

    def labels(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.choices)

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        texts = sum(len(text) for _, text in self.material)
        if texts + sum(map(len, self.given)) <= chars:
            return whole(self)
        return self.halve() if texts < chars // 2 else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        asked = f"{self.question} This is asked of ITEM I{{}}."
        return tuple(LabelQuestion(f"i{n}", asked.format(n), dict(self.choices)) for n in range(1, len(self.given) + 1))

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        return tuple(self._decided(answers[f"i{n}"]) for n in range(1, len(self.given) + 1))

    def _decided(self, odds: Mapping[str, float]) -> Verdict:
        label = max(self.labels(), key=lambda one: odds.get(one, 0.0))
        return Verdict(label=label, probability=odds.get(self.labels()[0], 0.0))

    def apply_rule(self, rule: Rule) -> tuple[Verdict, ...]:
        texts = tuple(text for _, text in self.material)
        return tuple(Verdict(label=rule(self.what, item, texts)) for item in self.given)
