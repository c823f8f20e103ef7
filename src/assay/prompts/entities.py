"""Entities: the named things of a text, as they stand there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import InvalidReply
from assay.prompts.base import Division, JudgePrompt, PromptContent, Rule, whole
from assay.prompts.pieces import pack
from assay.prompts.schemas import TEXT, array, passage_sections, record
from assay.records import Evidence
from assay.text import locate

TASK = """\
List the named entities of the PASSAGES: persons, organisations, places, works, products, events, dates, years and
amounts. Copy each exactly as it stands in the text and list each once."""


@dataclass(frozen=True)
class Entities(JudgePrompt[tuple[Evidence, ...]]):
    """Which entities do these passages name?

    Judgement: each distinct entity where it first stands, in order. What the judge lists but the passages do not
    contain is left out.
    """

    name: ClassVar[str] = "entities"
    judgement: ClassVar[Any] = tuple[Evidence, ...]

    passages: tuple[str, ...]
    language: str = "en"

    def content(self) -> PromptContent:
        texts = passage_sections(self.passages)
        return PromptContent(
            material=texts,
            task=TASK,
            schema=record(entities=array(TEXT)),
            output_tokens=100 + sum(map(len, self.passages)) // 8,
            shared=len(texts),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Evidence, ...]:
        names = reply.get("entities")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidReply("The field 'entities' must be a list of texts.")
        found = [_first(name, self.passages) for name in dict.fromkeys(names)]
        return _distinct([entity for entity in found if entity is not None])

    def check(self, judgement: tuple[Evidence, ...]) -> str | None:
        for entity in judgement:
            inside = 0 <= entity.passage < len(self.passages)
            if not inside or entity.span.of(self.passages[entity.passage]) != entity.text:
                return f"the entity {entity.text[:60]!r} does not stand in passage {entity.passage + 1}"
        return None

    def apply_rule(self, rule: Rule) -> tuple[Evidence, ...]:
        listed = [
            Evidence(passage=index, span=span, text=span.of(passage))
            for index, passage in enumerate(self.passages)
            for name in rule(passage)
            if (span := locate(name, passage)) is not None
        ]
        return tuple(listed)

    def fit(self, chars: int) -> Division[tuple[Evidence, ...]] | None:
        if sum(map(len, self.passages)) <= chars:
            return whole(self)
        return self._divide(max(200, chars))

    def halve(self) -> Division[tuple[Evidence, ...]] | None:
        size = max(map(len, self.passages), default=0) if len(self.passages) < 2 else sum(map(len, self.passages))
        return self._divide(size // 2) if size >= 400 else None

    def _divide(self, room: int) -> Division[tuple[Evidence, ...]]:
        groups = pack(self.passages, room, self.language)

        def join(judgements: Sequence[tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
            moved = []
            for group, entities in zip(groups, judgements, strict=True):
                for entity in entities:
                    piece = group[entity.passage]
                    moved.append(replace(entity, passage=piece.passage, span=entity.span.shift(piece.start)))
            return _distinct(moved)

        return Division(tuple(replace(self, passages=tuple(p.text for p in group)) for group in groups), join)


def same_entity(text: str) -> str:
    """The form under which two mentions count as one entity: case, spacing and a leading "the" do not matter."""
    return " ".join(text.casefold().split()).removeprefix("the ")


def _first(name: str, passages: Sequence[str]) -> Evidence | None:
    for index, passage in enumerate(passages):
        span = locate(name, passage)
        if span is not None:
            return Evidence(passage=index, span=span, text=span.of(passage))
    return None


def _distinct(entities: Sequence[Evidence]) -> tuple[Evidence, ...]:
    first: dict[str, Evidence] = {}
    for entity in sorted(entities, key=lambda e: (e.passage, e.span.start)):
        first.setdefault(same_entity(entity.text), entity)
    return tuple(first.values())
