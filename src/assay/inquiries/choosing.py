"""Choosing: one of several options, with the probability of each where the judge gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from assay.inquiries.ask import Ask
from assay.inquiries.base import Division, Inquiry, Prompt, Question, Rule, whole
from assay.inquiries.schemas import text_of
from assay.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(Record):
    """The option chosen, and the probability of each under the judge's own where it gives them."""

    option: str
    odds: tuple[tuple[str, float], ...] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Choosing(Inquiry[Chosen]):
    """Which of `options` (pairs of option and what it means) fits `question`, asked of `material`?

    Asked as `Ask` is; what differs is that the finding has the probabilities of all options.
    """

    name: ClassVar[str] = "choosing"
    finding: ClassVar[Any] = Chosen
    scripted_as: ClassVar[str] = "ask"

    question: str
    options: tuple[tuple[str, str], ...]
    material: tuple[tuple[str, str], ...]
    vote: int = 0
    language: str = "en"

    def __post_init__(self) -> None:
        _ = self._ask  # what cannot be asked is refused here

    @cached_property
    def _ask(self) -> Ask:
        return Ask(self.question, self.material, choices=self.options, vote=self.vote, language=self.language)

    def prompt(self) -> Prompt:
        return self._ask.prompt()

    def read(self, reply: Mapping[str, Any]) -> Chosen:
        probs = reply.get("probs")
        odds = self._odds(probs) if probs else None
        return Chosen(option=self._ask.read(reply).label, odds=odds, reason=text_of(reply, "reason"))

    def check(self, finding: Chosen) -> str | None:
        known = [option for option, _ in self.options]
        if finding.option not in known:
            return f"the option {finding.option!r} is none of {', '.join(known)}"
        for option, probability in finding.odds or ():
            if option not in known or not 0.0 <= probability <= 1.0:
                return f"the odds {probability!r} of the option {option!r} are none"
        return None

    def fit(self, chars: int) -> Division[Chosen] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[Question, ...]:
        return (Question("choosing", self.question, dict(self.options)),)

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> Chosen:
        odds = answers["choosing"]
        option = max((option for option, _ in self.options), key=lambda one: odds.get(one, 0.0))
        return Chosen(option=option, odds=self._odds(odds))

    def scripted(self, rule: Rule) -> Chosen:
        return Chosen(option=self._ask.scripted(rule).label)

    def _odds(self, probs: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        return tuple((option, min(1.0, max(0.0, float(probs.get(option, 0.0))))) for option, _ in self.options)
