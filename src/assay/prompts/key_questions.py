"""KeyQuestions: what a good summary of a text must be able to answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.prompts.back_questions import questions_of
from assay.prompts.base import Division, JudgePrompt, PromptContent, PromptSection, Rule, whole
from assay.prompts.schemas import TEXT, array, record
from assay.text import windows

TASK = """\
A summary of the TEXT will be checked for completeness. First list the key phrases of the text: the people,
organisations, places, dates, amounts, events and decisions that a reader of the text should remember. Then write
{count} closed questions about the most important of them, each of which has the answer "yes" according to the text.
Use the language of the text."""


@dataclass(frozen=True)
class KeyQuestions(JudgePrompt[tuple[str, ...]]):
    """Which `count` yes/no questions, all answered "yes" by `text`, cover what matters in it?"""

    name: ClassVar[str] = "key_questions"
    judgement: ClassVar[Any] = tuple[str, ...]

    text: str
    count: int = 5
    language: str = "en"

    def content(self) -> PromptContent:
        return PromptContent(
            material=(PromptSection("TEXT", self.text),),
            task=TASK.format(count=self.count),
            schema=record(keyphrases=array(TEXT), questions=array(TEXT)),
            output_tokens=150 + 40 * self.count,
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(questions_of(reply, self.count)))

    def apply_rule(self, rule: Rule) -> tuple[str, ...]:
        return tuple(rule(self.text))

    def fit(self, chars: int) -> Division[tuple[str, ...]] | None:
        if len(self.text) <= chars:
            return whole(self)
        spans = windows(self.text, max(200, chars), self.language)
        each = -(-self.count // len(spans))  # every part of the text gets its share, rounded up
        parts = tuple(replace(self, text=span.of(self.text), count=each) for span in spans)
        return Division(parts, lambda judgements: tuple(dict.fromkeys(q for part in judgements for q in part)))
