"""Extraction: a list written by the judge of what some texts hold: statements, opinions, topics, intentions, steps.

For claims there is `Claims`, whose items lie in the text; here they are in the judge's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import InvalidReply
from assay.prompts.base import Division, JudgePrompt, PromptContent, PromptSection, Rule, whole
from assay.prompts.schemas import TEXT, array, record

MOST = 200  # items of a reply, beyond which a judge is running away

TASK = """\
{task}

Give the list as "items", one short text each, in the order of the texts, each once; an empty list where there are
none. Use the language of the texts."""


@dataclass(frozen=True)
class Extraction(JudgePrompt[tuple[str, ...]]):
    """Which `what` do these texts hold?

    Attributes:
        what: What the items are, in a word or two; a script's rule is told it: extraction(what, texts).
        task: What to list, in full, naming the texts by their titles.
        material: Pairs of title and text.
        vote: Numbers independent answers.
    """

    name: ClassVar[str] = "extraction"
    judgement: ClassVar[Any] = tuple[str, ...]

    what: str
    task: str
    material: tuple[tuple[str, str], ...]
    vote: int = 0
    language: str = "en"

    def content(self) -> PromptContent:
        texts = tuple(PromptSection(title, text) for title, text in self.material)
        return PromptContent(
            material=texts,
            task=TASK.format(task=self.task),
            schema=record(items=array(TEXT)),
            output_tokens=80 + sum(len(text) for _, text in self.material) // 3,
            vote=self.vote,
            shared=len(texts),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[str, ...]:
        items = reply.get("items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise InvalidReply("The field 'items' must be a list of texts, which may be empty.")
        if len(items) > MOST:
            raise InvalidReply(f"At most {MOST} items, please; {len(items)} were given.")
        return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))

    def fit(self, chars: int) -> Division[tuple[str, ...]] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def apply_rule(self, rule: Rule) -> tuple[str, ...]:
        return tuple(rule(self.what, tuple(text for _, text in self.material)))
