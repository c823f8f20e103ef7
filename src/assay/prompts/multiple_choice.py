"""Multiple choice: one of several options, with the probability of each where the judge gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, Rule, whole
from assay.prompts.question import Question
from assay.prompts.schemas import text_of
from assay.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceResult(Record):
    """The option chosen, and the probability of each under the judge's own where it gives them."""

    option: str
    odds: tuple[tuple[str, float], ...] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class MultipleChoice(JudgePrompt[ChoiceResult]):
    """Which of `options` (pairs of option and what it means) fits `question`, asked of `material`?

    Asked as `Question` is; what differs is that the judgement has the probabilities of all options. `fenced`: question
    and options come with the row.
    """

    name: ClassVar[str] = "multiple_choice"
    judgement: ClassVar[Any] = ChoiceResult
    rule_name: ClassVar[str] = "question"

    question: str
    options: tuple[tuple[str, str], ...]
    material: tuple[tuple[str, str], ...]
    vote: int = 0
    language: str = "en"
    fenced: bool = field(default=False, kw_only=True, repr=False)  # in the address are the texts that it moves

    def __post_init__(self) -> None:
        _ = self._ask  # what cannot be asked is refused here

    @cached_property
    def _ask(self) -> Question:
        return Question(
            self.question,
            self.material,
            choices=self.options,
            vote=self.vote,
            language=self.language,
            fenced=self.fenced,
        )

    def content(self) -> PromptContent:
        return self._ask.content()

    def read(self, reply: Mapping[str, Any]) -> ChoiceResult:
        probs = reply.get("probs")
        odds = self._odds(self._ask.own_labels(probs)) if probs else None
        return ChoiceResult(option=self._ask.read(reply).label, odds=odds, reason=text_of(reply, "reason"))

    def check(self, judgement: ChoiceResult) -> str | None:
        known = [option for option, _ in self.options]
        if judgement.option not in known:
            return f"the option {judgement.option!r} is none of {', '.join(known)}"
        for option, probability in judgement.odds or ():
            if option not in known or not 0.0 <= probability <= 1.0:
                return f"the odds {probability!r} of the option {option!r} are none"
        return None

    def fit(self, chars: int) -> Division[ChoiceResult] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        return tuple(replace(one, name="multiple_choice") for one in self._ask.questions())

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> ChoiceResult:
        odds = self._ask.own_labels(answers["multiple_choice"])
        option = max((option for option, _ in self.options), key=lambda one: odds.get(one, 0.0))
        return ChoiceResult(option=option, odds=self._odds(odds))

    def apply_rule(self, rule: Rule) -> ChoiceResult:
        return ChoiceResult(option=self._ask.apply_rule(rule).label)

    def _odds(self, probs: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        return tuple((option, min(1.0, max(0.0, float(probs.get(option, 0.0))))) for option, _ in self.options)
