"""Usefulness: which passages help to answer the question, given the answer or the reference where there is one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from assay.errors import InvalidReply
from assay.prompts.base import (
    Division,
    LabelQuestion,
    PromptContent,
    PromptSection,
    Rule,
    whole,
)
from assay.prompts.consistency import PassageLabel, consistent, count_unlocated
from assay.prompts.item_verdicts import ItemVerdicts
from assay.prompts.pieces import Piece, pack
from assay.prompts.schemas import (
    READINGS,
    items_by_id,
    label_of,
    passage_sections,
    pictured,
    probability_of,
    question_section,
    text_of,
)
from assay.prompts.support import misquoted
from assay.records import Verdict
from assay.records.phrases import shortened

LABELS: dict[str, str] = {
    "useful": "the passage contains information that helps to give the answer",
    "not_useful": "it does not",
}

TASK = """\
Decide for each PASSAGE (P1, P2, ...) by itself whether it helps to answer the QUESTION{given}: it is "useful" when it
states something that the answer needs, "not_useful" when it is only about the same topic.
Give one of "items" for each: its "id", as "P1", a "reason" of a few words, the "label", and "quotes": where useful one
entry with the words that decide, copied exactly; else none. "sentences" stays empty."""


@dataclass(frozen=True)
class Usefulness(ItemVerdicts):
    """Which of these passages are useful for the question?

    `given` is the answer that the passages should lead to (the reference, or what the system said); without it the
    question alone decides. `earlier` is the question of the turn before, for what this one leaves out ("Where is it?").
    Judgement: one verdict per passage, in order.
    """

    name: ClassVar[str] = "usefulness"
    item_field: ClassVar[str] = "passages"
    version: ClassVar[str] = "2"

    question: str
    passages: tuple[str, ...]
    given: str | None = None
    language: str = "en"
    earlier: str | None = field(default=None, repr=False)  # in no address but those of the prompts that have it

    rule_default: ClassVar[Any] = False

    def content(self) -> PromptContent:
        texts = passage_sections(self.passages) + question_section(self.question, self.earlier)
        given = (PromptSection("EXPECTED ANSWER", self.given),) if self.given else ()
        return PromptContent(
            material=texts + given,
            task=TASK.format(given=" as the EXPECTED ANSWER does" if given else ""),
            schema=READINGS,
            output_tokens=60 + 80 * len(self.passages),
            shared=len(texts),
            needed=("items",),
            labels=tuple(LABELS),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Verdict, ...]:
        ids = [f"P{n}" for n in range(1, len(self.passages) + 1)]
        items = items_by_id(reply.get("items"), "id", ids, "passage")
        seen = pictured(self.images)
        return tuple(_verdict(n, passage, items[ids[n]], n in seen) for n, passage in enumerate(self.passages))

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def part(self, numbers: Sequence[int]) -> Self:
        left = dict(self.images)
        moved = [(f"PASSAGE P{new}", left.pop(f"PASSAGE P{n + 1}", None)) for new, n in enumerate(numbers, 1)]
        passages = tuple(self.passages[n] for n in numbers)
        return replace(self, passages=passages, images=tuple((title, one) for title, one in moved if one is not None))

    def in_place(self, verdict: Verdict, number: int) -> Verdict:
        return _moved(verdict, number, 0)

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        room = chars - len(self.question) - len(self.given or "") - len(self.earlier or "")
        if sum(map(len, self.passages)) <= room:
            return whole(self)
        if room < 200:
            return None
        if self.images:
            return self.halve()
        groups = pack(self.passages, room, self.language)
        parts = tuple(replace(self, passages=tuple(piece.text for piece in group)) for group in groups)
        return Division(parts, lambda judgements: _join(len(self.passages), groups, judgements))

    def check(self, judgement: tuple[Verdict, ...]) -> str | None:
        return super().check(judgement) or next(
            filter(None, (misquoted(row, self.passages) for row in judgement)), None
        )

    def apply_rule(self, rule: Rule) -> tuple[Verdict, ...]:
        says = [rule(self.question, passage) for passage in self.passages]
        return tuple(Verdict(label="useful" if yes else "not_useful", passage=n) for n, yes in enumerate(says))

    def questions(self) -> tuple[LabelQuestion, ...]:
        given = " as the EXPECTED ANSWER does" if self.given else ""
        return tuple(
            LabelQuestion(f"p{n}", f"Does passage P{n} help to answer the QUESTION{given}?", LABELS)
            for n in range(1, len(self.passages) + 1)
        )

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        verdicts = []
        for n in range(len(self.passages)):
            useful = answers[f"p{n + 1}"].get("useful", 0.0)
            verdicts.append(Verdict(label="useful" if useful >= 0.5 else "not_useful", probability=useful, passage=n))
        return tuple(verdicts)


def _verdict(index: int, passage: str, item: Mapping[str, Any], seen: bool) -> Verdict:
    label = label_of(item, tuple(LABELS))
    quotes = item.get("quotes", [])
    if not isinstance(quotes, list) or not all(isinstance(quote, dict) for quote in quotes):
        raise InvalidReply("Every passage needs a list of quotes, which may be empty.")
    used = quotes if label == "useful" else []
    quoted = [PassageLabel.of(quote, index, passage, label, pictured=seen) for quote in used]
    return Verdict(
        label=consistent(label, f"The passage that begins {shortened(passage, 60)!r}", quoted),
        probability=probability_of(item, "useful"),
        reason=text_of(item, "reason"),
        passage=index,
        evidence=tuple(quote for one in quoted for quote in one.evidence(passage)),
        unlocated=count_unlocated(quoted),
    )


def _moved(verdict: Verdict, passage: int, by: int) -> Verdict:
    """A verdict on a passage, or a piece of one, where that is passage number `passage` and begins at `by`."""
    quotes = tuple(replace(quote, passage=passage, span=quote.span.shift(by)) for quote in verdict.evidence)
    return replace(verdict, passage=passage, evidence=quotes)


def _join(
    count: int, groups: Sequence[Sequence[Piece]], judgements: Sequence[tuple[Verdict, ...]]
) -> tuple[Verdict, ...]:
    """A passage read in pieces is useful when one of them is."""
    best: list[Verdict | None] = [None] * count
    for group, verdicts in zip(groups, judgements, strict=True):
        for piece, verdict in zip(group, verdicts, strict=True):
            moved = _moved(verdict, piece.passage, piece.start)
            known = best[piece.passage]
            if known is None or (known.label != "useful" and moved.label == "useful"):
                best[piece.passage] = moved
    return tuple(verdict for verdict in best if verdict is not None)
