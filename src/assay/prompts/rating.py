"""Rating: which level of a closed scale with anchors does a text reach?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, PromptSection, Rule, whole
from assay.prompts.row_rubric import ASKED, fenced_levels, level_sections
from assay.prompts.schemas import TEXT, label_of, mass_of, one_of, record, text_of
from assay.records import Record

TASK = """\
{question}

Choose exactly one level:
{levels}

Give a "reason" of one or two sentences and then the "label", the number of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingResult(Record):
    """The level chosen, and the mean level under the judge's own probabilities where it gives them.

    `odds` are these probabilities, by level; what they lack to 1 went to replies that are no level.
    """

    level: int
    expected: float | None = None
    reason: str | None = None
    odds: tuple[tuple[int, float], ...] | None = None


@dataclass(frozen=True)
class Rating(JudgePrompt[RatingResult]):
    """Which of `levels` (pairs of number and description, lowest first) fits `question`, asked of `material`?

    `fenced`: question and descriptions come with the row, see `row_rubric`.
    """

    name: ClassVar[str] = "rating"
    judgement: ClassVar[Any] = RatingResult
    version: ClassVar[str] = "2"

    question: str
    levels: tuple[tuple[int, str], ...]
    material: tuple[tuple[str, str], ...]
    vote: int = 0
    language: str = "en"
    fenced: bool = field(default=False, kw_only=True, repr=False)  # in the address are the texts that it moves

    def content(self) -> PromptContent:
        texts = tuple(PromptSection(title, text) for title, text in self.material)
        rubric = level_sections(self.question, self.levels) if self.fenced else ()
        levels = "\n".join(f"{number}: {text}" for number, text in self._levels)
        return PromptContent(
            material=texts + rubric,
            task=TASK.format(question=self._asked, levels=levels),
            schema=record(reason=TEXT, label=one_of(*(str(number) for number, _ in self.levels))),
            output_tokens=120,
            vote=self.vote,
            shared=len(texts),
        )

    @property
    def _asked(self) -> str:
        return ASKED if self.fenced else self.question

    @property
    def _levels(self) -> tuple[tuple[int, str], ...]:
        return fenced_levels(self.levels) if self.fenced else self.levels

    def read(self, reply: Mapping[str, Any]) -> RatingResult:
        item = {**reply, "label": str(reply.get("label", ""))}
        level = int(label_of(item, [str(number) for number, _ in self.levels]))
        reason = text_of(item, "reason")
        probs = reply.get("probs")
        if not probs:
            return RatingResult(level=level, reason=reason)
        return RatingResult(
            level=level, expected=self._expected(probs), reason=reason, odds=self._odds(probs, mass_of(reply))
        )

    def check(self, judgement: RatingResult) -> str | None:
        known = [number for number, _ in self.levels]
        if judgement.level not in known:
            return f"the level {judgement.level!r} is none of {', '.join(map(str, known))}"
        if judgement.expected is not None and not min(known) <= judgement.expected <= max(known):
            return f"the expected level {judgement.expected!r} is not between {min(known)} and {max(known)}"
        for number, probability in judgement.odds or ():
            if number not in known or not 0.0 <= probability <= 1.0:
                return f"the odds {probability!r} of the level {number!r} are none"
        return None

    def apply_rule(self, rule: Rule) -> RatingResult:
        return RatingResult(level=int(rule(self.question)))

    def fit(self, chars: int) -> Division[RatingResult] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        return (
            LabelQuestion("rating", self._asked, {str(number): text for number, text in self._levels}, ordered=True),
        )

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> RatingResult:
        probs = answers["rating"]
        level = max((number for number, _ in self.levels), key=lambda number: probs.get(str(number), 0.0))
        return RatingResult(level=level, expected=self._expected(probs), odds=self._odds(probs))

    def _odds(self, probs: Mapping[str, float], mass: float = 1.0) -> tuple[tuple[int, float], ...]:
        """The probability of each level, where the levels together have `mass`."""
        return tuple((number, mass * probs.get(str(number), 0.0)) for number, _ in self.levels)

    def _expected(self, probs: Mapping[str, float]) -> float | None:
        mass = sum(probs.get(str(number), 0.0) for number, _ in self.levels)
        if mass <= 0:
            return None
        return sum(number * probs.get(str(number), 0.0) for number, _ in self.levels) / mass
